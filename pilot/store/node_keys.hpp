// The CURVE keys of a pilot's nodes.  Nodes that come together have them in one file, a line each, since
// there may be thousands and a shared file system takes its time for every file.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "pilot/base/result.hpp"
#include "pilot/net/curve.hpp"

namespace pilot::store {

// Makes keys for the nodes FIRST, FIRST + 1 ..., in FOLDER/nodes-FIRST.txt (0600), in place of those that a
// file of that name has.
Result<void> make_node_keys(const std::filesystem::path& folder, int first, int nodes);

// Reads no more than the node's own line.  Errors: not_found, failed (the file is damaged).
Result<net::CurveKeyPair> read_node_keys(const std::filesystem::path& folder, int node);

// The public keys of all nodes.  Errors: failed.
Result<std::set<std::string>> public_node_keys(const std::filesystem::path& folder);

}  // namespace pilot::store
