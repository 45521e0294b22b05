// The environment variables by which every process that a pilot starts is found again, whatever became
// of its parents and its process group.
#pragma once

#include <map>
#include <string>

namespace pilot::agent {

inline constexpr const char* pilot_id_variable = "PILOT_ID";
inline constexpr const char* node_variable = "PILOT_NODE";
inline constexpr const char* service_variable = "PILOT_SERVICE";

using Environment = std::map<std::string, std::string>;

// What marks the processes of one service on one node; the first two mark all services of the node.
Environment node_environment(const std::string& pilot_id, const std::string& node);
Environment service_environment(const std::string& pilot_id, const std::string& node,
                                const std::string& service);

// Takes the marks out of this process's own environment, so that what it starts is not taken for a part
// of the service that it is itself (the head agent is one, and starts node agents).
void leave_service_environment();

}  // namespace pilot::agent
