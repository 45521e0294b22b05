#include "pilot/model/states.hpp"

#include <gtest/gtest.h>

#include <set>

namespace pilot::model {
namespace {

TEST(States, EveryServiceStateCanReachAnEnd) {
  // Walk backwards from the two ends: whatever is not reached could hang for ever.
  std::set<ServicePhase> reaching{ServicePhase::stopped, ServicePhase::failed};
  for (std::size_t before = 0; before != reaching.size();) {
    before = reaching.size();
    for (const auto& [from, to] : service_transitions())
      if (reaching.contains(to)) reaching.insert(from);
  }
  EXPECT_EQ(reaching.size(), 9u);
}

TEST(States, EveryPilotPhaseCanBeStopped) {
  for (auto phase : {PilotPhase::submitted, PilotPhase::starting, PilotPhase::booting, PilotPhase::ready,
                     PilotPhase::degraded, PilotPhase::failed})
    EXPECT_TRUE(may_follow(phase, PilotPhase::stopping)) << to_string(phase);
  EXPECT_FALSE(may_follow(PilotPhase::stopped, PilotPhase::ready));
}

TEST(States, UnknownIsNeverAnEnd) {
  EXPECT_TRUE(may_follow(AllocationPhase::unknown, AllocationPhase::running));
  EXPECT_FALSE(may_follow(AllocationPhase::ended, AllocationPhase::running));
}

}  // namespace
}  // namespace pilot::model
