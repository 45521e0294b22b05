#include "pilot/model/event.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace pilot::model {
namespace {

std::string with_reason(const std::string& text, const std::string& reason) {
  return reason.empty() ? text : text + ": " + reason;
}

struct Kind {
  std::string_view operator()(const PilotCreated&) const { return "pilot_created"; }
  std::string_view operator()(const AllocationSubmitted&) const { return "allocation_submitted"; }
  std::string_view operator()(const AllocationChanged&) const { return "allocation_changed"; }
  std::string_view operator()(const HeadStarted&) const { return "head_started"; }
  std::string_view operator()(const NodeRegistered&) const { return "node_registered"; }
  std::string_view operator()(const NodeChanged&) const { return "node_changed"; }
  std::string_view operator()(const ClusterPlanned&) const { return "cluster_planned"; }
  std::string_view operator()(const ClusterReady&) const { return "cluster_ready"; }
  std::string_view operator()(const ServiceChanged&) const { return "service_changed"; }
  std::string_view operator()(const PilotPhaseChanged&) const { return "pilot_phase_changed"; }
  std::string_view operator()(const Note&) const { return "note"; }
  std::string_view operator()(const ExtensionRequested&) const { return "extension_requested"; }
  std::string_view operator()(const NodeCordoned&) const { return "node_cordoned"; }
  std::string_view operator()(const DataMoved&) const { return "data_moved"; }
  std::string_view operator()(const NodesReturned&) const { return "nodes_returned"; }
  std::string_view operator()(const ClusterChecked&) const { return "cluster_checked"; }
};

struct Description {
  std::string operator()(const PilotCreated& e) const {
    return fmt::format("pilot '{}' created ({} on {}, {} node{})", e.spec.name, e.id, e.spec.resource,
                       e.spec.nodes, e.spec.nodes == 1 ? "" : "s");
  }
  std::string operator()(const AllocationSubmitted& e) const {
    return fmt::format("allocation {} submitted as job {}", e.allocation, e.job_id);
  }
  std::string operator()(const AllocationChanged& e) const {
    return with_reason(fmt::format("allocation {} {}", e.allocation, to_string(e.phase)), e.reason);
  }
  std::string operator()(const HeadStarted& e) const {
    return fmt::format("head agent {} (pid {}, {})", e.start == 1 ? "started" : "started again",
                       e.process.pid, e.endpoint);
  }
  std::string operator()(const NodeRegistered& e) const {
    return with_reason(fmt::format("{} registered ({}, {} cores, {})", e.node.id, e.node.address,
                                   e.node.cores, format_bytes(e.node.memory)),
                       e.clock_ahead ? clock_warning(*e.clock_ahead) : "");
  }
  std::string operator()(const NodeChanged& e) const {
    return with_reason(fmt::format("{} {}", e.node, to_string(e.phase)), e.reason);
  }
  std::string operator()(const ClusterPlanned& e) const {
    return fmt::format("{} {} planned: {} services", e.plan.framework, e.plan.version,
                       e.plan.services.size());
  }
  std::string operator()(const ClusterReady& e) const { return fmt::format("{} ready", e.framework); }
  std::string operator()(const ServiceChanged& e) const {
    std::string text = fmt::format("{} {}", e.service, to_string(e.phase));
    if (e.process && e.phase != ServicePhase::stopped) text += fmt::format(" (pid {})", e.process.pid);
    return with_reason(text, e.reason);
  }
  std::string operator()(const PilotPhaseChanged& e) const {
    return with_reason(fmt::format("pilot {}", to_string(e.phase)), e.reason);
  }
  std::string operator()(const Note& e) const { return e.text; }
  std::string operator()(const ExtensionRequested& e) const {
    return fmt::format("extension {} of {} node{} requested{}", e.allocation, e.nodes,
                       e.nodes == 1 ? "" : "s", e.joins ? ", in the job of " + *e.joins : "");
  }
  std::string operator()(const NodeCordoned& e) const {
    return with_reason(fmt::format("{} {}", e.node, e.draining ? "is being given back" : "stays"), e.reason);
  }
  std::string operator()(const DataMoved& e) const {
    if (e.failure.empty()) return fmt::format("{}: data are where they shall be", e.framework);
    return fmt::format("{}: the change failed: {}", e.framework, e.failure);
  }
  std::string operator()(const NodesReturned& e) const {
    if (e.failure.empty()) return fmt::format("{} of {} given back", fmt::join(e.nodes, ", "), e.allocation);
    return fmt::format("{} of {} could not be given back: {}", fmt::join(e.nodes, ", "), e.allocation,
                       e.failure);
  }
  std::string operator()(const ClusterChecked& e) const {
    return fmt::format("{}: {}", e.framework, e.problem.empty() ? "its data are well again" : e.problem);
  }
};

}  // namespace

std::string_view kind_of(const EventBody& body) {
  return std::visit(Kind{}, body);
}
std::string clock_warning(Duration ahead) {
  const auto off = std::chrono::round<std::chrono::seconds>(ahead < Duration{0} ? -ahead : ahead);
  return fmt::format("its clock is {} {} that of the head's node", format_duration(off),
                     ahead < Duration{0} ? "behind" : "ahead of");
}

std::string describe(const EventBody& body) {
  return std::visit(Description{}, body);
}

}  // namespace pilot::model
