#include "pilot/agent/head_agent.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "pilot/agent/background.hpp"
#include "pilot/agent/client_requests.hpp"
#include "pilot/agent/environment.hpp"
#include "pilot/agent/host.hpp"
#include "pilot/agent/move_progress.hpp"
#include "pilot/agent/readiness_probe.hpp"
#include "pilot/agent/service_files.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/log.hpp"
#include "pilot/codec/codec.hpp"
#include "pilot/net/control_server.hpp"
#include "pilot/plugin/allocation_request.hpp"
#include "pilot/proc/command_run.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/proc/process.hpp"
#include "pilot/store/event_log.hpp"
#include "pilot/store/mailbox.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot::agent {

namespace {

constexpr Duration between_tries = std::chrono::milliseconds(50);
constexpr Duration longest_pause = std::chrono::milliseconds(200);
constexpr std::string_view by_mail = "mail:";  // begins a peer whose answer goes into the pilot's folder

struct Place {
  std::string address;
  std::uint16_t port = 0;
};

// "tcp://127.77.1.2:20011"
std::optional<Place> parse_endpoint(std::string_view endpoint) {
  constexpr std::string_view scheme = "tcp://";
  const auto colon = endpoint.rfind(':');
  if (!endpoint.starts_with(scheme) || colon < scheme.size()) return std::nullopt;
  const int port = std::atoi(std::string(endpoint.substr(colon + 1)).c_str());
  if (port <= 0 || port > 65535) return std::nullopt;
  return Place{std::string(endpoint.substr(scheme.size(), colon - scheme.size())),
               static_cast<std::uint16_t>(port)};
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
  store::Mailbox mailbox;
  Deadline log_deadline;

  std::optional<store::EventLog> log;
  std::optional<HeadCore> core;
  std::unique_ptr<net::ControlServer> server;
  ClientRequests requests;
  std::map<std::string, ReadinessProbe> probes;
  std::map<std::string, proc::CommandRun> commands;  // by what they are for: "move kafka"
  std::map<std::string, proc::Watch> agents;         // node agents on this machine
  EventLoop::Handle timer, mail_timer, handling, finishing;
  std::vector<HeadCore::Incoming> received;  // and not handled yet
  Duration handling_took{0};
  Background background;

  Impl(EventLoop& l, const Clock& c, HeadOptions o, plugin::Registry& r, SoftwareLocator s,
       std::function<void(int)> f)
      : loop(l),
        clock(c),
        options(std::move(o)),
        registry(r),
        locate(std::move(s)),
        on_end(std::move(f)),
        folder(options.pilot_dir),
        mailbox(folder.mail_folder()),
        log_deadline(c, options.wait_for_log),
        background(l) {}

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
    if (auto listening = listen(); listening.has_error()) return cannot_listen(listening.error());
    const auto self = proc::identify(::getpid()).value_or(model::ProcessIdentity{});
    const int start = log->state().head ? log->state().head->start + 1 : 1;
    model::HeadStarted started{self, host_name(), server->endpoint(), start, {}};
    if (!options.node.empty()) started.node = options.node;
    log::info("head agent of '{}', start {}, at {}", log->state().spec.name, start, server->endpoint());
    for (const auto& [id, node] : core->state().nodes) watch_agent(node.info);
    perform(core->start(started));
    if (!on_end) return;
    if (auto told = folder.set_endpoint({server->endpoint(), started.host, self, options.node});
        told.has_error())
      return give_up(told.error());
    timer = loop.every(options.tick, [this] { perform(core->tick()); });
    mail_timer = loop.every(options.look_for_mail, [this] {
      for (const auto& letter : mailbox.take()) receive(std::string(by_mail) + letter.id, letter.text);
    });
  }

  // Where the last head was, since its nodes look there; else where we were told, else in the pilot's range.
  Result<void> listen() {
    const auto last = folder.endpoint();
    const auto place = last.has_value() ? parse_endpoint(last.value().address) : std::nullopt;
    std::string address = options.address;
    if (address.empty()) address = place ? place->address : "127.0.0.1";
    if (place && place->address == address && try_listen(address, place->port, place->port).has_value())
      return ok();
    if (options.port != 0 && try_listen(address, options.port, options.port).has_value()) return ok();
    const auto& network = log->state().spec.network;
    return try_listen(address, network.first_port, network.last_port);
  }

  Result<void> try_listen(const std::string& address, std::uint16_t first, std::uint16_t last) {
    PILOT_TRY(const auto keys, folder.keys("head"));
    PILOT_TRY(const auto allowed, folder.public_keys());
    PILOT_TRY(server, net::ControlServer::listen(
                          loop, address, first, last, keys, {allowed.begin(), allowed.end()},
                          [this](const net::PeerId& peer, const std::string& text) { receive(peer, text); }));
    return ok();
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

  void receive(const net::PeerId& peer, const std::string& text) {
    auto message = codec::decode_message(text);
    if (message.has_error()) {
      log::warning("a message can't be read: {}", message.error().text());
      return send(peer, codec::encode(model::Message{{}, model::Refused{message.error()}}));
    }
    const std::string& id = message.value().id;
    if (!id.empty() && !requests.is_new(id, peer)) {
      if (const auto answer = requests.answer_to(id)) send(peer, *answer);
      return;
    }
    received.push_back({peer, std::move(message).value()});
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

  void send(const net::PeerId& peer, const std::string& text) {
    if (!peer.starts_with(by_mail)) return server->send(peer, text);
    if (auto written = mailbox.answer(peer.substr(by_mail.size()), text); written.has_error())
      log::warning("a client can't be answered: {}", written.error().text());
  }

  void send(const Outgoing& outgoing) {
    const std::string text = codec::encode(outgoing.message);
    if (outgoing.message.id.empty()) return send(outgoing.peer, text);
    for (const auto& peer : requests.answered(outgoing.message.id, text)) send(peer, text);
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
    for (const auto& outgoing : output.messages) send(outgoing);
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
    background.run([this, wanted,
                    request = plugin::request_for(core->state(), wanted.allocation, options.pilot_dir,
                                                  options.agent_program),
                    job = job_of(wanted.allocation)]() -> std::function<void()> {
      const auto result = with_batch_system(request, [&](plugin::BatchAdaptor& system) {
        return system.launch_agent(request, job, wanted.rank);
      });
      if (result.has_error())
        log::warning("the agent of {} can't be started: {}", wanted.node, result.error().text());
      return [this, node = wanted.node, result] { perform(core->launched(node, result)); };
    });
  }

  std::string job_of(const std::string& allocation) const {
    const auto found = core->state().allocations.find(allocation);
    return found == core->state().allocations.end() ? "" : found->second.job_id;
  }

  template <typename Work>
  std::invoke_result_t<Work, plugin::BatchAdaptor&> with_batch_system(
      const plugin::AllocationRequest& request, Work work) {
    PILOT_TRY(auto* const system, registry.batch(request.spec.resource));
    return work(*system);
  }

  void act(const GiveBack& wanted) {
    background.run([this,
                    request = plugin::request_for(core->state(), wanted.allocation, options.pilot_dir,
                                                  options.agent_program),
                    job = job_of(wanted.allocation)]() -> std::function<void()> {
      const auto result = with_batch_system(
          request, [&](plugin::BatchAdaptor& system) { return system.cancel(request, job); });
      return
          [this, allocation = request.allocation, result] { perform(core->given_back(allocation, result)); };
    });
  }

  plugin::AllocationRequest request_for(const std::string& allocation) const {
    return plugin::request_for(core->state(), allocation, options.pilot_dir, options.agent_program);
  }

  void act(const CheckRelease& wanted) {
    struct Question {
      plugin::AllocationRequest request;
      std::string job;
      PartOfAllocation part;
    };
    std::vector<Question> questions;
    for (const auto& part : wanted.parts)
      questions.push_back({request_for(part.allocation), job_of(part.allocation), part});
    background.run([this, questions = std::move(questions)]() -> std::function<void()> {
      std::map<std::string, Error> refused;
      for (const auto& [request, job, part] : questions) {
        const auto answer =
            with_batch_system(request, [&, &request = request, &job = job, &part = part](auto& system) {
              return system.can_release(request, job, part.ranks, part.again);
            });
        if (answer.has_error()) refused.emplace(part.allocation, answer.error());
      }
      return [this, refused] { perform(core->release_checked(refused)); };
    });
  }

  void act(const ReturnNodes& wanted) {
    const auto& part = wanted.part;
    background.run([this, request = request_for(part.allocation), job = job_of(part.allocation),
                    ranks = part.ranks]() -> std::function<void()> {
      const auto result = with_batch_system(
          request, [&](plugin::BatchAdaptor& system) { return system.release(request, job, ranks); });
      return [this, allocation = request.allocation, ranks, result] {
        perform(core->nodes_returned(allocation, ranks, result));
      };
    });
  }

  void act(const GrowBase& wanted) {
    background.run([this, request = request_for(wanted.allocation), wanted]() -> std::function<void()> {
      const auto result = with_batch_system(
          request, [&](plugin::BatchAdaptor& system) { return system.grow(request, wanted.asked); });
      return [this, allocation = wanted.allocation, result] { perform(core->grown(allocation, result)); };
    });
  }

  void act(const AdmitNodes& wanted) {
    auto result = folder.make_node_keys(wanted.first_node, wanted.nodes);
    if (result.has_value()) {
      const auto allowed = folder.public_keys();
      if (allowed.has_value()) {
        server->allow({allowed.value().begin(), allowed.value().end()});
      } else {
        result = allowed.error();
      }
    }
    loop.post([this, result] { perform(core->admitted(result)); });
  }

  // Runs a tool of the framework with the pilot's variables; its last words are the error.
  void run_tool(const std::string& purpose, const model::Command& command,
                std::function<void(const Result<void>&)> tell) {
    constexpr Duration longest = std::chrono::hours(24 * 7);  // the tool has deadlines of its own
    commands.erase(purpose);
    auto completed = complete(command, context());
    if (completed.has_error())
      return loop.post([tell = std::move(tell), error = completed.error()] { tell(error); });
    const auto ended = [this, purpose, told = std::move(tell)](const Result<proc::CommandResult>& result) {
      Result<void> verdict = ok();
      if (result.has_error()) {
        verdict = result.error();
      } else if (!result.value().succeeded()) {
        verdict = make_error(ErrorCode::partial, result.value().complaint(purpose));
      }
      loop.post([this, purpose, told, verdict] {
        commands.erase(purpose);
        told(verdict);
      });
    };
    auto& run = commands.try_emplace(purpose, loop, completed.value(), longest, ended).first->second;
    run.follow([this, purpose](std::string_view line) {
      if (const auto text = progress_sentence(line); !text.empty()) perform(core->progressed(purpose, text));
    });
  }

  // Runs a tool that prints a problem, or none.
  void run_check(const std::string& purpose, const model::Command& command, Duration longest,
                 std::function<void(const Result<std::string>&)> told) {
    commands.erase(purpose);
    const auto tell = [this, purpose, told = std::move(told)](const Result<std::string>& problem) {
      loop.post([this, purpose, told, problem] {
        commands.erase(purpose);
        told(problem);
      });
    };
    const auto completed = complete(command, context());
    if (completed.has_error()) return tell(completed.error());
    commands.try_emplace(purpose, loop, completed.value(), longest,
                         [tell, purpose](const Result<proc::CommandResult>& result) {
                           if (result.has_error()) return tell(result.error());
                           const auto& ran = result.value();
                           if (ran.succeeded()) return tell(problem_of(ran.out));
                           tell(make_error(ErrorCode::failed, ran.complaint(purpose)));
                         });
  }

  void act(const CheckCluster& wanted) {
    run_check("check " + wanted.framework, wanted.command, std::chrono::seconds(15),
              [this, framework = wanted.framework](const auto& problem) {
                perform(core->checked(framework, problem));
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
              [this, framework](const auto& problem) { perform(core->move_checked(framework, problem)); });
  }

  void act(const MoveData& wanted) {
    run_tool("move " + wanted.framework, wanted.command,
             [this, framework = wanted.framework](const auto& result) {
               perform(core->moved(framework, result));
             });
  }

  void act(const RetireNode& wanted) {
    run_tool(fmt::format("retire {} {}", wanted.framework, wanted.node), wanted.command,
             [this, framework = wanted.framework, node = wanted.node](const auto& result) {
               perform(core->retired(framework, node, result));
             });
  }

  void act(const Finish&) {
    // Answers are on their way; a client that asks in this moment gets one, too.
    timer.cancel();
    mail_timer.cancel();
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
