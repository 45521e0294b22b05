#include "pilot/agent/node_agent.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "pilot/agent/background.hpp"
#include "pilot/agent/environment.hpp"
#include "pilot/agent/head_core.hpp"
#include "pilot/agent/head_service.hpp"
#include "pilot/agent/host.hpp"
#include "pilot/agent/node_services.hpp"
#include "pilot/agent/process_sweep.hpp"
#include "pilot/agent/scratch_folder.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/log.hpp"
#include "pilot/net/ports.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/store/event_log.hpp"

namespace pilot::agent {

namespace {

constexpr Duration sweep_limit = std::chrono::seconds(5);
constexpr int looks_until_gone = 2;

// As many as there are, up to what any framework needs: a plan that needs more says so itself.
std::vector<std::uint16_t> find_ports(const NodeOptions& options, const model::NetworkSpec& network,
                                      const std::string& seed) {
  for (const int count : {33, 17, 9, 5, 3, 2, 1}) {
    auto ports = net::find_free_ports(options.address, network.first_port, network.last_port, count, seed);
    if (ports.has_value()) return ports.value();
    log::warning("{}", ports.error().text());
  }
  return {};
}

// What was kept of an earlier run of this agent, or the record of a node that joins.
NodeRecord load_record(const std::filesystem::path& path, const model::PilotState& pilot,
                       const NodeOptions& options, SteadyTime now) {
  if (auto text = read_file(path); text.has_value()) {
    auto record = decode_node_record(text.value());
    if (record.has_value() && record.value().pilot_id == pilot.id) return std::move(record).value();
    log::error("'{}' is not used: {}", path.string(),
               record.has_error() ? record.error().text() : std::string("it is of another pilot"));
  }
  NodeRecord record;
  record.pilot_id = pilot.id;
  record.free_ports = find_ports(options, pilot.spec.network, pilot.id + options.node);
  record.joined_ns = now.time_since_epoch().count();
  record.boot_id = proc::boot_id();
  return record;
}

bool is_gone(const std::filesystem::path& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) != 0 && errno == ENOENT;  // any other error says nothing
}

}  // namespace

struct NodeAgent::Impl {
  EventLoop& loop;
  const Clock& clock;
  NodeOptions options;
  std::function<void(int)> on_end;
  store::PilotFolder folder;
  std::string pilot_id;
  model::NodeInfo info;

  std::optional<NodeServices> services;
  std::optional<HeadLink> link;
  Background background;
  EventLoop::Handle beat_timer, look_timer, deadline;
  std::optional<ProcessSweep> sweep;

  bool registered = false;
  SteadyTime registered_at{}, reported_at{};
  int looks_without_folder = 0;

  // How it ends; see leave().
  bool leaving = false, in_a_hurry = false, services_ended = false;
  bool head_expected_to_end = false;  // by itself, after it has released this node
  bool released_said = false, released_heard = false;
  std::vector<std::string> left;

  Impl(EventLoop& l, const Clock& c, NodeOptions o, std::function<void(int)> f)
      : loop(l),
        clock(c),
        options(std::move(o)),
        on_end(std::move(f)),
        folder(options.pilot_dir),
        background(l) {}

  // --- beginning ----------------------------------------------------------------------------------

  Result<void> begin() {
    PILOT_TRY(const auto pilot, store::load_state(options.pilot_dir));
    pilot_id = pilot.id;
    PILOT_TRY_VOID(take_scratch(options.scratch, pilot.id));
    const auto path = folder.node_file(options.node);
    PILOT_TRY_VOID(make_directory(path.parent_path()));
    services.emplace(
        loop, clock, path, options.node, load_record(path, pilot, options, clock.steady()),
        [this](const std::string& service) { return context_of(service); },
        [this](const model::ServiceReport& report) { send_report(report); });
    describe();
    const std::string keeper = keeper_of_head();
    if (keeper.empty() ? options.keep_head : keeper == options.node) keep_head();
    services->resume();
    link.emplace(
        loop, clock, folder, options.node, options.timing.link, [this] { join(); },
        [this](const model::Message& message) { receive(message); });
    beat_timer = loop.every(options.timing.heartbeat, [this] { beat(); });
    look_timer = loop.every(options.timing.look_around, [this] { look_around(); });
    return ok();
  }

  std::string keeper_of_head() const {
    const auto endpoint = folder.endpoint();
    return endpoint.has_value() ? endpoint.value().node : std::string();
  }

  void keep_head() {
    const auto& ports = services->free_ports();
    services->run_head(head_service(options.agent_program, folder, options.node, options.address,
                                    ports.empty() ? 0 : ports.back()),
                       head_context(folder, pilot_id, options.node), [this] { head_changed(); });
  }

  bool keeps_head() { return services->head() != nullptr && !services->head()->record().at_rest(); }

  ServiceContext context_of(const std::string& service) const {
    ServiceContext context;
    context.environment = service_environment(pilot_id, options.node, service);
    context.directory = options.scratch;
    context.fill_in = [folder = folder](std::string_view text) { return folder.fill_in(text); };
    return context;
  }

  void describe() {
    info.id = options.node;
    info.allocation = options.allocation;
    info.rank = options.rank;
    info.host = host_name();
    info.address = options.address;
    info.rack = options.rack;
    info.cores = options.cores;
    info.memory = options.memory;
    info.scratch = options.scratch;
    info.free_ports = services->free_ports();
    // The last one is kept for the head, in case it runs here.
    if (!info.free_ports.empty()) info.free_ports.pop_back();
    info.agent = proc::identify(::getpid()).value_or(model::ProcessIdentity{});
    info.version = PILOT_VERSION;
  }

  // --- talking to the head ------------------------------------------------------------------------

  void join() {
    // Reports first: when the head compares what runs with its log, it has what led there.
    for (const auto& report : services->unacknowledged()) link->send(report);
    link->send(model::RegisterNode{info, services->changes(), services->age(), clock.wall()});
    registered_at = reported_at = clock.steady();
  }

  void beat() {
    if (!link->connected() || released_heard) return;
    const SteadyTime now = clock.steady();
    const bool silent = link->silent();
    if (silent && released_said && !head_expected_to_end) return end_head();  // there is nobody to tell
    if (silent) registered = false;
    if (!registered) {
      if (now - registered_at >= (silent ? options.timing.repeat_into_silence : options.timing.heartbeat))
        join();
      return;
    }
    link->send(model::Heartbeat{options.node});
    if (released_said) link->send(model::NodeReleased{options.node, left});
    if (services->unacknowledged().empty() || now - reported_at < options.timing.repeat) return;
    for (const auto& report : services->unacknowledged()) link->send(report);
    reported_at = now;
  }

  void send_report(const model::ServiceReport& report) {
    reported_at = clock.steady();
    if (link) link->send(report);
  }

  void receive(const model::Message& message) {
    if (const auto* accepted = std::get_if<model::NodeAccepted>(&message.body)) {
      registered = true;
      services->stop_all_but(accepted->services);
    } else if (std::holds_alternative<model::RegisterAgain>(message.body)) {
      registered = false;
      join();
    } else if (const auto* refused = std::get_if<model::Refused>(&message.body)) {
      if (!registered) leave(refused->error.text());
    } else if (const auto* stored = std::get_if<model::ReportsStored>(&message.body)) {
      services->acknowledge(stored->number);
    } else if (const auto* start = std::get_if<model::StartServices>(&message.body)) {
      if (!leaving) services->start(start->services);
    } else if (const auto* stop = std::get_if<model::StopServices>(&message.body)) {
      services->stop(stop->services);
    } else if (std::holds_alternative<model::ReleaseNode>(message.body)) {
      head_expected_to_end = true;
      leave("the head agent has released this node");
    } else if (std::holds_alternative<model::Accepted>(message.body) && released_said && !released_heard) {
      released_heard = true;
      loop.post([this] { end_head(); });
    }
  }

  // --- looking around -----------------------------------------------------------------------------

  void look_around() {
    if (leaving) return;
    looks_without_folder = is_gone(options.pilot_dir) ? looks_without_folder + 1 : 0;
    if (looks_without_folder >= looks_until_gone) return leave("the pilot's folder is gone");
    if (!link->silent()) return;
    // Nobody answers: has the pilot come to its end without us?
    const auto pilot = store::load_state(options.pilot_dir);
    if (pilot.has_error()) return;
    if (is_done(pilot.value())) return leave("the pilot has ended");
    if (!keeps_head()) succeed(pilot.value());
  }

  // The event log has one writer, so a head that lives after all, or one that is started elsewhere at the
  // same time, keeps ours from doing anything.
  void succeed(const model::PilotState& pilot) {
    const std::string keeper = keeper_of_head();
    const auto patience = patience_of(pilot, keeper, options.node, options.timing.succession);
    if (!patience || link->silence() < *patience) return;
    log::warning("nothing was heard of the head agent{} for {}; starting one here",
                 keeper.empty() ? "" : " on " + keeper, format_duration(link->silence()));
    keep_head();
  }

  void head_changed() {
    if (services->head() == nullptr || !services->head()->record().at_rest()) return;
    loop.post([this] { head_ended(); });
  }

  // It had nothing more to do, or we have stopped it.
  void head_ended() {
    if (leaving) {
      if (released_said) finish();
      return;
    }
    const auto pilot = store::load_state(options.pilot_dir);
    if (pilot.has_value() && is_done(pilot.value())) leave("the pilot has ended");
  }

  // --- leaving: services, then whatever else runs, the scratch folder, the head, ourselves ---------

  void leave(const std::string& reason) {
    if (leaving) {
      // Asked again by a head that did not hear the answer.
      if (released_said && !released_heard) link->send(model::NodeReleased{options.node, left});
      return;
    }
    leaving = true;
    log::info("leaving: {}", reason);
    services->stop_all([this] { sweep_node(); });
  }

  void leave_now(const std::string& reason) {
    if (in_a_hurry) return;
    in_a_hurry = true;
    log::info("leaving at once: {}", reason);
    if (released_said)
      return end_head();  // nothing else is left, and its back-off may be longer than our time
    if (!leaving || !services_ended) services->end_all([this] { sweep_node(); });
    leaving = true;
  }

  void sweep_node() {
    services_ended = true;
    const model::ProcessIdentity head =
        services->head() ? services->head()->record().process : model::ProcessIdentity{};
    sweep.emplace(
        loop, clock, node_environment(pilot_id, options.node), sweep_limit,
        [this](const std::vector<model::ProcessIdentity>& processes) {
          for (const auto& process : processes) left.push_back(fmt::format("process {}", process.pid));
          loop.post([this] { clean_scratch(); });
        },
        head);
  }

  void clean_scratch() {
    sweep.reset();
    background.run([this, scratch = options.scratch, id = pilot_id]() -> std::function<void()> {
      return [this, removed = remove_scratch(scratch, id)] {
        if (removed.has_error()) left.push_back(removed.error().message);
        say_released();
      };
    });
  }

  void say_released() {
    for (const auto& what : left) log::error("left: {}", what);
    released_said = true;
    if (!link->connected() || link->silent()) return end_head();
    link->send(model::NodeReleased{options.node, left});
    if (in_a_hurry) return end_head();
    deadline = loop.after(options.timing.acknowledge, [this] { end_head(); });
  }

  void end_head() {
    deadline.cancel();
    ServiceRunner* head = services->head();
    if (head == nullptr || head->record().at_rest()) return finish();
    if (!head_expected_to_end || in_a_hurry) return head->stop();  // head_changed() goes on
    deadline = loop.after(options.timing.head_end, [this] {
      log::warning("the head agent does not end; stopping it");
      services->head()->stop();
    });
  }

  void finish() {
    deadline.cancel();
    if (!on_end) return;
    services->remove_record();
    log::info("left");
    std::exchange(on_end, nullptr)(left.empty() ? 0 : 1);
  }
};

NodeAgent::NodeAgent(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NodeAgent::~NodeAgent() = default;

Result<std::unique_ptr<NodeAgent>> NodeAgent::begin(EventLoop& loop, const Clock& clock, NodeOptions options,
                                                    std::function<void(int)> on_end) {
  std::unique_ptr<NodeAgent> agent(
      new NodeAgent(std::make_unique<Impl>(loop, clock, std::move(options), std::move(on_end))));
  PILOT_TRY_VOID(agent->impl_->begin());
  return agent;
}

void NodeAgent::shut_down(const std::string& reason) {
  impl_->leave(reason);
}
void NodeAgent::end_now(const std::string& reason) {
  impl_->leave_now(reason);
}

}  // namespace pilot::agent
