#include "pilot/core/scenario_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "pilot/base/file.hpp"
#include "pilot/core/programs.hpp"
#include "pilot/core/scenario_step.hpp"
#include "pilot/core/start.hpp"
#include "pilot/core/stop.hpp"
#include "pilot/core/version.hpp"
#include "pilot/proc/command_run.hpp"

namespace pilot::core {
namespace {

constexpr auto settled_after = std::chrono::seconds(5);  // no more comes when nothing came for so long
constexpr auto finish_within = std::chrono::seconds(60);
constexpr auto report_within = std::chrono::seconds(60);

// Passes everything on, but is never interrupted: cleaning up goes on after Ctrl-C.
class Undisturbed final : public Observer {
 public:
  explicit Undisturbed(Observer& observer) : observer_(observer) {}
  void event(const model::Event& event, const model::PilotState& after) override {
    observer_.event(event, after);
  }
  void waiting(const model::PilotState& state) override { observer_.waiting(state); }
  void note(std::string_view sentence) override { observer_.note(sentence); }
  void progress(std::string_view line) override { observer_.progress(line); }

 private:
  Observer& observer_;
};

Error interrupted() {
  return make_error(ErrorCode::failed, "interrupted; what was started is stopped");
}

class Run {
 public:
  Run(const Context& context, const ScenarioRequest& request) : context_(context), request_(request) {}

  // The steps, on a pilot that is ready.
  Result<void> process(ScenarioResult& result) {
    PILOT_TRY_VOID(start_sources());
    PILOT_TRY_VOID(start_processors());
    const Deadline deadline(*context_.clock, request_.scenario.timeout);
    PILOT_TRY_VOID(wait_for_sources(deadline));
    PILOT_TRY_VOID(wait_for_processors(deadline));
    PILOT_TRY_VOID(finish_processors());
    return account(result);
  }

  // Whatever still runs.
  void end_steps() {
    for (auto* steps : {&sources_, &processors_})
      for (ScenarioStepRun& step : *steps) step.kill();
  }

  Result<void> prepare() {
    PILOT_TRY(miniapp_, find_program("miniapp"));
    output_ = std::filesystem::absolute(request_.scenario.output);
    folder_ = output_ / "run";
    return make_directory(folder_, 0755);
  }

  void make_report(ScenarioResult& result) {
    model::Command command;
    command.argv = {miniapp_.string(), "report", "--title", request_.pilot.spec.name};
    for (const ScenarioStepRun& step : sources_)
      command.argv.insert(command.argv.end(), {"--source", step.report_path().string()});
    for (const ScenarioStepRun& step : processors_)
      command.argv.insert(command.argv.end(), {"--process", step.report_path().string()});
    const auto page = output_ / "report.html";
    const auto facts = folder_ / "run.json";
    if (write_file(facts, facts_json(result)).has_value())
      command.argv.insert(command.argv.end(), {"--run", facts.string()});
    command.argv.insert(command.argv.end(), {"--output", page.string()});
    command.directory = std::filesystem::current_path().string();
    for (const auto* steps : {&sources_, &processors_})
      for (const ScenarioStepRun& step : *steps) result.table += step.table();
    const auto made = proc::run_command(command, report_within);
    if (!made.has_value()) return context_.observer->note("note: no report: " + made.error().message);
    if (!made.value().succeeded())
      return context_.observer->note("note: no report: " + made.value().complaint("miniapp report"));
    result.report = page;
  }

  void remember(const model::PilotState& state) { state_ = state; }

 private:
  // What a reader of the report wants to know of the run itself.
  std::string facts_json(const ScenarioResult& result) const {
    nlohmann::ordered_json facts{
        {"pilot", fmt::format("{}: {} nodes of the resource '{}' on {}", state_.spec.name, state_.spec.nodes,
                              state_.spec.resource, state_.host)}};
    for (const auto& [framework, cluster] : state_.clusters)
      facts[framework] = fmt::format("{}, {} services{}", cluster.plan.version, cluster.services.size(),
                                     state_.spec.encrypt ? ", encrypted" : "");
    facts["ready after"] = fmt::format("{:.1f} s", result.start_s);
    facts["started"] = iso8601(state_.created);
    facts["version"] = version();
    return facts.dump(1) + "\n";
  }

  ScenarioStepRun::Place place(StepKind kind, std::size_t number) const {
    const std::string label = fmt::format("{}-{}", kind == StepKind::source ? "source" : "processor", number);
    return {miniapp_, request_.pilot.spec.name, output_, folder_, label};
  }

  Result<void> start_sources() {
    for (const config::ScenarioStep& step : request_.scenario.sources) {
      PILOT_TRY(ScenarioStepRun run,
                ScenarioStepRun::start(StepKind::source, step, place(StepKind::source, sources_.size() + 1)));
      sources_.push_back(std::move(run));
    }
    return ok();
  }

  // Processors want their topic, which a source makes: they start when its first message is acknowledged.
  Result<void> start_processors() {
    const auto flows = [&] {
      return std::all_of(sources_.begin(), sources_.end(),
                         [](ScenarioStepRun& source) { return source.poll() || source.progress().done > 0; });
    };
    const Deadline deadline(*context_.clock, request_.scenario.timeout);
    while (!flows()) {
      if (deadline.passed()) return timed_out("no message was acknowledged");
      PILOT_TRY_VOID(look());
    }
    for (const config::ScenarioStep& step : request_.scenario.processors) {
      PILOT_TRY(ScenarioStepRun run,
                ScenarioStepRun::start(StepKind::processor, step,
                                       place(StepKind::processor, processors_.size() + 1)));
      processors_.push_back(std::move(run));
    }
    return ok();
  }

  // One look at all steps; fails when one did, or when the user wants to end.
  Result<void> look() {
    if (context_.observer->interrupted()) return interrupted();
    for (auto* steps : {&sources_, &processors_}) {
      for (ScenarioStepRun& step : *steps) {
        if (!step.poll()) continue;
        if (!step.succeeded()) return step.failure();
        const bool early = step.kind() == StepKind::processor && !finishing_;
        if (early) context_.observer->progress(step.label() + " has ended by itself");
      }
    }
    context_.observer->progress(line());
    std::this_thread::sleep_for(look_interval);
    return ok();
  }

  std::string line() const {
    std::uint64_t acknowledged = 0, wanted = 0, done = 0;
    double in = 0, out = 0, lag = 0;
    for (const ScenarioStepRun& source : sources_) {
      acknowledged += source.progress().done;
      wanted += source.progress().wanted;
      in += source.ended() ? 0 : source.progress().rate;
    }
    for (const ScenarioStepRun& processor : processors_) {
      done += processor.progress().done;
      out += processor.progress().rate;
      lag += processor.progress().lag;
    }
    if (acknowledged == 0) return "the sources prepare";
    return fmt::format("{}{} sent {:.1f}/s, {} reconstructed {:.1f}/s, {:.0f} waiting", acknowledged,
                       wanted > 0 ? fmt::format(" of {}", wanted) : "", in, done, out, lag);
  }

  Error timed_out(const std::string& what) const {
    return make_error(
        ErrorCode::timed_out,
        fmt::format("the scenario's {} are over: {}", format_duration(request_.scenario.timeout), what),
        "'timeout:' in the scenario gives it more");
  }

  Result<void> wait_for_sources(const Deadline& deadline) {
    const auto all_ended = [&] {
      return std::all_of(sources_.begin(), sources_.end(), [](ScenarioStepRun& one) { return one.poll(); });
    };
    while (!all_ended()) {
      if (deadline.passed()) return timed_out(line());
      PILOT_TRY_VOID(look());
    }
    PILOT_TRY_VOID(look());
    for (const ScenarioStepRun& source : sources_) {
      PILOT_TRY(const StepReport report, source.report());
      acknowledged_ += report.acknowledged;
      bytes_ += report.bytes;
      runs_.insert(report.runs.begin(), report.runs.end());
    }
    return ok();
  }

  std::map<std::string, std::uint64_t> done_by_group() const {
    std::map<std::string, std::uint64_t> done;
    for (const ScenarioStepRun& processor : processors_) done[processor.group()] += processor.progress().done;
    return done;
  }

  // Until each group has as many as were sent.  A processor that was restarted may have lost count, so it
  // is also enough that nothing waits and nothing changed for a while: the account comes from the output.
  Result<void> wait_for_processors(const Deadline& deadline) {
    auto before = done_by_group();
    Deadline settled(*context_.clock, settled_after);
    for (;;) {
      const auto done = done_by_group();
      const bool enough =
          std::all_of(done.begin(), done.end(), [&](const auto& one) { return one.second >= acknowledged_; });
      const bool all_ended = std::all_of(processors_.begin(), processors_.end(),
                                         [](const ScenarioStepRun& one) { return one.ended(); });
      if (enough || all_ended) return ok();
      const bool waiting = std::any_of(processors_.begin(), processors_.end(),
                                       [](const ScenarioStepRun& one) { return one.progress().lag > 0; });
      if (done != before || waiting) settled = Deadline(*context_.clock, settled_after);
      before = done;
      const bool any = std::any_of(done.begin(), done.end(), [](const auto& one) { return one.second > 0; });
      if (any && settled.passed()) return ok();
      if (deadline.passed()) return timed_out(line());
      PILOT_TRY_VOID(look());
    }
  }

  Result<void> finish_processors() {
    finishing_ = true;
    for (ScenarioStepRun& processor : processors_) processor.interrupt();
    for (ScenarioStepRun& processor : processors_) {
      if (!processor.wait_for_end(finish_within))
        return make_error(ErrorCode::timed_out, fmt::format("{} does not finish", processor.label()));
      if (!processor.succeeded()) return processor.failure();
    }
    return ok();
  }

  Result<void> account(ScenarioResult& result) {
    std::map<std::string, std::map<std::pair<std::string, std::uint64_t>, std::uint64_t>> blocks;  // by group
    for (const ScenarioStepRun& processor : processors_) {
      PILOT_TRY(const StepReport report, processor.report());
      result.dead_letters += report.dead_letters;
      auto& of_group = blocks[processor.group()];
      for (const auto& [scan, count] : report.blocks)
        if (runs_.contains(scan.first)) of_group[scan] = std::max(of_group[scan], count);
      for (const std::string& picture : report.pictures)
        result.pictures.push_back(processor.output() / picture);
    }
    result.acknowledged = acknowledged_;
    result.bytes = bytes_;
    result.reconstructed = processors_.empty() ? 0 : acknowledged_;
    for (const auto& [group, scans] : blocks) {
      std::uint64_t sum = 0;
      for (const auto& [scan, count] : scans) sum += count;
      result.reconstructed = std::min(result.reconstructed, sum);
    }
    if (processors_.empty()) result.reconstructed = acknowledged_;
    std::sort(result.pictures.begin(), result.pictures.end());
    result.pictures.erase(std::unique(result.pictures.begin(), result.pictures.end()), result.pictures.end());
    return ok();
  }

  const Context& context_;
  const ScenarioRequest& request_;
  std::filesystem::path miniapp_, output_, folder_;
  std::vector<ScenarioStepRun> sources_, processors_;
  std::set<std::string> runs_;
  std::uint64_t acknowledged_ = 0, bytes_ = 0;
  bool finishing_ = false;
  model::PilotState state_;  // when it was ready
};

double seconds_since(const Clock& clock, SteadyTime start) {
  return std::chrono::duration<double>(clock.steady() - start).count();
}

Result<void> start_and_process(const Context& context, const ScenarioRequest& request, Run& run,
                               bool& started, ScenarioResult& result) {
  const SteadyTime begin = context.clock->steady();
  PILOT_TRY(RunningPilot pilot, start_pilot(context, request.pilot.spec, request.pilot.origins));
  started = true;
  PILOT_TRY(const bool ready, wait_for(context, pilot, Goal::ready,
                                       request.pilot.spec.ready_timeout + std::chrono::seconds(30), true));
  if (!ready) return interrupted();
  result.start_s = seconds_since(*context.clock, begin);
  run.remember(pilot.state());
  context.observer->note(
      fmt::format("pilot '{}' is ready after {:.1f} s", request.pilot.spec.name, result.start_s));
  const SteadyTime data = context.clock->steady();
  PILOT_TRY_VOID(run.process(result));
  result.data_s = seconds_since(*context.clock, data);
  return ok();
}

}  // namespace

Result<ScenarioResult> run_scenario(const Context& context, const ScenarioRequest& request) {
  ScenarioResult result;
  result.output = request.scenario.output;
  Run run(context, request);
  PILOT_TRY_VOID(run.prepare());
  bool started = false;
  const auto processed = start_and_process(context, request, run, started, result);
  run.end_steps();
  if (processed.has_value()) run.make_report(result);
  if (started && !request.keep) {
    Undisturbed observer(*context.observer);
    const SteadyTime begin = context.clock->steady();
    const auto stopped =
        stop_pilot({context.registry, context.clock, &observer}, request.pilot.spec.name, {});
    result.stop_s = seconds_since(*context.clock, begin);
    if (!stopped.has_value()) {
      if (processed.has_value()) return stopped.error();
      context.observer->note("stopping the pilot: " + stopped.error().text());
    }
  }
  if (!processed.has_value()) return processed.error();
  return result;
}

}  // namespace pilot::core
