// The commands, one function (and file) each.
#pragma once

#include "pilot/cli/command.hpp"
#include "pilot/cli/session.hpp"

namespace pilot::cli {

Command start_command(Session& session);
Command stop_command(Session& session);
Command extend_command(Session& session);
Command shrink_command(Session& session);
Command recover_command(Session& session);
Command status_command(Session& session);
Command list_command(Session& session);
Command wait_command(Session& session);
Command env_command(Session& session);
Command topic_command(Session& session);
Command logs_command(Session& session);
Command events_command(Session& session);
Command run_command(Session& session);
Command frameworks_command(Session& session);
Command config_command(Session& session);
Command doctor_command(Session& session);
Command version_command(Session& session);

// These print from the tree that they are part of.
Command completion_command(Session& session);
Command complete_command(Session& session, const Command& root);  // hidden: what the scripts call
Command man_command(Session& session, const Command& root);
Command help_command(Session& session, const Command& root);

}  // namespace pilot::cli
