// Shows what a waiting command waits for: one rewritten line on a terminal, a line per change otherwise,
// or JSON.
#pragma once

#include <string>

#include "pilot/core/context.hpp"

namespace pilot::cli {

// "3 of 3 nodes, kafka 2 of 4 services ready (kafka/broker-1 starting)"
std::string summary_of(const model::PilotState& state);

class Progress final : public core::Observer {
 public:
  enum class Mode { line, plain, json, none };

  // `mode`: "auto", "plain", "none", "json"; auto is a line on a terminal and plain elsewhere.
  Progress(const std::string& mode, bool quiet, bool colour, const Clock& clock);
  ~Progress() override;  // ends a rewritten line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void event(const model::Event& event, const model::PilotState& after) override;
  void waiting(const model::PilotState& state) override;
  void progress(std::string_view text) override;  // plain: at most every five seconds
  void note(std::string_view sentence) override;
  bool interrupted() override;

  // Ends the rewritten line so that something else can be printed.
  void finish();

  Mode mode() const { return mode_; }
  std::string elapsed() const;

 private:
  Mode mode_;
  bool colour_;
  const Clock* clock_;
  SteadyTime start_, last_shown_{};
  bool line_open_ = false;
};

}  // namespace pilot::cli
