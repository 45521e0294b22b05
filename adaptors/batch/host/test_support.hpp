// For tests of BatchHost: a folder whose shell lines are the batch system (play_dialect.hpp), and a request.
#pragma once

#include <gtest/gtest.h>

#include <sstream>

#include "adaptors/batch/host/batch_host.hpp"
#include "adaptors/batch/host/play_dialect.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace pilot::adaptors::host::test {

inline HostTiming quick() {
  HostTiming timing;
  timing.first_delay = std::chrono::milliseconds(5);
  timing.longest_delay = std::chrono::milliseconds(20);
  timing.patience = std::chrono::seconds(60);
  timing.settle = std::chrono::milliseconds(30);
  timing.settle_look = std::chrono::milliseconds(5);
  timing.cancel_look = std::chrono::milliseconds(5);
  timing.launch = std::chrono::seconds(30);  // those that end are noticed at once
  return timing;
}

class BatchHostTest : public testing::Test {
 protected:
  BatchHostTest() {
    EXPECT_TRUE(make_directory(folder).has_value());
    make_play_tool(folder);
    request.pilot_id = "0123456789abcdef";
    request.allocation = "a0";
    request.nodes = 2;
    request.spec.name = "demo";
    request.pilot_dir = folder / "home" / "pilots" / "demo";
    request.agent_program = "/bin/false";
    EXPECT_TRUE(make_directory(request.pilot_dir / "allocations").has_value());
    EXPECT_TRUE(make_directory(request.pilot_dir / "logs").has_value());
  }
  ~BatchHostTest() override { EXPECT_TRUE(remove_tree(folder).has_value()); }

  void when(const std::string& verb, const std::string& shell) {
    EXPECT_TRUE(write_file(folder / verb, shell + "\n").has_value());
  }
  int calls(const std::string& verb) const {
    const auto text = read_file(folder / "calls");
    std::istringstream lines(text.has_value() ? text.value() : "");
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line.starts_with(verb) ? 1 : 0;
    return count;
  }
  std::string last_call() const { return tail_of_file(folder / "calls", 1); }
  plugin::AllocationStatus poll_one(const std::string& id = "7") {
    const auto statuses = host.poll(request, {id});
    EXPECT_TRUE(statuses.has_value()) << statuses.error().text();
    return statuses.value().at(0);
  }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("pilot-host-" + random_hex(6));
  plugin::AllocationRequest request;
  ManualClock manual;
  // Answers grow old by the manual clock; deadlines are the machine's.
  class Clocks final : public Clock {
   public:
    explicit Clocks(const ManualClock& wall) : wall_(&wall) {}
    WallTime wall() const override { return wall_->wall(); }
    SteadyTime steady() const override { return system_clock().steady(); }

   private:
    const ManualClock* wall_;
  } clocks{manual};
  BatchHost host{std::make_unique<PlayDialect>(folder.string()), quick(), clocks};
};

}  // namespace pilot::adaptors::host::test
