#include "pilot/core/start.hpp"

#include <fmt/format.h>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/base/suggest.hpp"
#include "pilot/core/check_spec.hpp"
#include "pilot/core/programs.hpp"
#include "pilot/core/software.hpp"
#include "pilot/core/stop.hpp"
#include "pilot/core/version.hpp"
#include "pilot/core/wait_loop.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/store/event_log.hpp"
#include "pilot/store/log_words.hpp"

namespace pilot::core {
namespace {

// A pilot of this name that has ended, and whose folder was kept for its logs, makes way.
Result<void> clear_name(const Context& context, const std::string& name) {
  auto earlier = RunningPilot::open(context, name);
  if (!earlier.has_value() || !model::is_final(earlier.value().state().phase)) return ok();
  return stop_pilot(context, name, {}).has_value()
             ? ok()
             : Result<void>(make_error(ErrorCode::failed,
                                       fmt::format("the earlier pilot '{}' is not all gone", name),
                                       fmt::format("'pilot stop {}' says why", name)));
}

Result<void> check_software(const Context& context, const model::PilotSpec& spec) {
  for (const model::FrameworkSpec& framework : spec.frameworks) {
    PILOT_TRY(const plugin::FrameworkAdaptor* adaptor, context.registry->framework(framework.name));
    PILOT_TRY_VOID(locate_software(*adaptor));
  }
  return ok();
}

// Asks for the nodes.  The log is open meanwhile and closed afterwards: from then on it is the head's.
Result<void> submit(const Context& context, const store::PilotFolder& folder, const model::PilotSpec& spec) {
  PILOT_TRY(plugin::BatchAdaptor * adaptor, context.registry->batch(spec.resource));
  PILOT_TRY(store::EventLog log, store::EventLog::open(folder.path(), *context.clock));
  plugin::AllocationRequest request;
  request.pilot_id = random_hex(16);
  request.allocation = "a0";
  request.nodes = spec.nodes;
  request.spec = spec;
  request.pilot_dir = folder.path();
  PILOT_TRY(request.agent_program, find_program("pilot-agent"));
  PILOT_TRY_VOID(log.append(
      model::PilotCreated{request.pilot_id, spec, std::string(version()), user_name(), host_name()}));
  auto job = adaptor->submit(request);
  if (job.has_value()) return log.append(model::AllocationSubmitted{"a0", job.value(), spec.nodes});
  PILOT_TRY_VOID(log.append(model::PilotPhaseChanged{model::PilotPhase::failed, job.error().message}));
  return job.error();
}

std::string last_words(const RunningPilot& pilot) {
  for (const char* who : {"head", "node-1"}) {
    std::string tail = tail_of_file(pilot.folder().log_folder() / fmt::format("{}.log", who), 3);
    while (!tail.empty() && tail.back() == '\n') tail.pop_back();
    if (!tail.empty()) return fmt::format("; {} said: {}", who, tail);
  }
  return {};
}

// Nodes whose agents run but never came to the head know what they tried.
std::string why_missing(const RunningPilot& pilot) {
  for (int number = 1; number <= pilot.state().spec.nodes; ++number) {
    const std::string node = fmt::format("node-{}", number);
    if (pilot.state().nodes.contains(node)) continue;
    const std::string tail = tail_of_file(pilot.folder().log_folder() / (node + ".log"), 20);
    const auto begin = tail.rfind(store::never_heard);
    if (begin != std::string::npos)
      return fmt::format("; {}: {}", node, tail.substr(begin, tail.find('\n', begin) - begin));
  }
  return {};
}

// The agents' processes may all be gone without a word in the log.  As long as they answer, the batch system
// need not be asked.
Result<void> check_agents(const Context& context, RunningPilot& pilot, SteadyTime begun) {
  if (!pilot.state().nodes.empty() && pilot.ask(model::GetStatus{}, std::chrono::seconds(2)).has_value())
    return ok();
  PILOT_TRY(const plugin::AllocationStatus status, pilot.follow_queue());
  if (status.phase == model::AllocationPhase::ended)
    return make_error(ErrorCode::unavailable,
                      fmt::format("the allocation of '{}' has ended: {}{}", pilot.folder().name(),
                                  status.reason, last_words(pilot)),
                      fmt::format("'pilot stop {}' cleans up", pilot.folder().name()));
  if (status.phase != model::AllocationPhase::running) return ok();
  if (pilot.ask(model::GetStatus{}, std::chrono::seconds(2)).has_value()) return ok();
  // Nobody answers.  Early on that is normal: the agents are starting.
  if (context.clock->steady() - begun < std::chrono::seconds(5)) return ok();
  auto ensured = pilot.ensure_head(std::chrono::seconds(20));
  if (ensured.has_value()) return ok();
  return make_error(ensured.error().code, ensured.error().message + last_words(pilot), ensured.error().hint);
}

// What the pilot's phase means for one who waits for `goal`: done, not yet, or never.
Result<bool> reached(const RunningPilot& pilot, Goal goal) {
  const model::PilotPhase phase = pilot.state().phase;
  switch (goal) {
    case Goal::ready:
      if (phase == model::PilotPhase::ready) return true;
      break;
    case Goal::degraded:
      if (phase == model::PilotPhase::degraded) return true;
      break;
    case Goal::failed:
      if (phase == model::PilotPhase::failed) return true;
      break;
    case Goal::stopped:
      return model::is_final(phase);
  }
  if (phase == model::PilotPhase::failed) {
    const std::string missing = why_missing(pilot);
    return make_error(ErrorCode::failed,
                      fmt::format("pilot '{}' failed: {}{}", pilot.folder().name(),
                                  failure_of(pilot.state()).cause, missing),
                      missing.empty() ? "" : "batch.network names the interface or subnet that leads there");
  }
  if (model::is_final(phase) || phase == model::PilotPhase::stopping)
    return make_error(ErrorCode::failed,
                      fmt::format("pilot '{}' is {}", pilot.folder().name(), model::to_string(phase)));
  return false;
}

}  // namespace

Result<RunningPilot> start_pilot(const Context& context, const model::PilotSpec& spec,
                                 const std::map<std::string, std::string>& origins) {
  if (spec.name.empty())
    return make_error(ErrorCode::usage, "the pilot has no name",
                      "'pilot start NAME', or 'name:' in the spec");
  PILOT_TRY_VOID(check_spec(*context.registry, spec, origins));
  PILOT_TRY_VOID(check_software(context, spec));
  PILOT_TRY_VOID(clear_name(context, spec.name));
  PILOT_TRY(store::PilotFolder folder, store::PilotFolder::create(spec.name, spec.nodes, spec.encrypt));
  if (auto submitted = submit(context, folder, spec); !submitted.has_value()) {
    (void)folder.archive(random_hex(16));  // the name is free again, the logs are kept
    auto error = submitted.error().while_doing(fmt::format("starting pilot '{}'", spec.name));
    const bool may_be_there = error.code == ErrorCode::unavailable || error.code == ErrorCode::timed_out;
    if (may_be_there && error.hint.empty())
      error.hint = "whether it was submitted is not known; a job without its pilot ends as soon as it begins";
    return error;
  }
  PILOT_TRY(RunningPilot pilot, RunningPilot::open(context, spec.name));
  const auto& base = pilot.state().allocations.at("a0");
  context.observer->event({pilot.state().last_sequence, context.clock->wall(),
                           model::AllocationSubmitted{"a0", base.job_id, base.nodes}},
                          pilot.state());
  return pilot;
}

Result<std::vector<std::string>> validate_start(const Context& context, const model::PilotSpec& spec,
                                                const std::map<std::string, std::string>& origins) {
  PILOT_TRY_VOID(check_spec(*context.registry, spec, origins));
  PILOT_TRY_VOID(check_software(context, spec));
  plugin::AllocationRequest request;
  request.pilot_id = random_hex(16);
  request.allocation = "a0";
  request.nodes = spec.nodes;
  request.spec = spec;
  if (request.spec.name.empty()) request.spec.name = "validate";
  request.pilot_dir = store::pilot_home() / "pilots" / request.spec.name;
  PILOT_TRY(request.agent_program, find_program("pilot-agent"));
  PILOT_TRY(plugin::BatchAdaptor * adaptor, context.registry->batch(spec.resource));
  auto checks = adaptor->validate(request);
  if (checks.has_error()) return checks.error().while_doing(fmt::format("asking {}", spec.resource));
  std::vector<std::string> all{"the settings are right, and what the frameworks need is installed"};
  all.insert(all.end(), checks.value().begin(), checks.value().end());
  return all;
}

Result<Goal> parse_goal(const std::string& word) {
  const std::map<std::string, Goal> goals{{"ready", Goal::ready},
                                          {"stopped", Goal::stopped},
                                          {"failed", Goal::failed},
                                          {"degraded", Goal::degraded}};
  if (const auto found = goals.find(word); found != goals.end()) return found->second;
  std::vector<std::string> words;
  for (const auto& [known, goal] : goals) words.push_back(known);
  return make_error(ErrorCode::usage, fmt::format("nothing to wait for is called '{}'", word),
                    suggestion(word, words));
}

Result<bool> wait_for(const Context& context, RunningPilot& pilot, Goal goal, std::optional<Duration> timeout,
                      bool queue_is_free) {
  WaitLoop loop;
  loop.timeout = timeout;
  loop.queue_is_free = queue_is_free;
  loop.look = [&]() -> Result<bool> {
    const auto followed = pilot.follow();
    if (followed.has_value()) return reached(pilot, goal);
    // Archived by 'pilot stop' while we look on.
    if (followed.error().code == ErrorCode::not_found && goal == Goal::stopped) return true;
    return followed.error();
  };
  loop.check = [&, begun = context.clock->steady()] { return check_agents(context, pilot, begun); };
  loop.late = [&](Duration waited) {
    return make_error(ErrorCode::timed_out,
                      fmt::format("pilot '{}' is still {} after {}", pilot.folder().name(),
                                  model::to_string(pilot.state().phase), format_duration(waited)),
                      fmt::format("'pilot status {}' shows what is missing", pilot.folder().name()));
  };
  return wait_until(context, pilot, loop);
}

}  // namespace pilot::core
