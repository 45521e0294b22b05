// Supervises one service: prepares, starts and probes it, starts it again when it ends, stops it.
//
//   planned ─start()→ preparing → starting → ready          the way up
//                        ↑            │        │
//                        └─ waiting ←─┴────────┘            it ended: back-off, at most so often
//                           preparing, starting, ready, waiting → failed     given up, with the cause
//                           any ─stop()→ stopping → stopped
//
// The table of model/states.hpp says what may follow what.  The service itself lives on when its runner
// is destroyed; a runner made from its record takes it up again (resume()).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pilot/agent/environment.hpp"
#include "pilot/agent/service_record.hpp"
#include "pilot/base/event_loop.hpp"
#include "pilot/base/result.hpp"

namespace pilot::agent {

// What a service needs from where it runs.
struct ServiceContext {
  Environment environment;          // marks every process of the service (environment.hpp)
  std::filesystem::path directory;  // working directory of commands that name none
  // Fills in the placeholders of files and commands.
  std::function<Result<std::string>(std::string_view)> fill_in;
  // Optional: a process of this service that somebody else started; it is taken over instead of starting one.
  std::function<std::optional<model::ProcessIdentity>()> find_running;
  // Optional: whether an unexpected end is to be repaired; without it, always.
  std::function<bool(const model::ExitStatus&)> restart_wanted;
};

class ServiceRunner {
 public:
  // `on_change` is called after each change of the record, before anything that depends on it is done.
  ServiceRunner(EventLoop& loop, const Clock& clock, ServiceRecord record, ServiceContext context,
                std::function<void()> on_change);
  ~ServiceRunner();

  // From planned, stopped or failed; else it is on its way already.
  void start();
  // After the agent was started again: goes on where the record says.
  void resume();
  // Ends in `stopped`, whatever it is now.
  void stop();
  // The same, with no more than so much grace, also when it is being stopped already.
  void end_within(Duration grace);

  const ServiceRecord& record() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pilot::agent
