#include "adaptors/batch/local/machine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace pilot::adaptors::local {
namespace {

TEST(Machine, IsDividedByTheNodes) {
  const Machine machine{8, Bytes{std::uint64_t{16} << 30}};
  model::PilotSpec spec;
  spec.nodes = 3;
  EXPECT_EQ(share_of(machine, spec).cores, 2);
  EXPECT_EQ(share_of(machine, spec).memory.count, (std::uint64_t{16} << 30) / 3);
  spec.nodes = 20;
  EXPECT_EQ(share_of(machine, spec).cores, 1);
  spec.cores_per_node = 4;
  spec.memory_per_node = Bytes{1 << 30};
  EXPECT_EQ(share_of(machine, spec).cores, 4);
  EXPECT_EQ(share_of(machine, spec).memory.count, 1u << 30);
}

TEST(Machine, ThisOneHasSomething) {
  EXPECT_GE(this_machine().cores, 1);
  EXPECT_GT(this_machine().memory.count, 1u << 20);
}

TEST(Expand, PutsVariablesIn) {
  setenv("PILOT_TEST_FOLDER", "/data", 1);
  EXPECT_EQ(expand("$PILOT_TEST_FOLDER/a"), "/data/a");
  EXPECT_EQ(expand("${PILOT_TEST_FOLDER}b"), "/datab");
  EXPECT_EQ(expand("$PILOT_TEST_MISSING/x"), "/x");
  EXPECT_EQ(expand("/plain"), "/plain");
  EXPECT_EQ(expand("$"), "");
  EXPECT_NE(expand("~/x"), "~/x");
  unsetenv("PILOT_TEST_FOLDER");
}

TEST(ScratchRoot, NamesUserAndPilot) {
  model::PilotSpec spec;
  spec.scratch = "/scratch";
  const std::string root = scratch_root(spec, "0123456789abcdef");
  EXPECT_TRUE(root.starts_with("/scratch/pilot-")) << root;
  EXPECT_TRUE(root.ends_with("-0123456789ab")) << root;
}

}  // namespace
}  // namespace pilot::adaptors::local
