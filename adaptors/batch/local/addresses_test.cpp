#include "adaptors/batch/local/addresses.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

#include "pilot/base/random.hpp"

namespace pilot::adaptors::local {
namespace {

Subnet subnet(std::string_view cidr) {
  return Subnet::parse(cidr).value();
}

TEST(Subnet, MustBeLoopback) {
  for (const char* bad : {"10.0.0.0/8", "127.0.0.0/7", "127.0.0.0", "127.0.0/16", "0.0.0.0/0", "x"}) {
    const auto parsed = Subnet::parse(bad);
    ASSERT_FALSE(parsed.has_value()) << bad;
    EXPECT_EQ(parsed.error().code, ErrorCode::usage);
    EXPECT_NE(parsed.error().text().find(bad), std::string::npos);
  }
}

TEST(Subnet, CandidatesAreAllUsableAddressesOnce) {
  const auto all = subnet("127.77.3.0/24").candidates("a");
  EXPECT_EQ(all.size(), 254u);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 254u);
  EXPECT_EQ(subnet("127.0.0.0/24").candidates("a").size(), 253u);  // without 127.0.0.1
  EXPECT_EQ(subnet("127.5.6.7/32").candidates("a"), std::vector<std::string>{"127.5.6.7"});
}

TEST(Subnet, PilotsBeginAtDifferentPlaces) {
  std::set<std::string> first;
  for (int i = 0; i < 50; ++i) first.insert(subnet("127.77.0.0/16").candidates(random_hex(16)).front());
  EXPECT_GT(first.size(), 45u);
  EXPECT_EQ(subnet("127.77.0.0/16").candidates("x").front(), subnet("127.77.0.0/16").candidates("x").front());
}

TEST(Reservation, IsExclusiveUntilItGoes) {
  const auto free = subnet("127.93.0.0/16");
  auto first = reserve_addresses(free, random_hex(8), 3);
  ASSERT_TRUE(first.has_value()) << first.error().text();
  ASSERT_EQ(first.value().size(), 3u);
  const std::string address = first.value()[1].address();
  auto again = Reservation::take(address);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::unavailable);
  first.value().clear();
  EXPECT_TRUE(Reservation::take(address).has_value());
}

TEST(Reservation, AnAddressOnWhichSomethingListensIsRefused) {
  const std::string address = subnet("127.94.0.0/16").candidates(random_hex(8)).front();
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  inet_pton(AF_INET, address.c_str(), &where.sin_addr);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&where), sizeof where), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  const auto refused = Reservation::take(address);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("something listens on " + address), std::string::npos);
  EXPECT_TRUE(Reservation::take_again(address).has_value());
  close(fd);
}

TEST(Reservation, SaysHowManyAreFree) {
  auto one = reserve_addresses(subnet("127.95.1.2/32"), "x", 1);
  ASSERT_TRUE(one.has_value());
  const auto two = reserve_addresses(subnet("127.95.1.2/32"), "x", 1);
  ASSERT_FALSE(two.has_value());
  EXPECT_EQ(two.error().text(),
            "only 0 of 1 node addresses are free: cannot reserve 127.95.1.2:47077: Address already in use; "
            "network.subnet gives another range");
}

TEST(ListeningAddresses, ReadsTheKernelsTable) {
  const auto addresses = listening_addresses(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1\n"
      "   1: 05034D7F:4E20 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2\n"
      "   2: 06034D7F:4E20 05034D7F:4E21 01 00000000:00000000 00:00000000 00000000     0        0 3\n"
      "rubbish\n");
  EXPECT_EQ(addresses, (std::vector<std::string>{"127.0.0.1", "127.77.3.5"}));
}

}  // namespace
}  // namespace pilot::adaptors::local
