#include "pilot/agent/service_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>
#include <vector>

#include "pilot/agent/log_limit.hpp"
#include "pilot/agent/process_sweep.hpp"
#include "pilot/agent/readiness_probe.hpp"
#include "pilot/agent/service_files.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/log.hpp"
#include "pilot/base/units.hpp"
#include "pilot/proc/command_run.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/proc/process.hpp"

namespace pilot::agent {

using model::ServicePhase;

namespace {

constexpr Duration sweep_limit = std::chrono::seconds(5);
constexpr int tail_lines = 20;

std::string name_of(const model::Command& command) {
  return command.argv.empty() ? std::string() : std::filesystem::path(command.argv[0]).filename().string();
}

}  // namespace

struct ServiceRunner::Impl {
  EventLoop& loop;
  const Clock& clock;
  ServiceRecord record;
  ServiceContext context;
  std::function<void()> on_change;

  // What is going on; at most one of sweep, step and watch at a time.
  std::optional<ProcessSweep> sweep;
  std::optional<proc::CommandRun> step;
  std::optional<proc::Watch> watch;
  std::optional<ReadinessProbe> probe;
  EventLoop::Handle log_timer;  // while it runs
  EventLoop::Handle timer;      // back-off, or the grace of stopping
  std::string giving_up_cause;  // it is being stopped because it did not become ready

  // --- the record ---------------------------------------------------------------------------------

  void enter(ServicePhase phase, std::string reason = {}, std::string log_tail = {}) {
    if (phase != record.phase && !model::may_follow(record.phase, phase))
      log::error("{}: {} after {} is not in the table", record.spec.id, to_string(phase),
                 to_string(record.phase));
    record.phase = phase;
    record.reason = std::move(reason);
    record.log_tail = std::move(log_tail);
    log::info("{} {}{}{}", record.spec.id, to_string(phase), record.reason.empty() ? "" : ": ",
              record.reason);
    on_change();
  }

  void fail(std::string cause) {
    record.process = {};
    enter(ServicePhase::failed, std::move(cause), tail_of_file(record.spec.log, tail_lines));
  }

  void halt() {
    sweep.reset();
    step.reset();
    watch.reset();
    probe.reset();
    timer.cancel();
    log_timer.cancel();
  }

  // Ends whatever carries the service's marks, then goes on.
  void sweep_then(std::function<void()> next) {
    sweep.emplace(loop, clock, context.environment, sweep_limit,
                  [this, next = std::move(next)](const std::vector<model::ProcessIdentity>& left) {
                    for (const auto& process : left)
                      log::error("{}: process {} can't be ended", record.spec.id, process.pid);
                    const auto go_on = next;
                    sweep.reset();  // and with it this function
                    go_on();
                  });
  }

  // --- the way up ---------------------------------------------------------------------------------

  void prepare() {
    halt();
    giving_up_cause.clear();
    record.process = {};
    enter(ServicePhase::preparing);
    if (const auto running = context.find_running ? context.find_running() : std::nullopt) {
      record.process = *running;
      return started("already running");
    }
    // An agent that was killed between starting a process and recording it has left it behind.
    sweep_then([this] {
      auto written = write_service_files(record.spec, context);
      if (written.has_error()) return could_not_start(written.error().text());
      run_step(0);
    });
  }

  void run_step(std::size_t number) {
    if (number == record.spec.prepare.size()) return launch();
    const auto& wanted = record.spec.prepare[number];
    if (!wanted.unless_exists.empty() && std::filesystem::exists(wanted.unless_exists))
      return run_step(number + 1);
    auto command = complete(wanted.command, context);
    if (command.has_error()) return could_not_start(command.error().text());
    step.emplace(loop, command.value(), wanted.timeout,
                 [this, number](const Result<proc::CommandResult>& result) {
                   const std::string name = name_of(record.spec.prepare[number].command);
                   step.reset();
                   if (result.has_error()) return could_not_start(result.error().text());
                   if (!result.value().succeeded()) return could_not_start(result.value().complaint(name));
                   run_step(number + 1);
                 });
  }

  void launch() {
    auto command = complete(record.spec.command, context);
    if (command.has_error()) return could_not_start(command.error().text());
    auto process = proc::spawn(command.value(), {record.spec.log, {}});
    if (process.has_error()) return could_not_start(process.error().text());
    record.process = process.value();
    ++record.starts;
    started({});
  }

  // What can't even be started the first time will not be better in a second.
  void could_not_start(std::string cause) {
    cause = "preparing: " + cause;
    if (record.starts == 0) return fail(std::move(cause));
    start_again_or_fail(std::move(cause));
  }

  void started(std::string reason) {
    enter(ServicePhase::starting, std::move(reason));
    watch_process();
    probe_process();
  }

  void watch_process() {
    log_timer = keep_limiting_log(loop, record.spec.log, record.spec.log_limit);
    watch.emplace(loop, record.process, [this](const model::ExitStatus& status) { ended(status); });
  }

  void probe_process() {
    auto readiness = complete(record.spec.ready, context);
    if (readiness.has_error()) return give_up(readiness.error().text());
    if (may_be_stuck()) readiness.value().deadline = *record.spec.ready.first_deadline;
    probe.emplace(loop, std::move(readiness).value(), [this](const Result<void>& result) {
      probe.reset();
      if (result.has_error()) return give_up(result.error().text());
      enter(ServicePhase::ready);
    });
  }

  bool may_be_stuck() const { return record.starts == 1 && record.spec.ready.first_deadline; }

  void give_up(std::string cause) {
    giving_up_cause = std::move(cause);
    log::warning("{}: {}; stopping it", record.spec.id, giving_up_cause);
    end_process();
  }

  // --- its end ------------------------------------------------------------------------------------

  void ended(const model::ExitStatus& status) {
    halt();
    const bool unexpected = record.phase != ServicePhase::stopping && giving_up_cause.empty();
    if (unexpected && (!context.restart_wanted || context.restart_wanted(status)))
      return start_again_or_fail(to_string(status));
    if (!giving_up_cause.empty() && record.phase != ServicePhase::stopping && may_be_stuck())
      return start_again_or_fail(std::exchange(giving_up_cause, {}));
    // What it has started may outlive it.
    sweep_then([this, status] {
      if (record.phase == ServicePhase::stopping) return enter_stopped();
      if (!giving_up_cause.empty()) return fail(std::exchange(giving_up_cause, {}));
      enter(ServicePhase::stopping, to_string(status));
      enter_stopped();
    });
  }

  void start_again_or_fail(std::string cause) {
    const auto& policy = record.spec.restart;
    const WallTime now = clock.wall();
    std::erase_if(record.restarts, [&](WallTime at) { return at + policy.window < now; });
    const auto count = static_cast<int>(record.restarts.size());
    if (count >= policy.max_restarts) {
      if (count > 0)
        cause += fmt::format("; started again {} times within {}", count, format_duration(policy.window));
      return sweep_then(
          [this, cause] { record.phase == ServicePhase::stopping ? enter_stopped() : fail(cause); });
    }
    Duration backoff = policy.first_backoff;
    for (int i = 0; i < count && backoff < policy.longest_backoff; ++i) backoff *= 2;
    backoff = std::min(backoff, policy.longest_backoff);
    record.restarts.push_back(now);
    record.process = {};
    enter(ServicePhase::waiting, fmt::format("{}; starting again in {}", cause, format_duration(backoff)),
          tail_of_file(record.spec.log, tail_lines));
    timer = loop.after(backoff, [this] { prepare(); });
    sweep_then([] {});  // what it has started may outlive it, and hold its ports and locks
  }

  // --- the way down -------------------------------------------------------------------------------

  void stop() {
    switch (record.phase) {
      case ServicePhase::planned:
      case ServicePhase::failed:
        halt();
        return enter_stopped();
      case ServicePhase::waiting:
      case ServicePhase::preparing:
        halt();
        enter(ServicePhase::stopping);
        return sweep_then([this] { enter_stopped(); });
      case ServicePhase::starting:
      case ServicePhase::ready:
        probe.reset();
        enter(ServicePhase::stopping);
        if (watch) end_process();  // else it has just ended and is swept
        return;
      case ServicePhase::stopping:
      case ServicePhase::stopped:
      case ServicePhase::lost:  // what a head thinks of services, never a node
        return;
    }
  }

  void end_within(Duration grace) {
    record.spec.stop.grace = std::min(record.spec.stop.grace, grace);
    if (record.phase != ServicePhase::stopping) return stop();
    if (watch) end_process();
  }

  void enter_stopped() {
    record.process = {};
    enter(ServicePhase::stopped);
  }

  void end_process() {
    proc::send_signal(record.process, record.spec.stop.signal);
    timer = loop.after(record.spec.stop.grace, [this] {
      log::warning("{}: still there after {}; killing it", record.spec.id,
                   format_duration(record.spec.stop.grace));
      proc::send_signal_to_group(record.process, SIGKILL);
    });
  }

  void resume() {
    switch (record.phase) {
      case ServicePhase::preparing:
        return prepare();
      case ServicePhase::waiting:
        timer = loop.after(record.spec.restart.first_backoff, [this] { prepare(); });
        return;
      case ServicePhase::starting:
      case ServicePhase::ready:
        if (!proc::is_alive(record.process)) return ended({.known = false, .code = 0, .signal = 0});
        watch_process();
        if (record.phase == ServicePhase::starting) probe_process();
        return;
      case ServicePhase::stopping:
        if (!proc::is_alive(record.process)) return sweep_then([this] { enter_stopped(); });
        watch_process();
        return end_process();
      case ServicePhase::planned:
      case ServicePhase::stopped:
      case ServicePhase::failed:
      case ServicePhase::lost:
        return;
    }
  }
};

ServiceRunner::ServiceRunner(EventLoop& loop, const Clock& clock, ServiceRecord record,
                             ServiceContext context, std::function<void()> on_change)
    : impl_(new Impl{
          loop, clock, std::move(record), std::move(context), std::move(on_change), {}, {}, {}, {}, {}, {}}) {
}
ServiceRunner::~ServiceRunner() = default;

void ServiceRunner::start() {
  if (!impl_->record.at_rest()) return;
  impl_->record.restarts.clear();
  impl_->record.starts = 0;
  impl_->prepare();
}
void ServiceRunner::resume() {
  impl_->resume();
}
void ServiceRunner::stop() {
  impl_->stop();
}
void ServiceRunner::end_within(Duration grace) {
  impl_->end_within(grace);
}
const ServiceRecord& ServiceRunner::record() const {
  return impl_->record;
}

}  // namespace pilot::agent
