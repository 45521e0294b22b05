// A quorum whose controllers got other addresses.  Kafka's dynamic quorum (KIP-853) keeps its voters'
// endpoints in the metadata log itself, and changes them only through a leader; when all have moved at once,
// none finds the others and there never is one.  So they are changed in each controller's files before it
// starts.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "adaptors/framework/kafka/kraft_format.hpp"
#include "pilot/base/result.hpp"

namespace pilot::adaptors::kafka {

// The content of a segment or snapshot of the metadata log in which `voters` are found at their endpoints.
// Every record keeps its offset and epoch, so logs that agreed still do when each is changed.  Voters of
// other ids and what a crash cut off at the end stay as they are.  Errors: failed (a form of another
// version).
Result<std::string> with_voters_at(std::string_view log, const std::vector<Voter>& voters);

// The same for all files of the metadata log below a server's metadata folder; the number of files that
// changed (0: all is well already).  The server must not run.  Errors: failed (the file in question).
Result<int> move_quorum(const std::filesystem::path& metadata_folder, const std::vector<Voter>& voters);

}  // namespace pilot::adaptors::kafka
