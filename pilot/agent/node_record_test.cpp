#include "pilot/agent/node_record.hpp"

#include <gtest/gtest.h>

namespace pilot::agent {
namespace {

using namespace std::chrono_literals;

NodeRecord example() {
  ServiceRecord service;
  service.spec.id = "fake/worker-1";
  service.spec.command.argv = {"sh", "-c", "exit \"3\""};
  service.spec.files = {{"/a/b", "x=${secret:y}\n", 0640}};
  service.spec.ready.probe = model::TcpProbe{"127.0.0.1", 9092};
  service.phase = model::ServicePhase::waiting;
  service.process = {4711, 123456789, "boot"};
  service.starts = 3;
  service.restarts = {WallTime{1700000000123456789ns}};
  service.reason = "killed by signal 9";
  service.log_tail = "last\nwords";
  NodeRecord record;
  record.pilot_id = "abc";
  record.free_ports = {20001, 20002};
  record.last_report = 17;
  record.joined_ns = 123456789012345;
  record.boot_id = "boot";
  record.unacknowledged = {{"node-1", 17, service.report()}};
  record.services = {service};
  record.head = service;
  return record;
}

TEST(NodeRecord, comes_back_as_it_was_written) {
  const auto back = decode_node_record(encode(example()));
  ASSERT_TRUE(back.has_value()) << back.error().text();
  EXPECT_EQ(back.value(), example());
  NodeRecord plain;
  EXPECT_EQ(decode_node_record(encode(plain)).value(), plain);
}

TEST(NodeRecord, every_phase_is_kept) {
  using enum model::ServicePhase;
  for (const auto phase : {planned, preparing, starting, ready, waiting, stopping, stopped, failed}) {
    NodeRecord record = example();
    record.services[0].phase = phase;
    EXPECT_EQ(decode_node_record(encode(record)).value(), record) << to_string(phase);
  }
}

TEST(NodeRecord, output_of_tools_that_is_not_utf8_does_no_harm) {
  NodeRecord record = example();
  record.services[0].log_tail = "caf\xe9";
  EXPECT_TRUE(decode_node_record(encode(record)).has_value());
}

TEST(NodeRecord, anything_damaged_is_an_error) {
  const std::string good = encode(example());
  for (std::size_t length = 0; length < good.size(); length += 7)
    EXPECT_TRUE(decode_node_record(good.substr(0, length)).has_error()) << length;
  for (const char* text : {"null", "[]", "{}", "{\"pilot_id\":3}"})
    EXPECT_TRUE(decode_node_record(text).has_error());
  std::string odd = good;
  odd.replace(odd.find("waiting"), 7, "wailing");
  EXPECT_TRUE(decode_node_record(odd).has_error());
}

}  // namespace
}  // namespace pilot::agent
