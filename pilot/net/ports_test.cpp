#include "pilot/net/ports.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

namespace pilot::net {
namespace {

// Listens on one port of 127.0.0.1 as long as it lives.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
    EXPECT_EQ(::listen(fd_, 1), 0);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&where), &size), 0);
    port = ntohs(where.sin_port);
  }
  ~Listener() { ::close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  std::uint16_t port = 0;

 private:
  int fd_;
};

TEST(Ports, AreDistinctAndInTheRange) {
  const auto ports = find_free_ports("127.0.0.1", 21000, 21999, 8, "abc").value();
  EXPECT_EQ(std::set(ports.begin(), ports.end()).size(), 8u);
  for (auto port : ports) EXPECT_TRUE(port >= 21000 && port <= 21999) << port;
}

TEST(Ports, DifferentSeedsBeginAtDifferentPlaces) {
  EXPECT_NE(find_free_ports("127.0.0.1", 20000, 29999, 4, "one pilot").value(),
            find_free_ports("127.0.0.1", 20000, 29999, 4, "another pilot").value());
}

TEST(Ports, ATakenPortIsPassedOver) {
  const Listener listener;
  auto ports = find_free_ports("127.0.0.1", listener.port, listener.port, 1, "x");
  ASSERT_FALSE(ports.has_value());
  EXPECT_EQ(ports.error().message, "only 0 of 1 ports are free in " + std::to_string(listener.port) + "-" +
                                       std::to_string(listener.port) + " on 127.0.0.1");
  EXPECT_NE(ports.error().hint.find("network.ports"), std::string::npos);
}

TEST(Ports, ThePortOfAnotherAddressIsFree) {
  const Listener listener;
  EXPECT_TRUE(find_free_ports("127.0.0.9", listener.port, listener.port, 1, "x").has_value());
}

TEST(Ports, NonsenseIsRefused) {
  EXPECT_FALSE(find_free_ports("not an address", 1000, 2000, 1, "x").has_value());
  EXPECT_FALSE(find_free_ports("127.0.0.1", 2000, 1000, 1, "x").has_value());
}

}  // namespace
}  // namespace pilot::net
