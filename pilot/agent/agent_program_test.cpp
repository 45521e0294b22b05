#include "pilot/agent/agent_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pilot::agent {
namespace {

using testing::HasSubstr;

const std::vector<std::string> node_arguments{
    "node", "--pilot-dir", "/p",         "--allocation", "a0",        "--rank",
    "0",    "--node",      "node-1",     "--address",    "127.0.0.1", "--cores",
    "4",    "--memory",    "8589934592", "--scratch",    "/s"};

TEST(AgentProgram, reads_the_flags_of_a_node) {
  auto arguments = node_arguments;
  arguments.insert(arguments.end(), {"--reservation-fd", "5"});
  const auto parsed = parse_agent_arguments(arguments);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().text();
  const auto& node = std::get<NodeOptions>(parsed.value());
  EXPECT_EQ(node.pilot_dir, "/p");
  EXPECT_EQ(node.node, "node-1");
  EXPECT_EQ(node.cores, 4);
  EXPECT_EQ(node.memory.count, 8589934592U);
  EXPECT_EQ(node.scratch, "/s");
  EXPECT_TRUE(node.keep_head);
}

TEST(AgentProgram, only_rank_0_of_the_base_keeps_the_head) {
  auto arguments = node_arguments;
  arguments[6] = "1";
  EXPECT_FALSE(std::get<NodeOptions>(parse_agent_arguments(arguments).value()).keep_head);
  arguments = node_arguments;
  arguments[4] = "a1";
  EXPECT_FALSE(std::get<NodeOptions>(parse_agent_arguments(arguments).value()).keep_head);
}

TEST(AgentProgram, reads_the_flags_of_a_head) {
  const auto parsed =
      parse_agent_arguments({"head", "--pilot-dir", "/p", "--address", "127.0.0.1", "--port", "20001"});
  ASSERT_TRUE(parsed.has_value()) << parsed.error().text();
  const auto& head = std::get<HeadOptions>(parsed.value());
  EXPECT_EQ(head.port, 20001);
  EXPECT_EQ(head.address, "127.0.0.1");
  EXPECT_EQ(std::get<HeadOptions>(parse_agent_arguments({"head", "--pilot-dir", "/p"}).value()).port, 0);
}

std::string complaint(const std::vector<std::string>& arguments) {
  const auto parsed = parse_agent_arguments(arguments);
  EXPECT_TRUE(parsed.has_error());
  return parsed.has_error() ? parsed.error().text() : std::string();
}

TEST(AgentProgram, says_what_is_wrong) {
  EXPECT_THAT(complaint({}), HasSubstr("neither 'head' nor 'node'"));
  EXPECT_THAT(complaint({"had"}), HasSubstr("'had' is neither"));
  EXPECT_THAT(complaint({"head"}), HasSubstr("'--pilot-dir' is missing"));
  EXPECT_THAT(complaint({"head", "--pilot-dri", "/p"}), HasSubstr("did you mean 'pilot-dir'"));
  EXPECT_THAT(complaint({"head", "--pilot-dir"}), HasSubstr("needs a value"));
  EXPECT_THAT(complaint({"head", "--pilot-dir", "/p", "--port", "70000"}),
              HasSubstr("'--port 70000' is not a number"));
  auto arguments = node_arguments;
  arguments[12] = "-1";
  EXPECT_THAT(complaint(arguments), HasSubstr("'--cores -1' is not a number"));
  arguments[12] = "4x";
  EXPECT_THAT(complaint(arguments), HasSubstr("'--cores 4x' is not a number"));
}

TEST(AgentProgram, ARackIsTheWayToANode) {
  EXPECT_EQ(rack_of(""), "");
  EXPECT_EQ(rack_of("node01"), "");
  EXPECT_EQ(rack_of("leaf2.node01"), "leaf2");
  EXPECT_EQ(rack_of("top.leaf2.node01"), "top.leaf2");
}

}  // namespace
}  // namespace pilot::agent
