#include "pilot/agent/readiness_probe.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>
#include <variant>

#include "pilot/agent/tcp_attempt.hpp"
#include "pilot/base/units.hpp"
#include "pilot/proc/command_run.hpp"

namespace pilot::agent {

struct ReadinessProbe::Impl {
  EventLoop& loop;
  model::Readiness readiness;
  std::function<void(Result<void>)> on_end;
  std::optional<TcpAttempt> connection;
  std::optional<proc::CommandRun> command;
  std::string last_cause = "it was never asked";
  EventLoop::Handle timer, deadline;

  Impl(EventLoop& l, model::Readiness r, std::function<void(Result<void>)> f)
      : loop(l), readiness(std::move(r)), on_end(std::move(f)) {
    timer = loop.after(Duration{0}, [this] { attempt(); });
    if (!std::holds_alternative<std::monostate>(readiness.probe))
      deadline = loop.after(readiness.deadline, [this] { give_up(); });
  }

  void attempt() {
    if (const auto* tcp = std::get_if<model::TcpProbe>(&readiness.probe)) {
      connection.emplace(loop, tcp->address, tcp->port, [this](const Result<void>& result) {
        connection.reset();
        attempted(result);
      });
    } else if (const auto* probe = std::get_if<model::CommandProbe>(&readiness.probe)) {
      command.emplace(loop, probe->command, probe->timeout,
                      [this](const Result<proc::CommandResult>& result) {
                        command.reset();
                        attempted(judge(result));
                      });
    } else {
      end(ok());
    }
  }

  Result<void> judge(const Result<proc::CommandResult>& result) const {
    if (result.has_error()) return result.error();
    if (result.value().succeeded()) return ok();
    const auto& program = std::get<model::CommandProbe>(readiness.probe).command.argv.at(0);
    return make_error(ErrorCode::failed, result.value().complaint(std::filesystem::path(program).filename()));
  }

  void attempted(const Result<void>& result) {
    if (result.has_value()) return end(ok());
    last_cause = result.error().message;
    timer = loop.after(readiness.interval, [this] { attempt(); });
  }

  void give_up() {
    end(make_error(ErrorCode::timed_out,
                   fmt::format("not ready after {}: {}", format_duration(readiness.deadline), last_cause)));
  }

  void end(Result<void> result) {
    connection.reset();
    command.reset();
    timer.cancel();
    deadline.cancel();
    std::exchange(on_end, nullptr)(std::move(result));  // may destroy this
  }
};

ReadinessProbe::ReadinessProbe(EventLoop& loop, model::Readiness readiness,
                               std::function<void(Result<void>)> on_end)
    : impl_(std::make_unique<Impl>(loop, std::move(readiness), std::move(on_end))) {}

ReadinessProbe::~ReadinessProbe() = default;

}  // namespace pilot::agent
