// The fields of every model value, named once: the same list writes and reads its JSON form.
// `archive(name, member)` is called for each; archives are in json_archive.hpp.
#pragma once

#include "pilot/model/event.hpp"
#include "pilot/model/message.hpp"
#include "pilot/model/pilot_state.hpp"

namespace pilot::codec {

template <typename T, typename Of>
concept Like = std::same_as<std::remove_cvref_t<T>, Of>;

template <typename A>
void fields(A& a, Like<model::ProcessIdentity> auto& v) {
  a("pid", v.pid), a("start_ticks", v.start_ticks), a("boot_id", v.boot_id);
}
template <typename A>
void fields(A& a, Like<model::FrameworkSpec> auto& v) {
  a("name", v.name), a("options", v.options), a("config", v.config), a("reopen", v.reopen);
}
template <typename A>
void fields(A& a, Like<model::NetworkSpec> auto& v) {
  a("subnet", v.subnet), a("first_port", v.first_port), a("last_port", v.last_port);
}
template <typename A>
void fields(A& a, Like<model::PilotSpec> auto& v) {
  a("name", v.name), a("resource", v.resource), a("nodes", v.nodes);
  a("cores_per_node", v.cores_per_node), a("memory_per_node", v.memory_per_node), a("walltime", v.walltime);
  a("batch", v.batch), a("scratch", v.scratch), a("network", v.network), a("encrypt", v.encrypt);
  a("ready_timeout", v.ready_timeout), a("lost_after", v.lost_after), a("frameworks", v.frameworks);
}
template <typename A>
void fields(A& a, Like<model::NodeInfo> auto& v) {
  a("id", v.id), a("allocation", v.allocation), a("rank", v.rank), a("host", v.host), a("address", v.address);
  a("cores", v.cores), a("memory", v.memory), a("scratch", v.scratch), a("free_ports", v.free_ports);
  a("rack", v.rack), a("agent", v.agent), a("version", v.version);
}
template <typename A>
void fields(A& a, Like<model::Command> auto& v) {
  a("argv", v.argv), a("env", v.env), a("directory", v.directory);
}
template <typename A>
void fields(A& a, Like<model::FileSpec> auto& v) {
  a("path", v.path), a("content", v.content), a("mode", v.mode);
}
template <typename A>
void fields(A& a, Like<model::PrepareStep> auto& v) {
  a("command", v.command), a("unless_exists", v.unless_exists), a("timeout", v.timeout);
}
template <typename A>
void fields(A& a, Like<model::TcpProbe> auto& v) {
  a("address", v.address), a("port", v.port);
}
template <typename A>
void fields(A& a, Like<model::CommandProbe> auto& v) {
  a("command", v.command), a("timeout", v.timeout);
}
template <typename A>
void fields(A& a, Like<model::Readiness> auto& v) {
  a("probe", v.probe), a("interval", v.interval), a("deadline", v.deadline);
  a("first_deadline", v.first_deadline);
}
template <typename A>
void fields(A& a, Like<model::StopPolicy> auto& v) {
  a("signal", v.signal), a("grace", v.grace);
}
template <typename A>
void fields(A& a, Like<model::RestartPolicy> auto& v) {
  a("max_restarts", v.max_restarts), a("window", v.window), a("first_backoff", v.first_backoff);
  a("longest_backoff", v.longest_backoff);
}
template <typename A>
void fields(A& a, Like<model::ServiceSpec> auto& v) {
  a("id", v.id), a("role", v.role), a("node", v.node), a("stage", v.stage), a("early", v.early);
  a("late", v.late);
  a("command", v.command), a("directories", v.directories), a("files", v.files), a("prepare", v.prepare);
  a("ports", v.ports), a("log", v.log), a("log_limit", v.log_limit), a("ready", v.ready);
  a("stop", v.stop), a("restart", v.restart), a("bound", v.bound);
}
template <typename A>
void fields(A& a, Like<model::ClusterPlan> auto& v) {
  a("framework", v.framework), a("version", v.version), a("services", v.services), a("ready", v.ready);
  a("client_files", v.client_files), a("exports", v.exports), a("nodes", v.nodes), a("resize", v.resize);
  a("health", v.health), a("keeps", v.keeps);
}
template <typename A>
void fields(A& a, Like<model::ResizePlan> auto& v) {
  a("draining", v.draining), a("move", v.move), a("check", v.check), a("retire", v.retire);
}

// --- events

template <typename A>
void fields(A& a, Like<model::PilotCreated> auto& v) {
  a("id", v.id), a("spec", v.spec), a("version", v.version), a("user", v.user), a("host", v.host);
}
template <typename A>
void fields(A& a, Like<model::AllocationSubmitted> auto& v) {
  a("allocation", v.allocation), a("job_id", v.job_id), a("nodes", v.nodes);
}
template <typename A>
void fields(A& a, Like<model::ExtensionRequested> auto& v) {
  a("allocation", v.allocation), a("nodes", v.nodes), a("first_node", v.first_node);
  a("walltime", v.walltime), a("move", v.move), a("joins", v.joins), a("throttle", v.throttle);
}
template <typename A>
void fields(A& a, Like<model::NodeCordoned> auto& v) {
  a("node", v.node), a("draining", v.draining), a("reason", v.reason);
  a("throttle", v.throttle);
}
template <typename A>
void fields(A& a, Like<model::DataMoved> auto& v) {
  a("framework", v.framework), a("failure", v.failure);
}
template <typename A>
void fields(A& a, Like<model::NodesReturned> auto& v) {
  a("allocation", v.allocation), a("nodes", v.nodes), a("failure", v.failure);
}
template <typename A>
void fields(A& a, Like<model::ClusterChecked> auto& v) {
  a("framework", v.framework), a("problem", v.problem);
}
template <typename A>
void fields(A& a, Like<model::AllocationChanged> auto& v) {
  a("allocation", v.allocation), a("phase", v.phase), a("reason", v.reason);
  a("ends_at", v.ends_at);
}
template <typename A>
void fields(A& a, Like<model::HeadStarted> auto& v) {
  a("process", v.process), a("host", v.host), a("endpoint", v.endpoint), a("start", v.start);
  a("node", v.node);
}
template <typename A>
void fields(A& a, Like<model::NodeRegistered> auto& v) {
  a("node", v.node), a("clock_ahead", v.clock_ahead);
}
template <typename A>
void fields(A& a, Like<model::NodeChanged> auto& v) {
  a("node", v.node), a("phase", v.phase), a("reason", v.reason);
}
template <typename A>
void fields(A& a, Like<model::ClusterPlanned> auto& v) {
  a("plan", v.plan);
}
template <typename A>
void fields(A& a, Like<model::ClusterReady> auto& v) {
  a("framework", v.framework);
}
template <typename A>
void fields(A& a, Like<model::ServiceChanged> auto& v) {
  a("service", v.service), a("phase", v.phase), a("process", v.process), a("restarts", v.restarts);
  a("reason", v.reason), a("log_tail", v.log_tail);
}
template <typename A>
void fields(A& a, Like<model::PilotPhaseChanged> auto& v) {
  a("phase", v.phase), a("reason", v.reason);
}
template <typename A>
void fields(A& a, Like<model::Note> auto& v) {
  a("text", v.text);
}

// --- state

template <typename A>
void fields(A& a, Like<model::AllocationState> auto& v) {
  a("job_id", v.job_id), a("nodes", v.nodes), a("phase", v.phase), a("reason", v.reason);
  a("first_node", v.first_node), a("walltime", v.walltime), a("move", v.move), a("started", v.started);
  a("joins", v.joins), a("throttle", v.throttle), a("told_end", v.told_end), a("prolonged", v.prolonged);
}
template <typename A>
void fields(A& a, Like<model::NodeState> auto& v) {
  a("info", v.info), a("phase", v.phase), a("reason", v.reason), a("draining", v.draining);
  a("returned", v.returned), a("return_failure", v.return_failure), a("throttle", v.throttle);
  a("clock_ahead", v.clock_ahead);
}
template <typename A>
void fields(A& a, Like<model::ServiceState> auto& v) {
  a("phase", v.phase), a("process", v.process), a("restarts", v.restarts);
  a("total_restarts", v.total_restarts), a("reason", v.reason), a("log_tail", v.log_tail),
      a("since", v.since);
}
template <typename A>
void fields(A& a, Like<model::ClusterState> auto& v) {
  a("plan", v.plan), a("ready", v.ready), a("services", v.services), a("changing", v.changing);
  a("moving", v.moving), a("change_failure", v.change_failure), a("arriving", v.arriving);
  a("problem", v.problem), a("newcomers", v.newcomers);
}
template <typename A>
void fields(A& a, Like<model::PilotState> auto& v) {
  a("id", v.id), a("spec", v.spec), a("version", v.version), a("user", v.user), a("host", v.host);
  a("phase", v.phase), a("reason", v.reason), a("created", v.created), a("phase_since", v.phase_since);
  a("head", v.head), a("allocations", v.allocations), a("nodes", v.nodes), a("clusters", v.clusters);
  a("processes", v.processes), a("last_sequence", v.last_sequence);
}

// --- messages

template <typename A>
void fields(A& a, Like<model::RegisterNode> auto& v) {
  a("node", v.node), a("services", v.services), a("age", v.age), a("clock", v.clock);
}
template <typename A>
void fields(A& a, Like<model::NodeAccepted> auto& v) {
  a("services", v.services);
}
template <typename A>
void fields(A& a, Like<model::Heartbeat> auto& v) {
  a("node", v.node);
}
template <typename A>
void fields(A&, Like<model::RegisterAgain> auto&) {}
template <typename A>
void fields(A& a, Like<model::ServiceReport> auto& v) {
  a("node", v.node), a("number", v.number), a("change", v.change);
}
template <typename A>
void fields(A& a, Like<model::ReportsStored> auto& v) {
  a("number", v.number);
}
template <typename A>
void fields(A& a, Like<model::StartServices> auto& v) {
  a("services", v.services);
}
template <typename A>
void fields(A& a, Like<model::StopServices> auto& v) {
  a("services", v.services);
}
template <typename A>
void fields(A&, Like<model::ReleaseNode> auto&) {}
template <typename A>
void fields(A& a, Like<model::NodeReleased> auto& v) {
  a("node", v.node), a("left", v.left);
}
template <typename A>
void fields(A&, Like<model::GetStatus> auto&) {}
template <typename A>
void fields(A& a, Like<model::StopPilot> auto& v) {
  a("reason", v.reason);
}
template <typename A>
void fields(A& a, Like<model::ExtendPilot> auto& v) {
  a("nodes", v.nodes), a("walltime", v.walltime), a("move", v.move), a("in_place", v.in_place);
  a("throttle", v.throttle);
}
template <typename A>
void fields(A& a, Like<model::ExtensionSubmitted> auto& v) {
  a("allocation", v.allocation), a("job_id", v.job_id);
}
template <typename A>
void fields(A& a, Like<model::ExtensionRefused> auto& v) {
  a("allocation", v.allocation), a("reason", v.reason);
}
template <typename A>
void fields(A& a, Like<model::ShrinkPilot> auto& v) {
  a("nodes", v.nodes), a("count", v.count), a("throttle", v.throttle);
}
template <typename A>
void fields(A& a, Like<model::ExtensionPlanned> auto& v) {
  a("allocation", v.allocation), a("first_node", v.first_node);
}
template <typename A>
void fields(A& a, Like<model::ShrinkPlanned> auto& v) {
  a("nodes", v.nodes);
}
template <typename A>
void fields(A& a, Like<model::Departure> auto& v) {
  a("lead", v.lead), a("held", v.held), a("per_second", v.per_second);
}
template <typename A>
void fields(A& a, Like<model::Status> auto& v) {
  a("state", v.state), a("departures", v.departures);
}
template <typename A>
void fields(A&, Like<model::Accepted> auto&) {}
template <typename A>
void fields(A& a, Like<Error> auto& v) {
  a("code", v.code), a("message", v.message), a("hint", v.hint);
}
template <typename A>
void fields(A& a, Like<model::Refused> auto& v) {
  a("error", v.error);
}

}  // namespace pilot::codec
