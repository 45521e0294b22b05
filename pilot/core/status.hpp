// What is known of pilots.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pilot/core/running_pilot.hpp"

namespace pilot::core {

struct PilotView {
  model::PilotState state;
  bool live = false;  // told by the head agent now, or by the batch system while it has not begun
  std::string note;   // why not: "the machine was rebooted"
  std::map<std::string, model::Departure> departures;  // of extensions, by allocation
};

// Asks the head agent, and has it started again when it is dead; else the state from the log, with the
// allocation's and nodes' loss put in where the resource knows of it.  Errors: not_found, failed.
Result<PilotView> view_pilot(const Context& context, const std::string& name);

struct ListedPilot {
  std::string name;
  model::PilotState state;
  bool head_alive = false;
  std::string problem;  // "the log is damaged", "its head agent does not run"
};

// All pilots of the user, by name, from their folders; asks no agent.
std::vector<ListedPilot> list_pilots(const Context& context);

}  // namespace pilot::core
