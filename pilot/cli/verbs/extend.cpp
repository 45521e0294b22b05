// pilot extend, pilot shrink
#include "pilot/core/extend.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "pilot/base/walltime.hpp"
#include "pilot/cli/output.hpp"
#include "pilot/cli/signals.hpp"
#include "pilot/cli/status_view.hpp"
#include "pilot/cli/verbs/verbs.hpp"

namespace pilot::cli {
namespace {

struct ExtendFlags {
  std::string name, nodes, walltime, timeout, throttle;
  bool no_move = false, no_wait = false, in_place = false;
};

struct ShrinkFlags {
  std::string name, count, allocation, timeout, throttle;
  std::vector<std::string> nodes;
  bool no_wait = false;
};

Result<int> whole_number(const std::string& text, const std::string& flag) {
  int number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec == std::errc{} && end.ptr == text.data() + text.size() && number > 0) return number;
  return make_error(ErrorCode::usage, fmt::format("{} '{}' is no number of nodes", flag, text),
                    "a whole number from 1");
}

Result<std::optional<Duration>> time_or_none(const std::string& text, const std::string& flag,
                                             Result<Duration> (*parse)(std::string_view) = parse_duration) {
  if (text.empty()) return std::optional<Duration>();
  const auto time = parse(text);
  if (time.has_error()) return time.error().while_doing(flag);
  if (time.value() <= Duration{0})
    return make_error(ErrorCode::usage, fmt::format("{} must be longer than zero, not '{}'", flag, text));
  return std::optional<Duration>(time.value());
}

int detached(const std::string& what, const std::string& name) {
  say(fmt::format("{} goes on without this command; 'pilot status {}' shows how far it is", what, name));
  return 128 + signal_received();
}

void print_state(Session& session, const core::RunningPilot& pilot) {
  if (session.json) print(status_json(pilot.state(), true, "").dump(2) + "\n");
}

Result<int> run_extend(Session& session, const ExtendFlags& flags) {
  core::ExtendOptions options;
  PILOT_TRY(options.nodes, whole_number(flags.nodes.empty() ? "1" : flags.nodes, "--nodes"));
  PILOT_TRY(options.walltime, time_or_none(flags.walltime, "--time", parse_walltime));
  PILOT_TRY(const auto timeout, time_or_none(flags.timeout, "--timeout"));
  options.move = !flags.no_move;
  options.in_place = flags.in_place;
  options.throttle = flags.throttle;
  Progress progress = session.make_progress();
  const core::Context context = session.context(progress);
  PILOT_TRY(core::RunningPilot pilot, core::RunningPilot::open(context, flags.name));
  PILOT_TRY(const std::string allocation, core::extend_pilot(context, pilot, options));
  if (flags.no_wait) {
    if (!session.quiet) say(fmt::format("extension {} of '{}' is asked for", allocation, flags.name));
    print_state(session, pilot);
    return 0;
  }
  const auto ready = core::wait_for_extension(context, pilot, allocation, timeout);
  progress.finish();
  if (ready.has_error()) return ready.error();
  if (!ready.value()) return detached(fmt::format("extension {}", allocation), flags.name);
  if (!session.quiet)
    say(fmt::format("'{}' has {} more node{} ({}: {}) after {}", flags.name, options.nodes,
                    options.nodes == 1 ? "" : "s", allocation,
                    fmt::join(pilot.state().nodes_of(allocation), ", "), progress.elapsed()));
  print_state(session, pilot);
  return 0;
}

Result<int> run_shrink(Session& session, const ShrinkFlags& flags) {
  core::ShrinkOptions options;
  options.nodes = flags.nodes;
  options.allocation = flags.allocation;
  options.throttle = flags.throttle;
  if (!flags.count.empty()) {
    PILOT_TRY(options.count, whole_number(flags.count, "--nodes"));
  }
  PILOT_TRY(const auto timeout, time_or_none(flags.timeout, "--timeout"));
  Progress progress = session.make_progress();
  const core::Context context = session.context(progress);
  PILOT_TRY(core::RunningPilot pilot, core::RunningPilot::open(context, flags.name));
  PILOT_TRY(const auto nodes, core::shrink_pilot(context, pilot, options));
  if (nodes.empty()) {
    if (!session.quiet) say(fmt::format("extension {} of '{}' is taken back", flags.allocation, flags.name));
    print_state(session, pilot);
    return 0;
  }
  if (flags.no_wait) {
    if (!session.quiet) say(fmt::format("{} of '{}' will be given back", fmt::join(nodes, ", "), flags.name));
    print_state(session, pilot);
    return 0;
  }
  const auto done = core::wait_for_shrink(context, pilot, nodes, timeout);
  progress.finish();
  if (done.has_error()) return done.error();
  if (!done.value()) return detached("giving nodes back", flags.name);
  if (!session.quiet)
    say(fmt::format("{} of '{}' {} given back after {}", fmt::join(nodes, ", "), flags.name,
                    nodes.size() == 1 ? "is" : "are", progress.elapsed()));
  print_state(session, pilot);
  return 0;
}

Option throttle_option(std::string& target) {
  return {"--throttle", "RATE",
          "data move at most so fast for each service: 50MB/s, none, auto [auto: as measured]", &target};
}

}  // namespace

Command extend_command(Session& session) {
  auto flags = std::make_shared<ExtendFlags>();
  Command command{"extend", "Add nodes to a pilot while it runs, and move data onto them"};
  command.description =
      "Another batch job brings the nodes; their services join the clusters that run, and partitions move "
      "onto "
      "them while data flow. Killed at any point, it goes on by itself: the head agent follows what the log "
      "says. "
      "Ctrl-C stops waiting, not the extension.\n"
      "With --in-place the job of the base gets the nodes instead, where the batch system can do that (Slurm "
      "with permit_job_expansion): they have no time of their own and end with the base. "
      "'pilot shrink' gives them back where Slurm keeps its accounts in slurmdbd; elsewhere they stay.";
  command.examples = {"pilot extend demo -N 2", "pilot extend demo -N 2 -t 1h      # for an hour only",
                      "pilot extend demo -N 1 --in-place  # nodes of the base's job",
                      "pilot extend demo -N 1 --no-move   # new brokers stay empty until topics are made"};
  command.arguments = {pilot_argument(flags->name, true)};
  command.options = {
      {"-N,--nodes", "N", "how many more (default: 1)", &flags->nodes},
      {"-t,--time", "TIME", "for so long: 30m, 2h (default: as the base)", &flags->walltime},
      {"--in-place", "", "the base's own job grows: the nodes end with it, so without -t", &flags->in_place},
      {"--no-move", "", "leave the new services empty", &flags->no_move},
      throttle_option(flags->throttle),
      {"--no-wait", "", "return when the nodes are asked for", &flags->no_wait},
      {"--timeout", "TIME", "wait no longer than that", &flags->timeout}};
  command.run = [&session, flags] { return run_extend(session, *flags); };
  return command;
}

Command shrink_command(Session& session) {
  auto flags = std::make_shared<ShrinkFlags>();
  Command command{"shrink", "Give nodes of a pilot back while it runs, after their data have moved"};
  command.description =
      "Nodes that 'pilot extend' brought can be given back; those of the base only by --node, and where the "
      "batch system takes parts of a job, never the node of the head and those with controllers. What a node "
      "holds moves "
      "elsewhere first; "
      "what has no place there (a topic with more replicas than brokers stay, full disks) is refused with "
      "the "
      "numbers before anything begins. When the move fails later, the node stays, the pilot is as it was "
      "before, and the exit code is 6. An extension "
      "whose "
      "last node is given back ends with it.";
  command.examples = {"pilot shrink demo -N 1", "pilot shrink demo --node node-5",
                      "pilot shrink demo --allocation a1"};
  command.arguments = {pilot_argument(flags->name, true)};
  command.options = {
      {"-N,--nodes", "N", "so many of what extensions brought: the least to move, the earliest end",
       &flags->count},
      {"--node", "NODE", "this one (may be repeated)", &flags->nodes},
      {"--allocation", "NAME", "all nodes of an extension, also of one that waits: a1", &flags->allocation},
      throttle_option(flags->throttle),
      {"--no-wait", "", "return when it has begun", &flags->no_wait},
      {"--timeout", "TIME", "wait no longer than that", &flags->timeout}};
  command.run = [&session, flags] { return run_shrink(session, *flags); };
  return command;
}

}  // namespace pilot::cli
