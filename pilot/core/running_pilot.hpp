// A pilot that was started, seen from a command: its folder, its log as it grows, its head agent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/core/context.hpp"
#include "pilot/model/message.hpp"
#include "pilot/plugin/batch_adaptor.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot::core {

class RunningPilot {
 public:
  // Errors: not_found (with the nearest name), failed (a damaged log).
  static Result<RunningPilot> open(const Context& context, const std::string& name);

  const store::PilotFolder& folder() const { return folder_; }
  store::PilotFolder& folder() { return folder_; }
  const model::PilotState& state() const { return state_; }

  // Reads what the log has more by now, tells the observer of each event, and brings state() up to date.
  Result<void> follow();

  // The base allocation as the adaptor wants to have it named, and what the adaptor says of it.
  Result<plugin::AllocationRequest> request(const std::string& allocation = "a0") const;
  Result<plugin::AllocationStatus> poll_allocation(const std::string& allocation = "a0") const;
  // The same, put into state(); the observer is told why it waits, each time that changes.
  Result<plugin::AllocationStatus> follow_queue(const std::string& allocation = "a0");

  // Sends a request to the head agent, if one is known and (on this machine) alive: over the network, and
  // if no answer comes from another machine, through the pilot's folder.  It is acted upon once, if at all.
  // Errors: unavailable; what the head refused.
  Result<model::MessageBody> ask(model::MessageBody body, Duration timeout) const;

  // An answering head agent: the one that is there, or one that the node agent that kept it (started again
  // if need be) brings up within `timeout`.  Errors: unavailable, with the reason.
  Result<void> ensure_head(Duration timeout);
  // Brings state() up to date meanwhile.  False: not within `timeout`, or interrupted.
  Result<bool> head_answers_within(Duration timeout);

  // A node's agent, by where it runs.
  struct AgentPlace {
    std::string allocation = "a0";
    int rank = 0;
  };
  AgentPlace keeper_of_head() const;  // the last one; rank 0 of the base before there was a head
  // Has the batch system start it unless it runs.
  Result<void> launch_agent(const AgentPlace& place) const;

  // Why nothing of it can be running any more ("the machine was rebooted"); empty when it may be.
  std::string over_because() const;

 private:
  RunningPilot(const Context& context, store::PilotFolder folder)
      : context_(context), folder_(std::move(folder)) {}
  bool head_may_live(const store::Endpoint& endpoint) const;
  Result<std::string> deliver(const store::Endpoint& endpoint, const std::string& id, const std::string& text,
                              Duration timeout) const;

  Context context_;
  store::PilotFolder folder_;
  model::PilotState state_;
  std::uint64_t read_bytes_ = 0;
  mutable bool by_folder_ = false;  // the network has been found not to lead to the head
};

// What went wrong in a pilot that failed, for a person.
struct Failure {
  std::string cause;     // "kafka/broker-1: exit code 1"
  std::string service;   // whose log tells more; may be empty
  std::string log_tail;  // its last lines
};
Failure failure_of(const model::PilotState& state);

}  // namespace pilot::core
