// A rebalance of a cluster in memory: each wait lets time pass and bytes arrive.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "adaptors/framework/kafka/rebalance/memory_cluster.hpp"
#include "adaptors/framework/kafka/rebalance/rebalance.hpp"

namespace pilot::adaptors::kafka::rebalance {

class Notes final : public Reporter {
 public:
  void step(const std::string& sentence) override { steps.push_back(sentence); }
  void progress(const Progress& now) override { looks.push_back(now); }
  std::vector<std::string> steps;
  std::vector<Progress> looks;
};

class RebalanceFixture : public ::testing::Test {
 protected:
  Result<Outcome> run() {
    return rebalance({cluster_, clock_, notes_,
                      [this](Duration duration) {
                        clock_.advance(duration);
                        ++waits_;
                        if (at_wait_) at_wait_(waits_);
                        cluster_.pass(pace_);
                        return !stop_;
                      }},
                     options_);
  }

  MemoryCluster cluster_;
  ManualClock clock_;
  Notes notes_;
  Options options_;
  std::function<void(int)> at_wait_;
  std::int64_t pace_ = 300;  // bytes that arrive at each wait
  int waits_ = 0;
  bool stop_ = false;
};

}  // namespace pilot::adaptors::kafka::rebalance
