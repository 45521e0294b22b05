#include "pilot/core/extend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "pilot/base/contains.hpp"
#include "pilot/base/suggest.hpp"
#include "pilot/core/wait_loop.hpp"

namespace pilot::core {
namespace {

constexpr auto head_answers_within = std::chrono::seconds(10);
constexpr auto shrink_is_planned_within =
    std::chrono::seconds(90);  // batch system and frameworks are asked before

// One that has to be there: a message with no head to read it is no request.
template <typename Answer>
Result<Answer> ask(RunningPilot& pilot, model::MessageBody question, Duration within = head_answers_within) {
  PILOT_TRY(const model::MessageBody body, pilot.ask(std::move(question), within));
  if (const auto* answer = std::get_if<Answer>(&body)) return *answer;
  return make_error(ErrorCode::internal, "the head agent gave an answer to another question");
}

Error still_waiting(const RunningPilot& pilot, const std::string& what, Duration timeout) {
  return make_error(ErrorCode::timed_out,
                    fmt::format("{} after {}; it goes on", what, format_duration(timeout)),
                    fmt::format("'pilot status {}' shows how far it is", pilot.folder().name()));
}

// Until `done` says so or fails, or the pilot ends.
Result<bool> follow_until(const Context& context, RunningPilot& pilot, std::optional<Duration> timeout,
                          const std::string& unfinished, const std::function<Result<bool>()>& done,
                          const std::function<Result<void>()>& check) {
  WaitLoop loop;
  loop.timeout = timeout;
  loop.look = [&]() -> Result<bool> {
    PILOT_TRY_VOID(pilot.follow());
    const auto phase = pilot.state().phase;
    if (phase == model::PilotPhase::stopping || model::is_final(phase))
      return make_error(ErrorCode::failed,
                        fmt::format("pilot '{}' is {}", pilot.folder().name(), model::to_string(phase)));
    return done();
  };
  loop.check = [&]() -> Result<void> {
    PILOT_TRY_VOID(pilot.ensure_head(std::chrono::seconds(20)));
    return check();
  };
  loop.late = [&](Duration waited) { return still_waiting(pilot, unfinished, waited); };
  return wait_until(context, pilot, loop);
}

// The clusters have taken the nodes in.
Result<bool> are_in_use(const model::PilotState& state, const std::vector<std::string>& nodes) {
  for (const auto& id : nodes) {
    const auto& node = state.nodes.at(id);
    if (node.draining || node.phase == model::NodePhase::released)
      return make_error(ErrorCode::partial,
                        fmt::format("{} came, but is not kept: {}", id,
                                    node.reason.empty() ? "it is given back" : node.reason));
  }
  for (const auto& [framework, cluster] : state.clusters) {
    const bool planned =
        std::ranges::all_of(nodes, [&](const auto& node) { return contains(cluster.plan.nodes, node); });
    const bool failed = cluster.failed_with(nodes);
    if (cluster.changing || cluster.moving || (!planned && !failed)) return false;
    if (failed)
      return make_error(ErrorCode::partial, fmt::format("{}: {}", framework, cluster.change_failure),
                        "the nodes are there; the next 'pilot extend' or 'pilot shrink' moves data again");
  }
  return true;
}

bool all_up(const model::PilotState& state, const std::string& allocation) {
  const auto nodes = state.nodes_of(allocation);
  const auto found = state.allocations.find(allocation);
  return found != state.allocations.end() && static_cast<int>(nodes.size()) == found->second.nodes &&
         std::ranges::all_of(
             nodes, [&](const auto& id) { return state.nodes.at(id).phase == model::NodePhase::up; });
}

// The batch system has a released node again.
Result<bool> is_returned(const model::PilotState& state, const std::string& id,
                         const model::NodeState& node) {
  if (!node.return_failure.empty())
    return make_error(ErrorCode::partial,
                      fmt::format("nothing of the pilot is on {} any more, but it could not "
                                  "be given back: {}",
                                  id, node.return_failure),
                      "it stays in its job, idle, until that ends");
  const auto allocation = state.allocations.find(node.info.allocation);
  return node.returned || allocation == state.allocations.end() ||
         allocation->second.phase == model::AllocationPhase::ended;
}

Result<void> check_throttle(const std::string& throttle) {
  if (throttle.empty() || throttle == "auto" || throttle == "none") return ok();
  std::string_view rate = throttle;
  if (rate.ends_with("/s")) rate.remove_suffix(2);
  const auto bytes = parse_bytes(rate);
  if (bytes.has_value() && bytes.value().count > 0) return ok();
  return make_error(ErrorCode::usage, fmt::format("--throttle can't be '{}'", throttle),
                    "auto, none, or a rate for each service like 50MB/s");
}

std::optional<std::string> throttle_wished(const std::string& throttle) {
  return throttle.empty() ? std::nullopt : std::optional(throttle);
}

// What can be said before anything is asked for.
Result<void> check_request(plugin::BatchAdaptor& adaptor, const plugin::AllocationRequest& request) {
  model::PilotSpec spec = request.spec;
  spec.nodes = request.nodes;
  PILOT_TRY_VOID(adaptor.check(spec));
  return request.joins_job.empty() ? ok() : adaptor.can_grow(request);
}

Result<void> check_options(const ExtendOptions& options) {
  if (options.nodes < 1)
    return make_error(ErrorCode::usage, fmt::format("{} nodes can't be added", options.nodes),
                      "-N takes a number from 1");
  if (options.in_place && options.walltime)
    return make_error(ErrorCode::usage,
                      "nodes that the job of the base gets have no time of their own: they end with it",
                      "either -t or --in-place");
  return check_throttle(options.throttle);
}

Result<std::string> submit(plugin::BatchAdaptor& adaptor, const plugin::AllocationRequest& request) {
  return request.joins_job.empty() ? adaptor.submit(request) : adaptor.ask_to_grow(request);
}

}  // namespace

Result<std::string> extend_pilot(const Context& context, RunningPilot& pilot, const ExtendOptions& options) {
  const auto doing = fmt::format("extending '{}'", pilot.folder().name());
  PILOT_TRY_VOID(check_options(options));
  if (const auto over = pilot.over_because(); !over.empty())
    return make_error(ErrorCode::unavailable, fmt::format("{}: the base of it is over: {}", doing, over),
                      fmt::format("'pilot stop {}' cleans up", pilot.folder().name()));
  PILOT_TRY_VOID(pilot.ensure_head(std::chrono::seconds(20)));
  PILOT_TRY(plugin::AllocationRequest request, pilot.request());
  request.nodes = options.nodes;
  if (options.walltime) request.spec.walltime = options.walltime;
  if (options.in_place) request.joins_job = pilot.state().allocations.at("a0").job_id;
  PILOT_TRY(plugin::BatchAdaptor * adaptor, context.registry->batch(request.spec.resource));
  if (auto fits = check_request(*adaptor, request); !fits) return fits.error().while_doing(doing);

  PILOT_TRY(const auto planned,
            ask<model::ExtensionPlanned>(
                pilot, model::ExtendPilot{options.nodes, options.walltime, options.move, options.in_place,
                                          throttle_wished(options.throttle)}));
  request.allocation = planned.allocation;
  request.first_node = planned.first_node;
  const auto job = submit(*adaptor, request);
  if (job.has_error()) {
    const auto code = job.error().code;
    if (code == ErrorCode::unavailable ||
        code == ErrorCode::timed_out) {  // it may have been taken all the same
      auto unknown = job.error().while_doing(doing);
      unknown.hint = fmt::format(
          "whether it was submitted is not known: the head agent looks for it, and 'pilot "
          "status {}' shows what becomes of {}",
          pilot.folder().name(), planned.allocation);
      return unknown;
    }
    (void)pilot.ask(model::ExtensionRefused{planned.allocation, job.error().message}, head_answers_within);
    return job.error().while_doing(doing);
  }
  if (auto told = ask<model::Accepted>(pilot, model::ExtensionSubmitted{planned.allocation, job.value()});
      !told) {
    (void)adaptor->cancel(request, job.value());  // nobody would ever give it back
    return told.error().while_doing(doing);
  }
  PILOT_TRY_VOID(pilot.follow());
  return planned.allocation;
}

Result<bool> wait_for_extension(const Context& context, RunningPilot& pilot, const std::string& allocation,
                                std::optional<Duration> timeout) {
  const auto done = [&]() -> Result<bool> {
    const auto& state = pilot.state();
    const auto found = state.allocations.find(allocation);
    if (found == state.allocations.end()) return false;
    if (found->second.phase == model::AllocationPhase::ended)
      return make_error(ErrorCode::failed,
                        fmt::format("extension {} is over: {}", allocation, found->second.reason));
    const auto nodes = state.nodes_of(allocation);
    if (static_cast<int>(nodes.size()) < found->second.nodes) return false;
    return are_in_use(state, nodes);
  };
  const auto check = [&]() -> Result<void> {
    if (all_up(pilot.state(), allocation)) return ok();  // its agents tell what there is to tell
    PILOT_TRY(const auto status, pilot.follow_queue(allocation));
    if (status.phase != model::AllocationPhase::ended) return ok();
    // A job that asked for nodes of another one's is over when it has got them: the head knows.
    if (pilot.state().allocations.at(allocation).joins) return ok();
    (void)pilot.ask(model::ExtensionRefused{allocation, status.reason}, head_answers_within);
    return make_error(ErrorCode::failed, fmt::format("extension {} is over: {}", allocation, status.reason));
  };
  return follow_until(context, pilot, timeout, fmt::format("extension {} is not ready", allocation), done,
                      check);
}

namespace {

// An extension of which no node has come: its job is all there is of it.
Result<std::vector<std::string>> take_back(const Context& context, RunningPilot& pilot,
                                           const std::string& id) {
  const auto& allocation = pilot.state().allocations.at(id);
  if (allocation.phase == model::AllocationPhase::ended)
    return make_error(ErrorCode::failed, fmt::format("{} is over: {}", id, allocation.reason));
  PILOT_TRY(plugin::BatchAdaptor * adaptor, context.registry->batch(pilot.state().spec.resource));
  PILOT_TRY(const plugin::AllocationRequest request, pilot.request(id));
  PILOT_TRY_VOID(adaptor->cancel(request, allocation.job_id));
  PILOT_TRY_VOID(ask<model::Accepted>(pilot, model::ExtensionRefused{id, "taken back"}));
  PILOT_TRY_VOID(pilot.follow());
  return std::vector<std::string>{};
}

}  // namespace

Result<std::vector<std::string>> shrink_pilot(const Context& context, RunningPilot& pilot,
                                              const ShrinkOptions& options) {
  PILOT_TRY_VOID(check_throttle(options.throttle));
  PILOT_TRY_VOID(pilot.ensure_head(std::chrono::seconds(20)));
  model::ShrinkPilot wish{options.nodes, options.count, throttle_wished(options.throttle)};
  if (!options.allocation.empty()) {
    const auto& state = pilot.state();
    if (!state.allocations.contains(options.allocation)) {
      std::vector<std::string> names;
      for (const auto& [name, allocation] : state.allocations) names.push_back(name);
      return make_error(ErrorCode::not_found,
                        fmt::format("'{}' has no allocation '{}'", pilot.folder().name(), options.allocation),
                        suggestion(options.allocation, names));
    }
    if (state.nodes_of(options.allocation).empty()) return take_back(context, pilot, options.allocation);
    for (const auto& node : state.nodes_of(options.allocation))
      if (state.nodes.at(node).phase != model::NodePhase::released) wish.nodes.push_back(node);
  }
  if (wish.nodes.empty() && wish.count < 1)
    return make_error(ErrorCode::usage, "nothing says which nodes shall be given back",
                      "-N COUNT, --node NODE or --allocation NAME");
  PILOT_TRY(const auto planned, ask<model::ShrinkPlanned>(pilot, wish, shrink_is_planned_within));
  PILOT_TRY_VOID(pilot.follow());
  return planned.nodes;
}

Result<bool> wait_for_shrink(const Context& context, RunningPilot& pilot,
                             const std::vector<std::string>& nodes, std::optional<Duration> timeout) {
  const auto done = [&]() -> Result<bool> {
    bool all = true;
    for (const auto& id : nodes) {
      const auto& node = pilot.state().nodes.at(id);
      if (node.phase == model::NodePhase::released) {
        PILOT_TRY(const bool returned, is_returned(pilot.state(), id, node));
        all = all && returned;
        continue;
      }
      if (!node.draining)
        return make_error(ErrorCode::partial, fmt::format("{} stays: {}", id, node.reason),
                          "the pilot is as it was before");
      all = false;
    }
    return all && std::ranges::none_of(pilot.state().clusters, [](const auto& entry) {
             return entry.second.changing || entry.second.moving;
           });
  };
  return follow_until(context, pilot, timeout, "not all nodes are given back", done, [] { return ok(); });
}

}  // namespace pilot::core
