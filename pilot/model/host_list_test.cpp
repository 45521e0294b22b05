#include "pilot/model/host_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace pilot::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> expanded(std::string_view list) {
  auto hosts = expand_hosts(list);
  EXPECT_TRUE(hosts.has_value()) << list << ": " << (hosts.has_value() ? "" : hosts.error().text());
  return hosts.has_value() ? hosts.value() : std::vector<std::string>{};
}

std::string refusal(std::string_view list) {
  const auto hosts = expand_hosts(list);
  EXPECT_FALSE(hosts.has_value()) << list;
  return hosts.has_value() ? "" : hosts.error().message;
}

TEST(HostListTest, Expands) {
  EXPECT_THAT(expanded(""), IsEmpty());
  EXPECT_THAT(expanded("login1"), ElementsAre("login1"));
  EXPECT_THAT(expanded("n[001-003,7],gpu-a[1-2]-ib0"),
              ElementsAre("n001", "n002", "n003", "n7", "gpu-a1-ib0", "gpu-a2-ib0"));
  EXPECT_THAT(expanded("n[9-11],m[09-11]"), ElementsAre("n9", "n10", "n11", "m09", "m10", "m11"));
  EXPECT_THAT(expanded("r[1-2]n[1-2]"), ElementsAre("r1n1", "r1n2", "r2n1", "r2n2"));
  EXPECT_THAT(expanded("[1-2]"), ElementsAre("1", "2"));
  EXPECT_THAT(expanded("n[000000000000000000000000007]"), ElementsAre("n000000000000000000000000007"));
}

TEST(HostListTest, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal("n[1-2"), "'n[1-2' is no list of hosts: ']' is missing at character 6");
  EXPECT_THAT(refusal("n[]"), HasSubstr("a number is missing at character 3"));
  EXPECT_THAT(refusal("n[1-]"), HasSubstr("a number is missing at character 5"));
  EXPECT_THAT(refusal("n[2-1]"), HasSubstr("counts down"));
  EXPECT_THAT(refusal("a,,b"), HasSubstr("a name is missing at character 3"));
  EXPECT_THAT(refusal("a,"), HasSubstr("a name is missing"));
  EXPECT_THAT(refusal(","), HasSubstr("a name is missing"));
  EXPECT_THAT(refusal("a b"), HasSubstr("a character that no name has at character 2"));
  EXPECT_THAT(refusal("n]"), HasSubstr("a character that no name has"));
  EXPECT_THAT(refusal("n[1-1000000000000000000]"), HasSubstr("too long"));
}

// Brackets multiply: neither memory nor time may follow.
TEST(HostListTest, RefusesMoreNamesThanAnyMachineHas) {
  EXPECT_EQ(expanded("n[1-100000]").size(), 100'000u);
  for (const char* list : {"n[1-100001]", "n[0-99999],m", "a[1-400]b[1-400]",
                           "a[1-9]b[1-9]c[1-9]d[1-9]e[1-9]f[1-9]", "n[1-999999999999999999]"})
    EXPECT_THAT(refusal(list), HasSubstr("more than 100000 names")) << list;
}

TEST(HostListTest, Compresses) {
  EXPECT_EQ(compress_hosts({}), "");
  EXPECT_EQ(compress_hosts({"head"}), "head");
  EXPECT_EQ(compress_hosts({"n001", "n002", "n003", "n7", "gpu-a1-ib0", "gpu-a2-ib0"}),
            "n[001-003,7],gpu-a[1-2]-ib0");
  EXPECT_EQ(compress_hosts({"n9", "n10", "n11"}), "n[9-11]");
  EXPECT_EQ(compress_hosts({"n09", "n10", "n11"}), "n[09-11]");
  EXPECT_EQ(compress_hosts({"n1", "n1"}), "n1,n1");
  EXPECT_EQ(compress_hosts({"n2", "n1"}), "n[2,1]");
  EXPECT_EQ(compress_hosts({"r1n1", "r1n2", "r2n1", "r2n2"}), "r1n[1-2],r2n[1-2]");
}

// Whatever names come in whatever order: they come back the same.
TEST(HostListTest, RoundTrip) {
  std::mt19937 random(20261129);
  const auto below = [&random](unsigned limit) { return random() % limit; };
  const std::vector<std::string> words{"n", "gpu-a", "-ib", "0", "00", "", ".x_y", "9"};
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string> hosts(below(12));
    for (std::string& host : hosts) {
      host = words[below(8)];
      for (unsigned more = below(3); more > 0; --more) {
        std::string number = std::to_string(below(120));
        if (below(3) == 0) number.insert(0, below(3), '0');
        host += number;
        host += words[below(8)];
      }
      if (host.empty()) host = "n";
    }
    const std::string list = compress_hosts(hosts);
    ASSERT_EQ(expanded(list), hosts) << list;
  }
}

}  // namespace
}  // namespace pilot::model
