// Who a process is, and whether it still is.
#pragma once

#include <map>
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
// it is gone; what is then left of its group is found by its environment, since a number alone may
// already belong to somebody else.
bool send_signal(const model::ProcessIdentity& process, int signal);
bool send_signal_to_group(const model::ProcessIdentity& leader, int signal);

// Live processes of this user, without the caller, whose environment has all of these variables with
// these values.  Each service carries the pilot's and its own id, so that what escaped its process group
// is found too.
std::vector<model::ProcessIdentity> processes_with_environment(
    const std::map<std::string, std::string>& variables);

}  // namespace pilot::proc
