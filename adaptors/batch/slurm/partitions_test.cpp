#include "adaptors/batch/slurm/partitions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adaptors/batch/host/dialect_input.hpp"
#include "adaptors/batch/slurm/slurm_dialect.hpp"

namespace pilot::adaptors::slurm {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const SlurmDialect dialect;

proc::CommandResult recorded_answer(const std::string& name) {
  return host::test::recorded("slurm", name);
}

plugin::AllocationRequest wish(int nodes, std::optional<Duration> time = {}, const std::string& queue = "") {
  plugin::AllocationRequest request;
  request.nodes = nodes;
  request.spec.walltime = time;
  if (!queue.empty()) request.spec.batch["queue"] = queue;
  return request;
}

Result<void> fits_recorded(const plugin::AllocationRequest& request) {
  return dialect.fits(request, {recorded_answer("sinfo_sizes")});
}

TEST(PartitionsTest, ReadsWhatSinfoPrints) {
  const auto partitions = parse_partitions(recorded_answer("sinfo_sizes").out);
  ASSERT_THAT(partitions, SizeIs(3));
  const Bytes memory{std::uint64_t{4000} << 20};
  EXPECT_EQ(partitions[0], (Partition{"normal", true, std::chrono::hours(1), {}, 4, 4, memory}));
  EXPECT_EQ(partitions[1], (Partition{"short", false, std::chrono::minutes(2), {}, 4, 4, memory}));
  EXPECT_EQ(partitions[2], (Partition{"closed", false, {}, {}, 4, 4, memory}));
}

TEST(PartitionsTest, NodesOfSeveralKindsMakeOnePartition) {
  const auto partitions =
      parse_partitions("a|2-00:00:00|1-8|4|32|1000+\nnonsense\na|2-00:00:00|1-8|6|64+|500\n");
  ASSERT_THAT(partitions, SizeIs(1));
  EXPECT_EQ(partitions[0],
            (Partition{"a", false, std::chrono::hours(48), 8, 10, 64, Bytes{std::uint64_t{1000} << 20}}));
  EXPECT_THAT(parse_partitions(""), IsEmpty());
}

TEST(PartitionsTest, RefusesWhatSlurmWouldLetWaitForEver) {
  EXPECT_TRUE(fits_recorded(wish(4, std::chrono::hours(1))).has_value());
  EXPECT_EQ(
      fits_recorded(wish(9)).error().text(),
      "the job would never run: partition 'normal' has 4 nodes, 9 are wanted; 'sinfo -o \"%P %l %s %D %c "
      "%m\"' shows partitions, limits and nodes");
  EXPECT_EQ(fits_recorded(wish(1, std::chrono::hours(1), "short")).error().message,
            "the job would never run: partition 'short' allows 2m00s, 1h00m is wanted");
  auto large = wish(1);
  large.spec.cores_per_node = 5;
  EXPECT_EQ(fits_recorded(large).error().message,
            "the job would never run: partition 'normal' has nodes of at most 4 cores, 5 are wanted");
  large.spec.cores_per_node = 1;
  large.spec.memory_per_node = Bytes{std::uint64_t{4} << 30};
  EXPECT_EQ(fits_recorded(large).error().message,
            "the job would never run: partition 'normal' has nodes of at most 3.9 GiB, 4 GiB is wanted");
}

TEST(PartitionsTest, WhatIsNotSaidIsNoReason) {
  EXPECT_TRUE(fits_recorded(wish(9, {}, "hidden")).has_value()) << "sbatch knows better";
  EXPECT_TRUE(fits_recorded(wish(9, {}, "normal,short")).has_value());
  EXPECT_TRUE(fits_recorded(wish(4, std::chrono::hours(100), "closed")).has_value()) << "no limit";
  EXPECT_TRUE(dialect.fits(wish(9), {recorded_answer("ctld_down_squeue")}).has_value());
  auto special = wish(1, std::chrono::hours(2));
  special.spec.batch["qos"] = "long";
  EXPECT_TRUE(fits_recorded(special).has_value()) << "a quality of service may allow more";
}

TEST(SlurmJudgeTest, TellsWhenItWouldStart) {
  const auto command = dialect.judge(wish(1), "/tmp/x.sh");
  EXPECT_THAT(command.argv, testing::Contains("--test-only"));
  EXPECT_EQ(command.argv.back(), "/tmp/x.sh");
  EXPECT_EQ(
      dialect.judged(recorded_answer("sbatch_test_only")).value(),
      "it would start at 2026-11-29T19:50:45 using 2 processors on nodes node[01-02] in partition normal");
  const auto refused = dialect.judged(recorded_answer("sbatch_test_only_too_many"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace pilot::adaptors::slurm
