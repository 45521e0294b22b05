#include "adaptors/batch/local/local_adaptor.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <set>
#include <thread>

#include "adaptors/batch/local/allocation_record.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/base/test_support.hpp"
#include "pilot/proc/identity.hpp"

namespace pilot::adaptors::local {
namespace {

using pilot::test::eventually;

// An agent that says how it was called and then waits.
class LocalAdaptorTest : public testing::Test {
 protected:
  LocalAdaptorTest() {
    EXPECT_TRUE(make_directory(folder).has_value());
    EXPECT_TRUE(write_file(folder / "agent", "#!/bin/sh\necho \"$@\"\nexec sleep 600\n", 0700).has_value());
  }
  ~LocalAdaptorTest() override {
    for (const auto& request : requests) EXPECT_TRUE(adaptor.cancel(request, "").has_value());
    EXPECT_TRUE(remove_tree(folder).has_value());
  }

  plugin::AllocationRequest request(int nodes) {
    plugin::AllocationRequest made;
    made.pilot_id = random_hex(16);
    made.allocation = "a0";
    made.nodes = nodes;
    made.spec.nodes = nodes;
    made.spec.network.subnet = "127.91.0.0/16";
    made.spec.scratch = (folder / "scratch").string();
    made.pilot_dir = folder / ("pilot-" + std::to_string(requests.size()));
    made.agent_program = folder / "agent";
    EXPECT_TRUE(make_directory(made.pilot_dir).has_value());
    requests.push_back(made);
    return made;
  }

  static AllocationRecord record(const plugin::AllocationRequest& request) {
    return read_record(record_path(request.pilot_dir, "a0")).value();
  }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("pilot-local-" + random_hex(6));
  std::vector<plugin::AllocationRequest> requests;
  LocalAdaptor adaptor;
};

TEST_F(LocalAdaptorTest, StartsAnAgentPerNodeAndEndsThem) {
  const auto three = request(3);
  const auto job = adaptor.submit(three);
  ASSERT_TRUE(job.has_value()) << job.error().text();
  const AllocationRecord started = record(three);
  ASSERT_EQ(started.nodes.size(), 3u);
  std::set<std::string> addresses;
  for (const NodeRecord& node : started.nodes) {
    EXPECT_TRUE(proc::is_alive(node.agent));
    addresses.insert(node.address);
    struct stat info {};
    ASSERT_EQ(stat(node.scratch.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    const auto log = three.pilot_dir / "logs" / ("node-" + std::to_string(node.rank + 1) + ".log");
    const std::string expected = "node --pilot-dir " + three.pilot_dir.string() + " --allocation a0 --rank " +
                                 std::to_string(node.rank) + " --node node-" + std::to_string(node.rank + 1) +
                                 " --address " + node.address + " --cores ";
    EXPECT_TRUE(eventually([&] { return tail_of_file(log, 1).starts_with(expected); }))
        << tail_of_file(log, 1);
    EXPECT_NE(tail_of_file(log, 1).find("--reservation-fd"), std::string::npos);
  }
  EXPECT_EQ(addresses.size(), 3u);

  auto polled = adaptor.poll(three, {job.value(), "another"}).value();
  EXPECT_EQ(polled[0].phase, model::AllocationPhase::running);
  EXPECT_EQ(polled[1].phase, model::AllocationPhase::unknown);

  ASSERT_TRUE(adaptor.cancel(three, job.value()).has_value());
  for (const NodeRecord& node : started.nodes) EXPECT_FALSE(proc::is_alive(node.agent));
  EXPECT_FALSE(std::filesystem::exists(started.scratch));
  polled = adaptor.poll(three, {job.value()}).value();
  EXPECT_EQ(polled[0].phase, model::AllocationPhase::ended);
  EXPECT_TRUE(adaptor.cancel(three, job.value()).has_value()) << "it can be repeated";
}

TEST_F(LocalAdaptorTest, TwoPilotsNeverShareAnAddress) {
  auto first = request(3);
  auto second = request(3);
  second.pilot_id = first.pilot_id.substr(0, 8) + random_hex(12);
  first.spec.network.subnet = second.spec.network.subnet = "127.92.7.0/28";
  ASSERT_TRUE(adaptor.submit(first).has_value());
  ASSERT_TRUE(adaptor.submit(second).has_value());
  std::set<std::string> addresses;
  for (const auto& one : {first, second})
    for (const NodeRecord& node : record(one).nodes) addresses.insert(node.address);
  EXPECT_EQ(addresses.size(), 6u);
}

TEST_F(LocalAdaptorTest, ADeadAgentIsStartedAgainAtItsAddress) {
  const auto two = request(2);
  const auto job = adaptor.submit(two).value();
  const NodeRecord before = record(two).nodes[1];
  ASSERT_TRUE(adaptor.launch_agent(two, job, 1).has_value());
  EXPECT_EQ(record(two).nodes[1].agent, before.agent) << "it runs: nothing to do";

  proc::send_signal(before.agent, SIGKILL);
  ASSERT_TRUE(eventually([&] { return !proc::is_alive(before.agent); }));
  EXPECT_EQ(adaptor.poll(two, {job}).value()[0].reason, "1 of 2 agents run");
  const auto launched = adaptor.launch_agent(two, job, 1);
  ASSERT_TRUE(launched.has_value()) << launched.error().text();
  const NodeRecord after = record(two).nodes[1];
  EXPECT_TRUE(proc::is_alive(after.agent));
  EXPECT_EQ(after.address, before.address);
  EXPECT_EQ(adaptor.launch_agent(two, job, 2).error().code, ErrorCode::not_found);
}

TEST_F(LocalAdaptorTest, ARebootEndsTheAllocation) {
  const auto one = request(1);
  const auto job = adaptor.submit(one).value();
  EXPECT_EQ(record(one).nodes[0].address, "127.0.0.1");
  AllocationRecord changed = record(one);
  ASSERT_TRUE(adaptor.cancel(one, job).has_value());
  changed.boot_id = "another boot";
  ASSERT_TRUE(write_record(record_path(one.pilot_dir, "a0"), changed).has_value());
  const auto polled = adaptor.poll(one, {job}).value()[0];
  EXPECT_EQ(polled.phase, model::AllocationPhase::ended);
  EXPECT_EQ(polled.reason, "the machine was rebooted");
  EXPECT_EQ(adaptor.launch_agent(one, job, 0).error().code, ErrorCode::not_found);
}

// A home folder that two machines share: unknown is not gone.
TEST_F(LocalAdaptorTest, AnotherMachinesAllocationIsUnknown) {
  const auto one = request(1);
  const auto job = adaptor.submit(one).value();
  const AllocationRecord mine = record(one);
  AllocationRecord changed = mine;
  changed.boot_id = "another boot";
  changed.host = "elsewhere";
  ASSERT_TRUE(write_record(record_path(one.pilot_dir, "a0"), changed).has_value());
  const auto polled = adaptor.poll(one, {job}).value()[0];
  EXPECT_EQ(polled.phase, model::AllocationPhase::unknown);
  EXPECT_EQ(polled.reason, "it was started on the machine elsewhere");
  EXPECT_EQ(adaptor.launch_agent(one, job, 0).error().code, ErrorCode::unavailable);
  EXPECT_EQ(adaptor.cancel(one, job).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(proc::is_alive(mine.nodes[0].agent));
  ASSERT_TRUE(write_record(record_path(one.pilot_dir, "a0"), mine).has_value());
}

TEST_F(LocalAdaptorTest, AFailedStartLeavesNothing) {
  auto two = request(2);
  two.agent_program = folder / "missing";
  const auto job = adaptor.submit(two);
  ASSERT_FALSE(job.has_value());
  EXPECT_NE(job.error().text().find("missing"), std::string::npos) << job.error().text();
  EXPECT_FALSE(std::filesystem::exists(record(two).scratch));
}

TEST_F(LocalAdaptorTest, RefusesWhatCanNeverRun) {
  auto spec = request(1).spec;
  spec.nodes = 65;
  EXPECT_EQ(adaptor.check(spec).error().text(), "nodes is 65, but the resource 'local' plays at most 64");
  spec.nodes = 3;
  spec.memory_per_node = Bytes{std::uint64_t{1} << 60};
  EXPECT_EQ(adaptor.check(spec).error().code, ErrorCode::usage);
  spec.memory_per_node = {};
  spec.network.subnet = "127.91.1.2/31";
  EXPECT_EQ(adaptor.check(spec).error().text(), "network.subnet '127.91.1.2/31' has 2 addresses for 3 nodes");
  spec.network.subnet = "10.0.0.0/8";
  EXPECT_EQ(adaptor.check(spec).error().code, ErrorCode::usage);
}

TEST_F(LocalAdaptorTest, RenderStartsNothing) {
  const auto three = request(3);
  const auto text = adaptor.render(three);
  ASSERT_TRUE(text.has_value());
  EXPECT_NE(text.value().find("--rank 2 --node node-3 --address 127.91."), std::string::npos) << text.value();
  EXPECT_FALSE(std::filesystem::exists(record_path(three.pilot_dir, "a0")));
}

}  // namespace
}  // namespace pilot::adaptors::local
