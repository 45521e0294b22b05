#include "pilot/agent/head_agent.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "pilot/agent/background.hpp"
#include "pilot/agent/batch_calls.hpp"
#include "pilot/agent/environment.hpp"
#include "pilot/agent/head_server.hpp"
#include "pilot/agent/host.hpp"
#include "pilot/agent/move_progress.hpp"
#include "pilot/agent/readiness_probe.hpp"
#include "pilot/agent/service_files.hpp"
#include "pilot/agent/tool_runs.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/log.hpp"
#include "pilot/codec/codec.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/proc/process.hpp"
#include "pilot/store/event_log.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot::agent {

namespace {

constexpr Duration between_tries = std::chrono::milliseconds(50);
constexpr Duration longest_pause = std::chrono::milliseconds(200);
constexpr Duration until_it_gives_up = std::chrono::hours(24 * 7);  // a tool that has deadlines of its own

Result<void> whether(const Result<std::string>& printed) {
  PILOT_TRY_VOID(printed);
  return ok();
}

}  // namespace

struct HeadAgent::Impl {
  EventLoop& loop;
  const Clock& clock;
  HeadOptions options;
  plugin::Registry& registry;
  SoftwareLocator locate;
  std::function<void(int)> on_end;
  store::PilotFolder folder;
  Deadline log_deadline;

  std::optional<store::EventLog> log;
  std::optional<HeadCore> core;
  HeadServer server;
  std::map<std::string, ReadinessProbe> probes;
  std::map<std::string, proc::Watch> agents;  // node agents on this machine
  ToolRuns tools;
  EventLoop::Handle timer, handling, finishing;
  std::vector<HeadCore::Incoming> received;  // and not handled yet
  Duration handling_took{0};
  Background background;
  BatchCalls batch;

  Impl(EventLoop& l, const Clock& c, HeadOptions o, plugin::Registry& r, SoftwareLocator s,
       std::function<void(int)> f)
      : loop(l),
        clock(c),
        options(std::move(o)),
        registry(r),
        locate(std::move(s)),
        on_end(std::move(f)),
        folder(options.pilot_dir),
        log_deadline(c, options.wait_for_log),
        server(
            l, folder,
            [this](const std::string& peer, model::Message message) { receive(peer, std::move(message)); }),
        tools(l),
        background(l),
        batch(l, r, options.pilot_dir, options.agent_program) {}

  void end(int code) {
    timer.cancel();
    if (on_end) loop.post([code, tell = std::exchange(on_end, nullptr)] { tell(code); });
  }

  void give_up(const Error& error) {
    log::error("{}", error.text());
    end(exit_code(error.code));
  }

  // --- beginning ----------------------------------------------------------------------------------

  // The command that submits the pilot writes the log until it is done, and a head before us may still be
  // ending; but a pilot has one head.
  void begin() {
    auto opened = store::EventLog::open(options.pilot_dir, clock);
    if (opened.has_value()) {
      log = std::move(opened).value();
      return take_over();
    }
    if (opened.error().code != ErrorCode::unavailable || log_deadline.passed())
      return give_up(opened.error());
    timer = loop.after(between_tries, [this] { begin(); });
  }

  void take_over() {
    if (log->state().id.empty()) return give_up(make_error(ErrorCode::failed, "the event log has no pilot"));
    core.emplace(log->state(), clock, options.timing);
    const auto listening = server.listen(options.address, options.port, log->state().spec.network);
    if (listening.has_error()) return cannot_listen(listening.error());
    const auto self = proc::identify(::getpid()).value_or(model::ProcessIdentity{});
    const int start = log->state().head ? log->state().head->start + 1 : 1;
    model::HeadStarted started{self, host_name(), server.endpoint(), start, {}};
    if (!options.node.empty()) started.node = options.node;
    log::info("head agent of '{}', start {}, at {}", log->state().spec.name, start, server.endpoint());
    for (const auto& [id, node] : core->state().nodes) watch_agent(node.info);
    perform(core->start(started));
    if (!on_end) return;
    if (auto told = folder.set_endpoint({server.endpoint(), started.host, self, options.node});
        told.has_error())
      return give_up(told.error());
    timer = loop.every(options.tick, [this] { perform(core->tick()); });
    server.begin_mail(options.look_for_mail);
  }

  // Before anything runs this is the end of the pilot; later somebody has to look, and we try again.
  void cannot_listen(const Error& error) {
    const auto phase = log->state().phase;
    if (phase != model::PilotPhase::submitted && phase != model::PilotPhase::starting) return give_up(error);
    const std::string cause = error.text() + "; the spec's network.ports names the range";
    log::error("{}", cause);
    const auto written = log->append(model::PilotPhaseChanged{model::PilotPhase::failed, cause});
    end(written.has_value() ? 0 : 1);
  }

  // Some are children of ours, which have to be reaped; and the end of one on this machine is known at once.
  void watch_agent(const model::NodeInfo& node) {
    if (node.host != host_name()) return;
    agents.erase(node.id);
    agents.try_emplace(node.id, loop, node.agent,
                       [this, id = node.id, agent = node.agent](const model::ExitStatus&) {
                         perform(core->agent_ended(id, agent));
                       });
  }

  // --- acting -------------------------------------------------------------------------------------

  void receive(const std::string& peer, model::Message message) {
    received.push_back({peer, std::move(message)});
    if (received.size() == 1) handle_soon();
  }

  // At most half of the time goes into it, so that the more comes the more is handled together.
  void handle_soon() {
    handling = loop.after(std::min(handling_took, longest_pause), [this] {
      const SteadyTime begun = clock.steady();
      perform(core->receive(std::exchange(received, {})));
      handling_took = clock.steady() - begun;
    });
  }

  // Nothing is acted upon that is not in the log: if it can't be written we end, and whoever starts us
  // again goes on from what is there.
  void perform(HeadOutput output) {
    if (!on_end) return;
    if (!output.events.empty()) {
      for (const auto& body : output.events) {
        log::info("{}", model::describe(body));
        if (const auto* registered = std::get_if<model::NodeRegistered>(&body)) watch_agent(registered->node);
      }
      if (auto written = log->append(std::move(output.events)); written.has_error())
        return give_up(written.error());
    }
    for (const auto& outgoing : output.messages) server.send(outgoing);
    for (auto& effect : output.effects) std::visit([this](auto& one) { act(std::move(one)); }, effect);
  }

  plugin::PlanInput input_for(PlanCluster wanted) const {
    plugin::PlanInput input;
    input.spec = core->state().spec;
    input.framework = wanted.framework;
    input.pilot_id = core->state().id;
    input.nodes = std::move(wanted.nodes);
    input.client_folder = folder.client_folder();
    input.log_folder = folder.log_folder();
    input.tools_folder = options.tools_folder;
    input.current = std::move(wanted.current);
    input.draining = std::move(wanted.draining);
    input.move = wanted.move;
    input.throttle = std::move(wanted.throttle);
    input.as_far_as_possible = wanted.as_far_as_possible;
    return input;
  }

  void act(PlanCluster wanted) {
    background.run([this, input = input_for(std::move(wanted))]() mutable -> std::function<void()> {
      const std::string framework = input.framework.name;
      return
          [this, framework, plan = make_plan(std::move(input))] { perform(core->planned(framework, plan)); };
    });
  }

  // On a thread of its own: locating software runs tools.
  Result<model::ClusterPlan> imagine_plan(plugin::PlanInput& input) {
    PILOT_TRY(const auto* adaptor, std::as_const(registry).framework(input.framework.name));
    PILOT_TRY(input.software, locate(input.framework.name));
    return adaptor->plan(input);
  }

  Result<model::ClusterPlan> make_plan(plugin::PlanInput input) {
    PILOT_TRY(auto plan, imagine_plan(input));
    plan.nodes.clear();
    for (const auto& node : input.nodes) plan.nodes.push_back(node.id);
    PILOT_TRY_VOID(folder.make_secrets_for(codec::encode(plan)));
    PILOT_TRY_VOID(write_client_files(plan.client_files));  // the cluster's probe is a client too
    return plan;
  }

  ServiceContext context() const {
    ServiceContext context;
    context.environment = {{pilot_id_variable, core->state().id}, {service_variable, "pilot/probe"}};
    context.directory = options.pilot_dir;
    context.fill_in = [folder = folder](std::string_view text) { return folder.fill_in(text); };
    return context;
  }

  void act(const ProbeCluster& wanted) {
    auto readiness = complete(wanted.readiness, context());
    if (readiness.has_error()) {
      return loop.post([this, framework = wanted.framework, error = readiness.error()] {
        perform(core->probed(framework, error));
      });
    }
    const auto answer = [this, framework = wanted.framework](const Result<void>& result) {
      const std::string name = framework;  // this function goes with the probe
      const Result<void> answered = result;
      probes.erase(name);
      perform(core->probed(name, answered));
    };
    probes.erase(wanted.framework);
    probes.try_emplace(wanted.framework, loop, std::move(readiness).value(), answer);
  }

  void act(const WriteClientFiles& wanted) {
    const auto written = write_client_files(wanted.files);
    loop.post([this, framework = wanted.framework, written] {
      perform(core->client_files_written(framework, written));
    });
  }

  Result<void> write_client_files(const std::vector<model::FileSpec>& files) const {
    PILOT_TRY_VOID(make_directory(folder.client_folder()));
    for (const auto& file : files) {
      PILOT_TRY(const std::string content, folder.fill_in(file.content));
      PILOT_TRY_VOID(make_directory(std::filesystem::path(file.path).parent_path()));
      PILOT_TRY_VOID(write_file(file.path, content, file.mode));
    }
    return ok();
  }

  void act(const LaunchAgent& wanted) {
    batch.call(
        core->state(), wanted.allocation,
        [rank = wanted.rank](plugin::BatchAdaptor& system, const BatchJob& job) {
          return system.launch_agent(job.request, job.id, rank);
        },
        [this, node = wanted.node](const Result<void>& result) {
          if (result.has_error())
            log::warning("the agent of {} can't be started: {}", node, result.error().text());
          perform(core->launched(node, result));
        });
  }

  void act(const LookAtJob& wanted) {
    batch.call(
        core->state(), wanted.allocation,
        [](plugin::BatchAdaptor& system, const BatchJob& job) -> Result<plugin::AllocationStatus> {
          PILOT_TRY(const auto statuses, system.poll(job.request, {job.id}));
          return statuses.empty() ? plugin::AllocationStatus{} : statuses.front();
        },
        [this, id = wanted.allocation](const Result<plugin::AllocationStatus>& status) {
          perform(core->job_seen(id, status));
        });
  }

  void act(const FindJob& wanted) {
    batch.call(
        core->state(), wanted.allocation,
        [](plugin::BatchAdaptor& system, const BatchJob& job) { return system.job_of(job.request); },
        [this, id = wanted.allocation](const Result<std::string>& job) {
          perform(core->job_found(id, job));
        });
  }

  void act(const GiveBack& wanted) {
    batch.call(
        core->state(), wanted.allocation,
        [](plugin::BatchAdaptor& system, const BatchJob& job) { return system.cancel(job.request, job.id); },
        [this, allocation = wanted.allocation](const Result<void>& result) {
          perform(core->given_back(allocation, result));
        });
  }

  void act(const CheckRelease& wanted) {
    batch.check_release(core->state(), wanted.parts, [this](const std::map<std::string, Error>& refused) {
      perform(core->release_checked(refused));
    });
  }

  void act(const ReturnNodes& wanted) {
    batch.call(
        core->state(), wanted.part.allocation,
        [ranks = wanted.part.ranks](plugin::BatchAdaptor& system, const BatchJob& job) {
          return system.release(job.request, job.id, ranks);
        },
        [this, part = wanted.part](const Result<void>& result) {
          perform(core->nodes_returned(part.allocation, part.ranks, result));
        });
  }

  void act(const GrowBase& wanted) {
    batch.call(
        core->state(), wanted.allocation,
        [asked = wanted.asked](plugin::BatchAdaptor& system, const BatchJob& job) {
          return system.grow(job.request, asked);
        },
        [this, allocation = wanted.allocation](const Result<plugin::AllocationStatus>& result) {
          perform(core->grown(allocation, result));
        });
  }

  void act(const AdmitNodes& wanted) {
    const auto result = server.admit_nodes(wanted.first_node, wanted.nodes);
    loop.post([this, result] { perform(core->admitted(result)); });
  }

  // Runs a tool that prints a problem, or none.
  void run_check(const std::string& purpose, const model::Command& command, Duration longest,
                 std::function<void(const Result<std::string>&)> tell) {
    tools.run(purpose, complete(command, context()), longest,
              [tell = std::move(tell)](const Result<std::string>& printed) {
                tell(printed.has_value() ? problem_of(printed.value()) : printed);
              });
  }

  void act(const CheckCluster& wanted) {
    tools.run("check " + wanted.framework, complete(wanted.command, context()), std::chrono::seconds(15),
              [this, framework = wanted.framework](const Result<std::string>& printed) {
                perform(core->checked(framework, printed.has_value() ? report_of(framework, printed.value())
                                                                     : Result<DataReport>(printed.error())));
              });
  }

  // The plan is only looked at: nothing of it is written down.
  void act(const CheckMove& wanted) {
    background.run([this, input = input_for(wanted.plan)]() mutable -> std::function<void()> {
      const auto plan = imagine_plan(input);
      return [this, framework = input.framework.name, plan] { check_move(framework, plan); };
    });
  }

  void check_move(const std::string& framework, const Result<model::ClusterPlan>& plan) {
    if (plan.has_error()) return perform(core->move_checked(framework, plan.error()));
    const auto& resize = plan.value().resize;
    if (!resize || !resize->check) return perform(core->move_checked(framework, std::string()));
    // It may wait for a service that is just starting again.
    run_check("check moving " + framework, *resize->check, std::chrono::seconds(50),
              [this, framework](const Result<std::string>& problem) {
                perform(core->move_checked(framework, problem));
              });
  }

  void act(const MoveData& wanted) {
    const std::string purpose = "move " + wanted.framework;
    tools.run(
        purpose, complete(wanted.command, context()), until_it_gives_up,
        [this, framework = wanted.framework](const Result<std::string>& printed) {
          perform(core->moved(framework, whether(printed)));
        },
        [this, purpose, framework = wanted.framework](std::string_view line) {
          core->measured(framework, speed_of(line));
          if (const auto text = progress_sentence(line); !text.empty())
            perform(core->progressed(purpose, text));
        });
  }

  void act(const StopMoving& wanted) { tools.ask_to_end("move " + wanted.framework); }

  void act(const RetireNode& wanted) {
    tools.run(fmt::format("retire {} {}", wanted.framework, wanted.node), complete(wanted.command, context()),
              until_it_gives_up,
              [this, framework = wanted.framework, node = wanted.node](const Result<std::string>& printed) {
                perform(core->retired(framework, node, whether(printed)));
              });
  }

  void act(const Finish&) {
    // Answers are on their way; a client that asks in this moment gets one, too.
    timer.cancel();
    server.end_mail();
    finishing = loop.after(std::chrono::milliseconds(100), [this] { end(0); });
  }
};

HeadAgent::HeadAgent(EventLoop& loop, const Clock& clock, HeadOptions options, plugin::Registry& registry,
                     SoftwareLocator locate, std::function<void(int)> on_end)
    : impl_(std::make_unique<Impl>(loop, clock, std::move(options), registry, std::move(locate),
                                   std::move(on_end))) {
  impl_->timer = loop.after(Duration{0}, [impl = impl_.get()] { impl->begin(); });
}

HeadAgent::~HeadAgent() = default;

}  // namespace pilot::agent
