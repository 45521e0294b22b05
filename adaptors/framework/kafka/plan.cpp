#include "adaptors/framework/kafka/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "adaptors/framework/kafka/kraft_format.hpp"
#include "adaptors/framework/kafka/server_properties.hpp"
#include "pilot/base/contains.hpp"

namespace pilot::adaptors::kafka {

namespace {

using namespace std::chrono_literals;

std::string detail(const plugin::Software& software, const std::string& key) {
  const auto found = software.details.find(key);
  return found == software.details.end() ? "" : found->second;
}

// A controller has little to do and shall start quickly: the first compiler only, and the simplest
// collector.  A broker gets both compilers; the second starts later than by default, because while it
// starts it has better use for the cores (measured: 2.0 s of CPU time instead of 2.5 to be ready).  On few
// cores it gets the first one only: whenever something new happens, as a move of partitions, the second one
// takes a core for seconds, which producers felt as seconds (tests/bench/elastic/move_bench, p99 on 2 cores:
// 353 ms with it at low priority, 42 ms without), and 80 MB/s of small messages are carried either way.
std::vector<std::string> jvm_flags(const Server& server, bool broker) {
  const auto heap = server.heap.count >> 20;
  std::vector<std::string> flags{fmt::format("-Xms{}m", heap), fmt::format("-Xmx{}m", heap),
                                 fmt::format("-XX:ActiveProcessorCount={}", server.cores)};
  if (broker) {
    flags.insert(flags.end(),
                 {"-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35"});
  } else {
    flags.emplace_back("-XX:+UseSerialGC");
  }
  if (broker && !server.few_cores()) {
    flags.insert(flags.end(), {"-XX:Tier4InvocationThreshold=20000", "-XX:Tier4MinInvocationThreshold=2400",
                               "-XX:Tier4CompileThreshold=60000", "-XX:Tier4BackEdgeThreshold=160000"});
  } else {
    flags.emplace_back("-XX:TieredStopAtLevel=1");
  }
  // Nothing may stay behind outside the folder: no /tmp/hsperfdata, no unpacked libraries, no dumps.
  flags.insert(flags.end(), {"-XX:-UsePerfData", "-XX:+ExitOnOutOfMemoryError", "-Djava.awt.headless=true",
                             fmt::format("-Djava.io.tmpdir={}/tmp", server.folder),
                             fmt::format("-XX:ErrorFile={}/hs_err_%p.log", server.folder)});
  return flags;
}

model::Command java(const plugin::PlanInput& input, const Server& server, std::vector<std::string> flags,
                    const std::vector<std::string>& program) {
  model::Command command;
  command.argv = {input.software.java.string()};
  command.argv.insert(command.argv.end(), flags.begin(), flags.end());
  command.argv.push_back(fmt::format("-Dlog4j2.configurationFile={}/log4j2.properties", server.folder));
  const auto classpath = detail(input.software, "classpath");
  command.argv.insert(command.argv.end(),
                      {"-cp", classpath.empty() ? (input.software.home / "libs" / "*").string() : classpath});
  command.argv.insert(command.argv.end(), program.begin(), program.end());
  command.directory = server.folder;
  return command;
}

model::Command server_command(const plugin::PlanInput& input, const Server& server, bool broker) {
  auto flags = jvm_flags(server, broker);
  if (const auto archive = detail(input.software, broker ? "cds.broker" : "cds.controller");
      !archive.empty()) {
    // An archive that does not fit the JVM of a node is left aside; that is not worth a line in the log.
    flags.insert(flags.end(), {"-XX:SharedArchiveFile=" + archive, "-Xshare:auto", "-Xlog:cds=off",
                               "-Xlog:cds+dynamic=off"});
  }
  return java(input, server, std::move(flags), {"kafka.Kafka", server.folder + "/server.properties"});
}

std::string tool(const plugin::PlanInput& input) {
  return (input.tools_folder / "pilot-kafka").string();
}

model::PrepareStep format_natively(const plugin::PlanInput& input, const Cluster& cluster,
                                   const Server& server, bool broker) {
  model::PrepareStep step;
  step.command.argv = {tool(input),    "format",  "--config", server.folder + "/server.properties",
                       "--cluster-id", cluster.id};
  std::vector<std::string> voters;
  for (const auto& controller : cluster.placement.controllers)
    if (!controller.joins) voters.push_back(fmt::format("{}@{}", controller.id, controller.endpoint()));
  auto& argv = step.command.argv;
  if (!broker) argv.insert(argv.end(), {"--template", detail(input.software, "template")});
  if ((!broker && !server.joins) || server.reopened)
    argv.insert(argv.end(), {"--voters", fmt::format("{}", fmt::join(voters, ","))});
  step.command.directory = server.folder;
  if (server.reopened) {
    argv.emplace_back("--existing");  // the quorum that it holds has other addresses now
  } else {
    step.unless_exists = data_folders(cluster, server).back() + "/meta.properties";
  }
  return step;
}

// For a Kafka that we did not install there is no template: its own tool knows the features it has.
model::PrepareStep format_by_storage_tool(const plugin::PlanInput& input, const Cluster& cluster,
                                          const Server& server) {
  std::vector<std::string> voters;
  for (const auto& controller : cluster.placement.controllers) {
    if (controller.joins) continue;
    voters.push_back(fmt::format("{}@{}:{}", controller.id, controller.endpoint(),
                                 to_string(directory_uuid(cluster.id, controller.id))));
  }
  model::PrepareStep step;
  step.command = java(input, server,
                      {"-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
                       fmt::format("-Djava.io.tmpdir={}/tmp", server.folder)},
                      {"kafka.tools.StorageTool", "format", "--cluster-id", cluster.id, "--config",
                       server.folder + "/server.properties"});
  auto& argv = step.command.argv;
  if (server.joins) {
    argv.emplace_back("--no-initial-controllers");
  } else {
    argv.insert(argv.end(), {"--initial-controllers", fmt::format("{}", fmt::join(voters, ","))});
  }
  step.unless_exists = data_folders(cluster, server).back() + "/meta.properties";
  return step;
}

// It is there for the others once it votes.
model::CommandProbe voter_probe(const plugin::PlanInput& input, const std::string& config,
                                const Server& controller) {
  model::CommandProbe probe;
  probe.command.argv = {tool(input), "voter", "--config", config, "--id", fmt::format("{}", controller.id),
                        "--timeout", "5s"};
  probe.timeout = 8s;
  return probe;
}

// `expected`: the brokers that must be seen.
model::CommandProbe ready_probe(const plugin::PlanInput& input, const std::string& config,
                                const Server& broker, const std::vector<int>& expected) {
  model::CommandProbe probe;
  // It tries again by itself every few milliseconds, which finds the moment sooner than starting it anew.
  probe.command.argv = {tool(input), "ready",
                        "--config",  config,
                        "--broker",  broker.endpoint(),
                        "--id",      fmt::format("{}", broker.id),
                        "--expect",  fmt::format("{}", fmt::join(expected, ",")),
                        "--timeout", "5s"};
  probe.timeout = 8s;
  return probe;
}

model::ServiceSpec service(const plugin::PlanInput& input, const Cluster& cluster, const Server& server,
                           bool broker) {
  model::ServiceSpec spec;
  spec.id = "kafka/" + server.name;
  spec.role = broker ? "broker" : "controller";
  spec.node = server.node;
  spec.stage = broker ? 1 : 0;
  spec.late = server.joins;
  spec.early = broker;  // its JVM starts while the controller's does; it asks again until that one listens
  spec.command = server_command(input, server, broker);
  spec.directories = data_folders(cluster, server);
  spec.directories.insert(spec.directories.begin(), server.folder);
  spec.directories.push_back(server.folder + "/tmp");
  spec.files = tls_files(cluster, server);
  spec.files.push_back({server.folder + "/log4j2.properties", std::string(log4j2_properties()), 0600});
  spec.files.push_back({server.folder + "/server.properties",
                        broker ? broker_properties(cluster, server) : controller_properties(cluster, server),
                        0600});
  const bool native = broker || server.reopened || !detail(input.software, "template").empty();
  spec.prepare = {native ? format_natively(input, cluster, server, broker)
                         : format_by_storage_tool(input, cluster, server)};
  spec.ports = {{broker ? "client" : "controller", server.port}};
  spec.log = (input.log_folder / (spec.id + ".log")).string();
  // It votes once most of the others are there, which may have to wait for a node.
  spec.ready.deadline = server.joins ? Duration(24h) : input.spec.ready_timeout;
  // Stopped all at once, the last of several looks for a successor in vain, 5 s long (fixed in Kafka); what
  // it knows is written and synced.
  if (!broker && cluster.placement.controllers.size() > 1) spec.stop.grace = 2s;
  const auto probe_config = server.folder + "/probe.properties";
  if (broker || server.joins)
    spec.files.push_back({probe_config, librdkafka_properties(cluster, server.folder + "/ca.pem"), 0600});
  if (broker) {
    // Seen once in some hundred starts: it never hears of a controller, and does so when it is started again.
    // One that opens old data may have to recover them.
    if (!server.reopened) spec.ready.first_deadline = input.spec.ready_timeout / 3;
    spec.ready.probe = ready_probe(input, probe_config, server, {server.id});
  } else if (server.joins) {
    spec.ready.probe = voter_probe(input, probe_config, server);
  } else {
    spec.ready.probe = model::TcpProbe{server.address, server.port};
    spec.ready.interval = 20ms;
  }
  return spec;
}

const model::ServiceSpec* current_spec(const plugin::PlanInput& input, const std::string& id) {
  if (!input.current) return nullptr;
  const auto found = std::ranges::find(input.current->services, id, &model::ServiceSpec::id);
  return found == input.current->services.end() ? nullptr : &*found;
}

// All brokers of a new cluster.  Of one that changes those that come, by way of the newest: an older one may
// be down for good.
model::CommandProbe cluster_probe(const plugin::PlanInput& input, const std::string& config,
                                  const Placement& placement) {
  const Server* asked = &placement.brokers.front();
  std::vector<int> expected;
  for (const auto& broker : placement.brokers) {
    if (contains(input.draining, broker.node)) continue;
    if (input.current) asked = &broker;
    if (current_spec(input, "kafka/" + broker.name) == nullptr) expected.push_back(broker.id);
  }
  if (expected.empty()) expected.push_back(asked->id);
  return ready_probe(input, config, *asked, expected);
}

std::map<std::string, std::uint16_t> ports_in_use(const plugin::PlanInput& input) {
  std::map<std::string, std::uint16_t> ports;
  if (input.current)
    for (const auto& spec : input.current->services) ports[spec.id] = spec.ports.begin()->second;
  return ports;
}

// Of controllers that may come and go: how many vote, how many of these leave, and how many there are then.
struct Quorum {
  int voters = 0;
  int leave = 0;
  int stay = 0;

  // Those that stay have to agree.
  bool may_leave() const { return 2 * (voters - leave) > voters; }
};

Quorum quorum_of(const plugin::PlanInput& input, const Placement& placement) {
  Quorum votes;
  for (const auto& controller : placement.controllers) {
    const bool leaves = contains(input.draining, controller.node);
    votes.voters += current_spec(input, "kafka/" + controller.name) != nullptr ? 1 : 0;
    (leaves ? votes.leave : votes.stay) += 1;
  }
  return votes;
}

// Whoever began a quorum that stays as it is can't leave, and two that are left can't do without one.
bool is_bound(const plugin::PlanInput& input, const Placement& placement, const Server& controller) {
  if (!placement.joining) return true;
  const auto votes = quorum_of(input, placement);
  return contains(input.draining, controller.node) ? !votes.may_leave() : votes.stay < 3;
}

// Nodes that are lost are planned without: their controllers stay voters.
Result<void> check_quorum(const plugin::PlanInput& input, const Placement& placement) {
  const auto votes = quorum_of(input, placement);
  if (input.as_far_as_possible || votes.leave == 0 || votes.may_leave()) return ok();
  return make_error(
      ErrorCode::usage,
      fmt::format("{} of Kafka's {} controllers can't leave at once", votes.leave, votes.voters),
      "one node after the other");
}

// What runs stays as it is, to the letter, but for whether it may leave; only new servers are planned.
model::ServiceSpec kept_or_new(const plugin::PlanInput& input, const Cluster& cluster, const Server& server,
                               bool broker) {
  const auto* kept = current_spec(input, "kafka/" + server.name);
  auto spec = kept != nullptr ? *kept : service(input, cluster, server, broker);
  spec.bound = !broker && is_bound(input, cluster.placement, server);
  return spec;
}

void add_retired(model::ResizePlan& resize, const plugin::PlanInput& input, const std::string& client_config,
                 const char* role, const Server& server) {
  auto& argv = resize.retire[server.node].argv;
  if (argv.empty()) argv = {tool(input), "unregister", "--config", client_config};
  argv.insert(argv.end(), {role, std::to_string(server.id)});
}

// Partitions move onto new brokers and away from those of draining nodes, whose ids the cluster then
// forgets.
std::optional<model::ResizePlan> plan_resize(const plugin::PlanInput& input, const Placement& placement,
                                             const std::string& client_config, Duration patience) {
  if (!input.current) return std::nullopt;
  model::ResizePlan resize;
  resize.draining = input.draining;
  std::vector<int> keep, drain;
  bool grows = false;
  for (const auto& broker : placement.brokers) {
    const bool drains = contains(input.draining, broker.node);
    (drains ? drain : keep).push_back(broker.id);
    grows = grows || current_spec(input, "kafka/" + broker.name) == nullptr;
    if (drains) add_retired(resize, input, client_config, "--broker", broker);
  }
  std::vector<int> leave;
  for (const auto& controller : placement.controllers) {
    if (!contains(input.draining, controller.node) || is_bound(input, placement, controller)) continue;
    leave.push_back(controller.id);
    add_retired(resize, input, client_config, "--controller", controller);
  }
  if ((grows && input.move) || !drain.empty()) {
    resize.move.emplace().argv = {tool(input),
                                  "rebalance",
                                  "--config",
                                  client_config,
                                  "--json",
                                  "--timeout",
                                  format_duration(patience),
                                  "--keep",
                                  fmt::format("{}", fmt::join(keep, ","))};
    if (!input.throttle.empty()) {
      resize.move->argv.push_back("--throttle");
      resize.move->argv.push_back(input.throttle);
    }
    if (!drain.empty()) {
      resize.move->argv.push_back("--drain");
      resize.move->argv.push_back(fmt::format("{}", fmt::join(drain, ",")));
      if (input.as_far_as_possible) resize.move->argv.emplace_back("--as-far-as-possible");
      resize.check = resize.move;
      resize.check->argv.push_back("--check");
      if (!leave.empty())
        resize.check->argv.insert(resize.check->argv.end(),
                                  {"--leave", fmt::format("{}", fmt::join(leave, ","))});
    }
  }
  if (!leave.empty() && drain.empty())  // a controller without a broker beside it
    resize.check.emplace().argv = {tool(input),
                                   "rebalance",
                                   "--config",
                                   client_config,
                                   "--json",
                                   "--keep",
                                   fmt::format("{}", fmt::join(keep, ",")),
                                   "--check",
                                   "--leave",
                                   fmt::format("{}", fmt::join(leave, ","))};
  if (!resize.move && resize.retire.empty() && resize.draining.empty() && !grows) return std::nullopt;
  return resize;
}

// Brokers that are drained hold nothing; their ids are never used again.
std::map<std::string, std::string> keeps(const Cluster& cluster, const std::vector<int>& brokers,
                                         const std::optional<Reopened>& reopened,
                                         const plugin::PlanInput& input) {
  Reopened kept{cluster.id, {}, brokers, reopened ? reopened->highest : 0};
  for (const auto& controller : cluster.placement.controllers) kept.controllers.push_back(controller.id);
  for (const auto& broker : cluster.placement.brokers) kept.highest = std::max(kept.highest, broker.id);
  if (input.current) {
    const auto before = parse_reopened(input.current->keeps);
    if (before.has_value() && before.value()) kept.highest = std::max(kept.highest, before.value()->highest);
  }
  return to_kept(kept);
}

}  // namespace

Result<model::ClusterPlan> plan_cluster(const plugin::PlanInput& input) {
  Cluster cluster;
  PILOT_TRY(cluster.options, parse_options(input.framework));
  PILOT_TRY(const auto reopened, parse_reopened(input.framework.reopen));
  cluster.id = reopened ? reopened->cluster : cluster_id(input.pilot_id);
  cluster.encrypt = input.spec.encrypt;
  cluster.version = input.software.version;
  const bool join = cluster.is_at_least(4, 2);  // KIP-1186: before it, who joins has to be added by hand
  PILOT_TRY(cluster.placement,
            place(cluster.options, input.nodes, {ports_in_use(input), input.draining, reopened}, join));
  PILOT_TRY_VOID(check_quorum(input, cluster.placement));

  model::ClusterPlan plan;
  plan.framework = "kafka";
  plan.version = input.software.version;
  for (const auto& controller : cluster.placement.controllers)
    plan.services.push_back(kept_or_new(input, cluster, controller, false));
  std::vector<int> ids;
  for (const auto& broker : cluster.placement.brokers) {
    plan.services.push_back(kept_or_new(input, cluster, broker, true));
    if (std::ranges::find(input.draining, broker.node) == input.draining.end()) ids.push_back(broker.id);
  }

  const auto in_client_folder = [&](const char* name) { return (input.client_folder / name).string(); };
  const auto ca = in_client_folder("ca.pem");
  const auto librdkafka = in_client_folder("client.librdkafka.properties");
  const auto for_java = in_client_folder("client.properties");
  if (cluster.encrypt) plan.client_files.push_back({ca, "${tls:ca}", 0600});
  plan.client_files.push_back({librdkafka, librdkafka_properties(cluster, ca), 0600});
  plan.client_files.push_back({for_java, java_client_properties(cluster, ca), 0600});
  plan.ready.probe = cluster_probe(input, librdkafka, cluster.placement);
  plan.ready.deadline = input.spec.ready_timeout;
  plan.resize = plan_resize(input, cluster.placement, librdkafka, cluster.options.move_patience);
  plan.health.emplace().argv = {tool(input), "health", "--config", librdkafka};
  if (cluster.placement.joining && cluster.placement.controllers.size() > 1) {
    std::vector<int> controllers;
    for (const auto& controller : cluster.placement.controllers) controllers.push_back(controller.id);
    plan.health->argv.insert(plan.health->argv.end(),
                             {"--controllers", fmt::format("{}", fmt::join(controllers, ","))});
  }
  if (!cluster.options.data.empty()) plan.keeps = keeps(cluster, ids, reopened, input);
  plan.exports = {{"KAFKA_BOOTSTRAP_SERVERS", cluster.bootstrap_servers()},
                  {"KAFKA_CLIENT_PROPERTIES", for_java},
                  {"PILOT_KAFKA_CONFIG", librdkafka}};
  return plan;
}

}  // namespace pilot::adaptors::kafka
