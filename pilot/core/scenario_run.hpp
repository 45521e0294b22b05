// `pilot run`: a pilot, the mini-apps on it, and the account of every message.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pilot/config/pilot_settings.hpp"
#include "pilot/config/scenario.hpp"
#include "pilot/core/context.hpp"

namespace pilot::core {

struct ScenarioResult {
  std::uint64_t acknowledged = 0;   // messages that the cluster confirmed to the sources
  std::uint64_t reconstructed = 0;  // of them, in the output (the least of the processors' groups)
  std::uint64_t dead_letters = 0;   // malformed ones, kept aside
  std::uint64_t bytes = 0;          // acknowledged
  double start_s = 0;               // until the pilot was ready
  double data_s = 0;                // from then until all was processed
  double stop_s = 0;
  std::filesystem::path output;
  std::filesystem::path report;  // report.html; empty if it could not be made
  std::string table;             // for people
  std::vector<std::filesystem::path> pictures;
  bool complete() const { return reconstructed == acknowledged && dead_letters == 0; }
};

struct ScenarioRequest {
  config::Scenario scenario;
  config::LocatedSpec pilot;
  bool keep = false;  // leave the pilot running
};

// Starts the pilot, runs the steps, waits until each acknowledged message is processed, makes the report,
// and stops what it started, whatever happened in between.  Errors: of the start; failed (a step, with its
// last words; interrupted); timed_out; a result that is not complete() is no error here.
Result<ScenarioResult> run_scenario(const Context& context, const ScenarioRequest& request);

}  // namespace pilot::core
