// For the tests of HeadCore: a core with its log, whose node agents do nothing but what a test says.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "pilot/agent/head_core.hpp"

namespace pilot::agent::test {

using namespace std::chrono_literals;
using model::NodePhase;
using model::PilotPhase;
using model::ServicePhase;

inline model::ServiceSpec service(const std::string& id, const std::string& node, int stage,
                                  std::uint16_t port = 0) {
  model::ServiceSpec spec;
  spec.id = id;
  spec.node = node;
  spec.stage = stage;
  spec.stop.grace = 5s;
  if (port != 0) spec.ports["client"] = port;
  return spec;
}

// A controller on node-1 (stage 0) and workers on both nodes (stage 1).
inline model::ClusterPlan plan() {
  model::ClusterPlan plan;
  plan.framework = "fake";
  plan.services = {service("fake/controller", "node-1", 0, 101), service("fake/worker-1", "node-1", 1, 102),
                   service("fake/worker-2", "node-2", 1, 101)};
  plan.client_files = {{"/client/file", "content", 0600}};
  plan.services.front().bound = true;
  plan.nodes = {"node-1", "node-2"};
  return plan;
}

// A clock whose wall time may jump.
class UnsteadyClock final : public Clock {
 public:
  WallTime wall() const override { return manual_.wall() + ahead_; }
  SteadyTime steady() const override { return manual_.steady(); }
  void advance(Duration by) { manual_.advance(by); }
  void set_ahead(Duration by) { ahead_ = by; }

 private:
  ManualClock manual_;
  Duration ahead_{0};
};

// A head core with its log, and node agents that do nothing but what a test says.
class HeadHarness {
 public:
  HeadHarness() {
    model::PilotSpec spec;
    spec.name = "demo";
    spec.nodes = 2;
    spec.ready_timeout = 3min;
    spec.frameworks = {{"fake", {}, {}, {}}};
    log(model::PilotCreated{"id", spec, "0.1", "user", "host"});
    log(model::AllocationSubmitted{"a0", "job-7", 2});
    restart();
  }

  void log(const model::EventBody& body) { events_.push_back({events_.size() + 1, clock_.wall(), body}); }

  // As after a kill -9 of the head: nothing but the log is left, and peers connect anew.
  void restart() {
    core_.emplace(model::fold(events_), clock_);
    ++connection_;
    const int start = core_->state().head ? core_->state().head->start + 1 : 1;
    take(core_->start({{100 + start, 1, "boot"}, "host", "tcp://127.0.0.1:1", start, {}}));
  }

  void take(HeadOutput output) {
    for (auto& body : output.events) log(body);
    for (auto& message : output.messages) messages_.push_back(std::move(message));
    std::vector<std::string> to_answer;
    for (auto& effect : output.effects) {
      const auto* check = std::get_if<CheckMove>(&effect);
      if (check != nullptr && objection_)
        to_answer.push_back(check->plan.framework.name);
      else
        effects_.push_back(std::move(effect));
    }
    if (model::fold(events_) != core_->state())
      throw std::logic_error("the log does not say what the head believes");
    for (const auto& framework : to_answer) take(core_->move_checked(framework, *objection_));
  }

  std::string peer(const std::string& node) const { return node + "#" + std::to_string(connection_); }

  void receive(const std::string& node, model::MessageBody body) {
    take(core_->receive(peer(node), {"m", std::move(body)}));
  }

  static model::NodeInfo node(const std::string& id, int agent = 1) {
    model::NodeInfo info;
    info.id = id;
    info.allocation = "a0";
    info.rank = id.back() - '1';
    info.free_ports = {101, 102, 103};
    info.agent = {agent, 5, "boot"};
    return info;
  }

  void enroll(const std::string& id, std::vector<model::ServiceChanged> services = {}, int agent = 1) {
    receive(id, model::RegisterNode{node(id, agent), std::move(services), {}, {}});
  }

  void report(const std::string& node, const std::string& id, ServicePhase phase,
              const std::string& reason = {}, const std::string& tail = {}) {
    receive(node, model::ServiceReport{node, ++numbers_[node], change(id, phase, reason, tail)});
  }

  static model::ServiceChanged change(const std::string& id, ServicePhase phase,
                                      const std::string& reason = {}, const std::string& tail = {}) {
    const bool runs = phase == ServicePhase::ready || phase == ServicePhase::starting;
    return {id, phase,  runs ? model::ProcessIdentity{7, 7, "boot"} : model::ProcessIdentity{},
            0,  reason, tail};
  }

  void boot() {
    enroll("node-1");
    enroll("node-2");
    take(core_->planned("fake", plan()));
    report("node-1", "fake/controller", ServicePhase::ready);
    report("node-1", "fake/worker-1", ServicePhase::ready);
    report("node-2", "fake/worker-2", ServicePhase::ready);
    take(core_->probed("fake", ok()));
    take(core_->client_files_written("fake", ok()));
    if (phase() != PilotPhase::ready) throw std::logic_error("the pilot did not become ready");
    messages_.clear();
    effects_.clear();
  }

  // Time passes, with heartbeats of the given nodes.
  void pass(Duration time, const std::vector<std::string>& alive) {
    for (Duration passed{0}; passed < time; passed += 500ms) {
      clock_.advance(500ms);
      for (const auto& id : alive) receive(id, model::Heartbeat{id});
      take(core_->tick());
    }
  }

  PilotPhase phase() const { return core_->state().phase; }

  // What was sent to a node since the last call, and its other messages forgotten.
  template <typename Body>
  std::vector<Body> sent(const std::string& node) {
    std::vector<Body> found;
    for (const auto& message : messages_)
      if (message.peer == peer(node))
        if (const auto* body = std::get_if<Body>(&message.message.body)) found.push_back(*body);
    std::erase_if(messages_, [&](const auto& m) {
      return m.peer == peer(node) && std::holds_alternative<Body>(m.message.body);
    });
    return found;
  }

  std::vector<std::string> started(const std::string& node) {
    std::vector<std::string> ids;
    for (const auto& message : sent<model::StartServices>(node))
      for (const auto& spec : message.services) ids.push_back(spec.id);
    return ids;
  }
  std::vector<std::string> stopped(const std::string& node) {
    std::vector<std::string> ids;
    for (const auto& message : sent<model::StopServices>(node))
      ids.insert(ids.end(), message.services.begin(), message.services.end());
    return ids;
  }

  template <typename Kind>
  std::vector<Kind> effects() {
    std::vector<Kind> found;
    for (const auto& effect : effects_)
      if (const auto* kind = std::get_if<Kind>(&effect)) found.push_back(*kind);
    std::erase_if(effects_, [](const Effect& effect) { return std::holds_alternative<Kind>(effect); });
    return found;
  }

  bool noted(const std::string& text) const {
    return std::ranges::any_of(events_, [&](const auto& event) {
      const auto* found = std::get_if<model::Note>(&event.body);
      return found != nullptr && found->text.find(text) != std::string::npos;
    });
  }

  UnsteadyClock clock_;
  std::vector<model::Event> events_;
  std::optional<HeadCore> core_;
  std::vector<Outgoing> messages_;
  std::vector<Effect> effects_;
  std::map<std::string, std::uint64_t> numbers_;
  int connection_ = 0;
  std::optional<std::string> objection_ = "";  // against moving data off nodes; none: a test answers itself
};

}  // namespace pilot::agent::test
