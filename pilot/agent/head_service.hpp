// The head agent as a service that a node agent supervises.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "pilot/agent/service_runner.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot::agent {

inline constexpr const char* head_service_id = "pilot/head";

// `port` 0: the head finds one itself.
model::ServiceSpec head_service(const std::filesystem::path& agent_program, const store::PilotFolder& folder,
                                const std::string& node, const std::string& address, std::uint16_t port);

// A head that runs already (one that somebody else started) is taken over; one that ended because all was
// done, or because another node keeps the head now, is left alone.
ServiceContext head_context(const store::PilotFolder& folder, const std::string& pilot_id,
                            const std::string& node);

}  // namespace pilot::agent
