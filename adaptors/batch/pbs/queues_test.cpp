#include "adaptors/batch/pbs/queues.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adaptors/batch/host/dialect_input.hpp"
#include "adaptors/batch/pbs/pbs_dialect.hpp"

namespace pilot::adaptors::pbs {
namespace {

using testing::SizeIs;

const PbsDialect dialect;

proc::CommandResult recorded_answer(const std::string& name) {
  return host::test::recorded("pbs", name);
}

plugin::AllocationRequest wish(int nodes) {
  plugin::AllocationRequest request;
  request.nodes = nodes;
  return request;
}

// Four nodes of 4 cores and 24684084 kB, a queue without limits.
Result<void> fits_recorded(const plugin::AllocationRequest& request) {
  return dialect.fits(request, {recorded_answer("qstat_Qf_json"), recorded_answer("pbsnodes_av_json")});
}

TEST(PbsSizesTest, ReadsTheRecordings) {
  const auto queues = parse_queues(recorded_answer("qstat_Qf_json").out);
  ASSERT_THAT(queues, SizeIs(1));
  EXPECT_EQ(queues[0], (Queue{"workq", true, {}, {}}));
  const auto nodes = parse_nodes(recorded_answer("pbsnodes_av_json").out);
  ASSERT_THAT(nodes, SizeIs(4));
  EXPECT_EQ(nodes[3], (Node{"node04", 4, Bytes{24684084ull * 1024}}));
}

TEST(PbsSizesTest, RefusesWhatPbsWouldLetWaitForEver) {
  EXPECT_TRUE(fits_recorded(wish(4)).has_value());
  EXPECT_EQ(fits_recorded(wish(5)).error().text(),
            "the job would never run: there are 4 nodes, 5 are wanted; 'pbsnodes -av' lists them");
  auto large = wish(1);
  large.spec.cores_per_node = 5;
  EXPECT_EQ(fits_recorded(large).error().message,
            "the job would never run: there are 4 nodes, 0 of them large enough, 1 are wanted");
  large.spec.cores_per_node = 4;
  large.spec.memory_per_node = Bytes{std::uint64_t{30} << 30};
  EXPECT_FALSE(fits_recorded(large).has_value());
}

TEST(PbsSizesTest, KnowsTheLimitsOfTheQueue) {
  const auto queues = parse_queues(
      R"({"Queue": {"small": {"enabled": "True", "resources_max": {"nodect": 2, "walltime": "01:00:00"}}}})");
  auto request = wish(3);
  EXPECT_TRUE(fits_queue(request, queues).has_value()) << "it is not for this queue";
  request.spec.batch["queue"] = "small";
  EXPECT_EQ(
      fits_queue(request, queues).error().text(),
      "the job would never run: queue 'small' allows 2 nodes a job, 3 are wanted; 'qstat -Qf' shows the "
      "limits of queues");
  request.nodes = 2;
  request.spec.walltime = std::chrono::hours(1);
  EXPECT_TRUE(fits_queue(request, queues).has_value());
  request.spec.walltime = std::chrono::minutes(61);
  EXPECT_EQ(fits_queue(request, queues).error().message,
            "the job would never run: queue 'small' allows 1h00m, 1h01m is wanted");
}

TEST(PbsSizesTest, WhatIsNotSaidIsNoReason) {
  for (const char* text : {"", "nonsense", "[]", "{}", R"({"Queue": 3})", R"({"Queue": {"workq": {}}})"})
    EXPECT_TRUE(fits_queue(wish(999), parse_queues(text)).has_value()) << text;
  for (const char* text : {"", "{", "{}", R"({"nodes": {}})"})
    EXPECT_TRUE(fits_nodes(wish(999), parse_nodes(text)).has_value()) << text;
  EXPECT_TRUE(
      dialect.fits(wish(999), {recorded_answer("server_down_qstat"), recorded_answer("server_down_qstat")})
          .has_value());
}

// Two vnodes of one host, as GPU nodes often have them.
TEST(PbsSizesTest, VnodesOfAHostAreOneNode) {
  const auto nodes = parse_nodes(
      R"({"nodes": {"n1[0]": {"resources_available": {"host": "n1", "ncpus": 8}},
                    "n1[1]": {"resources_available": {"host": "n1", "ncpus": "8"}}}})");
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_EQ(nodes[0].cores, 16);
}

}  // namespace
}  // namespace pilot::adaptors::pbs
