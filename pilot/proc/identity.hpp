// Who a process is, and whether it still is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pilot/model/process_identity.hpp"

namespace pilot::proc {

// This boot of this machine (/proc/sys/kernel/random/boot_id).
const std::string& boot_id();

// The identity of a running process; nothing when there is none with this pid.
std::optional<model::ProcessIdentity> identify(pid_t pid);

// True while this very process runs (a zombie does not).
bool is_alive(const model::ProcessIdentity& process);

// Sends a signal to the process, or to its process group, if it is still the same process.  False when
// it is gone.
bool send_signal(const model::ProcessIdentity& process, int signal);
bool send_signal_to_group(const model::ProcessIdentity& leader, int signal);

// Live processes of this user whose environment has NAME=VALUE (each service carries PILOT_SERVICE_OF=
// the pilot's id), so that what escaped its process group is found too.
std::vector<model::ProcessIdentity> processes_with_environment(const std::string& name, const std::string& value);

}  // namespace pilot::proc
