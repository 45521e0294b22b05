#include "adaptors/batch/local/local_adaptor.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "adaptors/batch/local/addresses.hpp"
#include "adaptors/batch/local/allocation_record.hpp"
#include "adaptors/batch/local/machine.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/file_lock.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/proc/process.hpp"

namespace pilot::adaptors::local {
namespace {

using plugin::AllocationRequest;

constexpr int most_nodes = 64;  // processes of one machine, not a cluster
constexpr auto agent_grace = std::chrono::seconds(5);

std::string job_id_of(const AllocationRequest& request) {
  return fmt::format("local-{}-{}", request.pilot_id.substr(0, 12), request.allocation);
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

std::string node_name(const AllocationRequest& request, const NodeRecord& node) {
  return fmt::format("node-{}", request.first_node + node.rank);
}

// The one node of a laptop's pilot is plain 127.0.0.1; more of them, and those that come later, are told
// apart by their addresses.
bool has_own_addresses(const AllocationRequest& request) {
  return request.nodes > 1 || request.first_node > 1;
}

AllocationRecord plan_nodes(const AllocationRequest& request, const std::vector<std::string>& addresses) {
  AllocationRecord record;
  record.job_id = job_id_of(request);
  record.host = host_name();
  record.boot_id = proc::boot_id();
  record.scratch = scratch_root(request.spec, request.pilot_id);
  if (request.first_node > 1) record.scratch += "-" + request.allocation;
  const auto now = system_clock().wall().time_since_epoch();
  record.submitted_s = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  const NodeShare share = share_of(this_machine(), request.spec);
  for (int rank = 0; rank < request.nodes; ++rank) {
    NodeRecord node{rank,
                    addresses[static_cast<std::size_t>(rank)],
                    has_own_addresses(request),
                    share.cores,
                    share.memory,
                    "",
                    {},
                    false};
    node.scratch = record.scratch + "/" + node_name(request, node);
    record.nodes.push_back(std::move(node));
  }
  return record;
}

model::Command agent_command(const AllocationRequest& request, const NodeRecord& node, int reservation_fd) {
  model::Command command;
  command.argv = {request.agent_program.string(),
                  "node",
                  "--pilot-dir",
                  request.pilot_dir.string(),
                  "--allocation",
                  request.allocation,
                  "--rank",
                  std::to_string(node.rank),
                  "--node",
                  node_name(request, node),
                  "--address",
                  node.address,
                  "--cores",
                  std::to_string(node.cores),
                  "--memory",
                  std::to_string(node.memory.count),
                  "--scratch",
                  node.scratch};
  if (reservation_fd >= 0) {
    command.argv.emplace_back("--reservation-fd");
    command.argv.push_back(std::to_string(reservation_fd));
  }
  command.env["PILOT_AGENT_OF"] = request.pilot_id;
  command.directory = "/";
  return command;
}

Result<model::ProcessIdentity> start_agent(const AllocationRequest& request, const NodeRecord& node,
                                           int reservation_fd) {
  proc::SpawnOptions options;
  options.output = request.pilot_dir / "logs" / (node_name(request, node) + ".log");
  if (reservation_fd >= 0) options.inherit.push_back(reservation_fd);
  return proc::spawn(agent_command(request, node, reservation_fd), options);
}

// Made by us and nobody else: another user could have put a folder of this name into /tmp.
Result<void> make_scratch(const AllocationRecord& record) {
  const std::filesystem::path root = record.scratch;
  std::error_code problem;
  std::filesystem::create_directories(root.parent_path(), problem);
  if (mkdir(root.c_str(), 0700) != 0)
    return errno_error(fmt::format("cannot make the scratch folder '{}'", root.string()), errno);
  for (const NodeRecord& node : record.nodes) PILOT_TRY_VOID(make_directory(node.scratch, 0700));
  return ok();
}

// Waits for agents that were told to end; true when all are gone.
bool wait_until_gone(const AllocationRecord& record, Duration longest) {
  const Deadline deadline(system_clock(), longest);
  for (;;) {
    bool gone = true;
    for (const NodeRecord& node : record.nodes) gone = gone && !proc::is_alive(node.agent);
    if (gone || deadline.passed()) return gone;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void signal_agents(const AllocationRecord& record, int signal) {
  for (const NodeRecord& node : record.nodes)
    if (node.agent) proc::send_signal(node.agent, signal);
}

void end_agents(const AllocationRecord& record) {
  signal_agents(record, SIGTERM);
  if (wait_until_gone(record, agent_grace)) return;
  signal_agents(record, SIGKILL);
  wait_until_gone(record, agent_grace);
}

Result<void> start_agents(const AllocationRequest& request, AllocationRecord& record,
                          const std::vector<Reservation>& reservations) {
  for (NodeRecord& node : record.nodes) {
    const auto rank = static_cast<std::size_t>(node.rank);
    const int fd = rank < reservations.size() ? reservations[rank].fd() : -1;
    PILOT_TRY(node.agent, start_agent(request, node, fd));
  }
  return ok();
}

std::string count_of_agents(const AllocationRecord& record) {
  std::size_t alive = 0, all = 0;
  for (const NodeRecord& node : record.nodes) {
    if (node.given_back) continue;
    ++all;
    alive += proc::is_alive(node.agent) ? 1u : 0u;
  }
  return alive == all ? "" : fmt::format("{} of {} agents run", alive, all);
}

plugin::AllocationStatus status_of(const AllocationRequest& request, const std::string& job_id) {
  plugin::AllocationStatus status;
  status.job_id = job_id;
  const auto record = read_record(record_path(request.pilot_dir, request.allocation));
  if (!record.has_value() || record.value().job_id != job_id) {
    status.reason = record.has_value() ? "another job" : record.error().message;
  } else if (record.value().cancelled) {
    status.phase = model::AllocationPhase::ended;
    status.reason = "cancelled";
  } else if (record.value().boot_id != proc::boot_id() && record.value().host != host_name()) {
    status.reason = fmt::format("it was started on the machine {}", record.value().host);  // shared home
  } else if (record.value().boot_id != proc::boot_id()) {
    status.phase = model::AllocationPhase::ended;
    status.reason = "the machine was rebooted";
  } else {
    status.phase = model::AllocationPhase::running;
    status.reason = count_of_agents(record.value());
    if (request.spec.walltime)
      status.ends_at = WallTime{std::chrono::seconds(record.value().submitted_s)} + *request.spec.walltime;
  }
  return status;
}

}  // namespace

Result<void> LocalAdaptor::check(const model::PilotSpec& spec) const {
  if (spec.nodes > most_nodes)
    return make_error(ErrorCode::usage, fmt::format("nodes is {}, but the resource 'local' plays at most {}",
                                                    spec.nodes, most_nodes));
  PILOT_TRY(const Subnet subnet, Subnet::parse(spec.network.subnet));
  if (spec.nodes > 1 && subnet.candidates("").size() < static_cast<std::size_t>(spec.nodes))
    return make_error(ErrorCode::usage,
                      fmt::format("network.subnet '{}' has {} addresses for {} nodes", spec.network.subnet,
                                  subnet.candidates("").size(), spec.nodes));
  const Machine machine = this_machine();
  const Bytes wanted{spec.memory_per_node.count * static_cast<std::uint64_t>(spec.nodes)};
  if (wanted > machine.memory)
    return make_error(
        ErrorCode::usage,
        fmt::format("{} nodes of {} want {}, but this machine has {}", spec.nodes,
                    format_bytes(spec.memory_per_node), format_bytes(wanted), format_bytes(machine.memory)),
        "less for node.memory, or fewer nodes");
  return ok();
}

Result<std::vector<std::string>> LocalAdaptor::validate(const AllocationRequest& request) {
  PILOT_TRY_VOID(check(request.spec));
  const Machine machine = this_machine();
  return std::vector<std::string>{fmt::format("this machine has {} cores and {} for {} node{}", machine.cores,
                                              format_bytes(machine.memory), request.nodes,
                                              request.nodes == 1 ? "" : "s")};
}

Result<std::string> LocalAdaptor::render(const AllocationRequest& request) const {
  std::vector<std::string> addresses{"127.0.0.1"};
  if (has_own_addresses(request)) {
    PILOT_TRY(const Subnet subnet, Subnet::parse(request.spec.network.subnet));
    addresses = subnet.candidates(request.pilot_id);
  }
  std::string text =
      "# resource 'local': started detached on this machine; addresses that are taken are skipped\n";
  for (const NodeRecord& node : plan_nodes(request, addresses).nodes)
    text += fmt::format("{}\n", fmt::join(agent_command(request, node, -1).argv, " "));
  return text;
}

// A lock of the record: one process at a time changes it and starts its agents.
Result<std::string> LocalAdaptor::submit(const AllocationRequest& request) {
  PILOT_TRY_VOID(check(request.spec));
  std::vector<std::string> addresses{"127.0.0.1"};
  std::vector<Reservation> reservations;
  if (has_own_addresses(request)) {
    PILOT_TRY(const Subnet subnet, Subnet::parse(request.spec.network.subnet));
    PILOT_TRY(reservations, reserve_addresses(subnet, request.pilot_id, request.nodes));
    addresses.clear();
    for (const Reservation& reservation : reservations) addresses.push_back(reservation.address());
  }
  AllocationRecord record = plan_nodes(request, addresses);
  const auto path = record_path(request.pilot_dir, request.allocation);
  PILOT_TRY_VOID(make_directory(request.pilot_dir / "logs"));
  PILOT_TRY_VOID(write_record(path, record));
  const FileLock lock(path);
  PILOT_TRY_VOID(make_scratch(record));
  auto started = start_agents(request, record, reservations);
  if (started.has_value()) started = write_record(path, record);
  if (started.has_value()) return record.job_id;
  end_agents(record);
  (void)remove_tree(record.scratch);
  return started.error().while_doing("starting the node agents");
}

Result<std::string> LocalAdaptor::job_of(const AllocationRequest& request) {
  const auto record = read_record(record_path(request.pilot_dir, request.allocation));
  if (record.has_value()) return record.value().cancelled ? std::string() : record.value().job_id;
  if (record.error().code == ErrorCode::not_found) return std::string();
  return record.error();
}

Result<std::vector<plugin::AllocationStatus>> LocalAdaptor::poll(const AllocationRequest& request,
                                                                 const std::vector<std::string>& job_ids) {
  std::vector<plugin::AllocationStatus> statuses;
  for (const std::string& job_id : job_ids) statuses.push_back(status_of(request, job_id));
  return statuses;
}

Result<void> LocalAdaptor::cancel(const AllocationRequest& request, const std::string&) {
  const auto path = record_path(request.pilot_dir, request.allocation);
  const FileLock lock(path);
  auto found = read_record(path);
  if (!found.has_value()) {
    if (found.error().code == ErrorCode::not_found) return ok();
    return found.error();
  }
  AllocationRecord record = std::move(found).value();
  if (record.boot_id != proc::boot_id() && record.host != host_name())
    return make_error(ErrorCode::unavailable, fmt::format("it was started on the machine {}", record.host),
                      "stop it there");
  record.cancelled = true;  // before the agents end: whoever looks now must not start them again
  PILOT_TRY_VOID(write_record(path, record));
  end_agents(record);
  return remove_tree(record.scratch);
}

Result<void> LocalAdaptor::can_release(const AllocationRequest&, const std::string&, const std::vector<int>&,
                                       bool) {
  return ok();
}

// Its agent has ended and its address is free: what is left to do is not to start it again.
Result<void> LocalAdaptor::release(const AllocationRequest& request, const std::string&,
                                   const std::vector<int>& ranks) {
  const auto path = record_path(request.pilot_dir, request.allocation);
  const FileLock lock(path);
  PILOT_TRY(AllocationRecord record, read_record(path));
  for (const int rank : ranks) {
    if (rank < 0 || rank >= static_cast<int>(record.nodes.size()))
      return make_error(ErrorCode::not_found,
                        fmt::format("allocation {} has no node of rank {}", request.allocation, rank));
    NodeRecord& node = record.nodes[static_cast<std::size_t>(rank)];
    node.given_back = true;
    if (node.agent) proc::send_signal(node.agent, SIGTERM);  // in case that it has not ended yet
  }
  return write_record(path, record);
}

Result<void> LocalAdaptor::can_grow(const AllocationRequest&) {
  return make_error(
      ErrorCode::usage, "the resource 'local' has no job that could grow: all its nodes are this machine",
      "leave --in-place out: 'pilot extend' adds nodes here at once, and they stay until the pilot stops");
}

Result<void> LocalAdaptor::launch_agent(const AllocationRequest& request, const std::string& job_id,
                                        int rank) {
  const auto path = record_path(request.pilot_dir, request.allocation);
  const FileLock lock(path);
  const plugin::AllocationStatus status = status_of(request, job_id);
  if (status.phase == model::AllocationPhase::unknown)
    return make_error(ErrorCode::unavailable, status.reason);
  if (status.phase != model::AllocationPhase::running)
    return make_error(ErrorCode::not_found,
                      fmt::format("allocation {} is over: {}", request.allocation, status.reason));
  PILOT_TRY(AllocationRecord record, read_record(path));
  if (rank < 0 || rank >= static_cast<int>(record.nodes.size()))
    return make_error(ErrorCode::not_found,
                      fmt::format("allocation {} has no node of rank {}", request.allocation, rank));
  NodeRecord& node = record.nodes[static_cast<std::size_t>(rank)];
  if (node.given_back)
    return make_error(ErrorCode::not_found, fmt::format("{} was given back", node_name(request, node)));
  if (proc::is_alive(node.agent)) return ok();
  std::vector<Reservation> reservation;
  if (node.reserved) {
    PILOT_TRY(Reservation again, Reservation::take_again(node.address));
    reservation.push_back(std::move(again));
  }
  PILOT_TRY(node.agent, start_agent(request, node, node.reserved ? reservation.front().fd() : -1));
  return write_record(path, record);
}

}  // namespace pilot::adaptors::local
