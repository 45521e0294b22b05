#include "pilot/model/states.hpp"

#include <array>

#include "pilot/base/contains.hpp"

namespace pilot::model {
namespace {

using enum PilotPhase;

constexpr std::array pilot_table = std::to_array<std::pair<PilotPhase, PilotPhase>>({
    {submitted, starting},
    {submitted, stopping},
    {submitted, failed},
    {starting, booting},
    {starting, stopping},
    {starting, failed},
    {booting, ready},
    {booting, stopping},
    {booting, failed},
    {ready, degraded},
    {ready, stopping},
    {ready, failed},
    {degraded, ready},
    {degraded, stopping},
    {degraded, failed},
    {failed, stopping},
    {stopping, stopped},
});

constexpr std::array allocation_table = std::to_array<std::pair<AllocationPhase, AllocationPhase>>({
    {AllocationPhase::pending, AllocationPhase::running},
    {AllocationPhase::pending, AllocationPhase::ended},
    {AllocationPhase::pending, AllocationPhase::unknown},
    {AllocationPhase::running, AllocationPhase::pending},  // requeued
    {AllocationPhase::running, AllocationPhase::suspended},
    {AllocationPhase::running, AllocationPhase::ended},
    {AllocationPhase::running, AllocationPhase::unknown},
    {AllocationPhase::suspended, AllocationPhase::running},
    {AllocationPhase::suspended, AllocationPhase::pending},  // requeued
    {AllocationPhase::suspended, AllocationPhase::ended},
    {AllocationPhase::suspended, AllocationPhase::unknown},
    {AllocationPhase::unknown, AllocationPhase::pending},
    {AllocationPhase::unknown, AllocationPhase::running},
    {AllocationPhase::unknown, AllocationPhase::suspended},
    {AllocationPhase::unknown, AllocationPhase::ended},
});

constexpr std::array node_table = std::to_array<std::pair<NodePhase, NodePhase>>({
    {NodePhase::expected, NodePhase::up},
    {NodePhase::expected, NodePhase::lost},
    {NodePhase::expected, NodePhase::released},
    {NodePhase::up, NodePhase::lost},
    {NodePhase::up, NodePhase::released},
    {NodePhase::lost, NodePhase::up},
    {NodePhase::lost, NodePhase::released},
});

constexpr std::array service_table = std::to_array<std::pair<ServicePhase, ServicePhase>>({
    {ServicePhase::planned, ServicePhase::preparing},  {ServicePhase::planned, ServicePhase::stopped},
    {ServicePhase::preparing, ServicePhase::starting}, {ServicePhase::preparing, ServicePhase::waiting},
    {ServicePhase::preparing, ServicePhase::stopping}, {ServicePhase::preparing, ServicePhase::failed},
    {ServicePhase::starting, ServicePhase::ready},     {ServicePhase::starting, ServicePhase::waiting},
    {ServicePhase::starting, ServicePhase::stopping},  {ServicePhase::starting, ServicePhase::failed},
    {ServicePhase::ready, ServicePhase::starting},     {ServicePhase::ready, ServicePhase::waiting},
    {ServicePhase::ready, ServicePhase::stopping},     {ServicePhase::ready, ServicePhase::failed},
    {ServicePhase::waiting, ServicePhase::preparing},  {ServicePhase::waiting, ServicePhase::starting},
    {ServicePhase::waiting, ServicePhase::stopping},   {ServicePhase::waiting, ServicePhase::stopped},
    {ServicePhase::waiting, ServicePhase::failed},     {ServicePhase::stopping, ServicePhase::stopped},
    {ServicePhase::stopping, ServicePhase::failed},    {ServicePhase::stopped, ServicePhase::preparing},
    {ServicePhase::failed, ServicePhase::preparing},   {ServicePhase::failed, ServicePhase::stopped},
    {ServicePhase::preparing, ServicePhase::lost},     {ServicePhase::starting, ServicePhase::lost},
    {ServicePhase::ready, ServicePhase::lost},         {ServicePhase::waiting, ServicePhase::lost},
    {ServicePhase::stopping, ServicePhase::lost},      {ServicePhase::lost, ServicePhase::preparing},
    {ServicePhase::lost, ServicePhase::starting},      {ServicePhase::lost, ServicePhase::ready},
    {ServicePhase::lost, ServicePhase::waiting},       {ServicePhase::lost, ServicePhase::stopping},
    {ServicePhase::lost, ServicePhase::stopped},       {ServicePhase::lost, ServicePhase::failed},
});

}  // namespace

std::string_view to_string(PilotPhase phase) {
  switch (phase) {
    case submitted:
      return "submitted";
    case starting:
      return "starting";
    case booting:
      return "booting";
    case ready:
      return "ready";
    case degraded:
      return "degraded";
    case stopping:
      return "stopping";
    case stopped:
      return "stopped";
    case failed:
      return "failed";
  }
  return "unknown";
}

std::string_view to_string(AllocationPhase phase) {
  switch (phase) {
    case AllocationPhase::pending:
      return "pending";
    case AllocationPhase::running:
      return "running";
    case AllocationPhase::suspended:
      return "suspended";
    case AllocationPhase::ended:
      return "ended";
    case AllocationPhase::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view to_string(NodePhase phase) {
  switch (phase) {
    case NodePhase::expected:
      return "expected";
    case NodePhase::up:
      return "up";
    case NodePhase::lost:
      return "lost";
    case NodePhase::released:
      return "released";
  }
  return "unknown";
}

std::string_view to_string(ServicePhase phase) {
  switch (phase) {
    case ServicePhase::planned:
      return "planned";
    case ServicePhase::preparing:
      return "preparing";
    case ServicePhase::starting:
      return "starting";
    case ServicePhase::ready:
      return "ready";
    case ServicePhase::waiting:
      return "waiting";
    case ServicePhase::stopping:
      return "stopping";
    case ServicePhase::stopped:
      return "stopped";
    case ServicePhase::failed:
      return "failed";
    case ServicePhase::lost:
      return "lost";
  }
  return "unknown";
}

Transitions<PilotPhase> pilot_transitions() {
  return pilot_table;
}
Transitions<AllocationPhase> allocation_transitions() {
  return allocation_table;
}
Transitions<NodePhase> node_transitions() {
  return node_table;
}
Transitions<ServicePhase> service_transitions() {
  return service_table;
}

bool may_follow(PilotPhase from, PilotPhase to) {
  return contains(pilot_table, std::pair{from, to});
}
bool may_follow(AllocationPhase from, AllocationPhase to) {
  return contains(allocation_table, std::pair{from, to});
}
bool may_follow(NodePhase from, NodePhase to) {
  return contains(node_table, std::pair{from, to});
}
bool may_follow(ServicePhase from, ServicePhase to) {
  return contains(service_table, std::pair{from, to});
}

bool is_final(PilotPhase phase) {
  return phase == stopped || phase == failed;
}
bool is_final(ServicePhase phase) {
  return phase == ServicePhase::stopped || phase == ServicePhase::failed;
}

}  // namespace pilot::model
