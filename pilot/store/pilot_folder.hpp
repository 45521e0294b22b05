// A pilot's folder on the shared file system, and the folder of all pilots of a user.
//
//   $PILOT_HOME or $XDG_STATE_HOME/pilot/
//     pilots/NAME/                       0700
//       events.jsonl                     the event log; spec and state follow from it
//       snapshot.json                    the state up to some sequence, to read a long log faster
//       events.lock                      held by the writer of the event log
//       endpoint.json                    where the head agent listens now, and its process
//       keys/                            0700, files 0600
//         head.json client.json          CURVE key pairs
//         nodes-N.txt                    those of node-N and the nodes that came with it
//         secrets.json                   passwords that plans name by ${secret:NAME}
//         ca.json                        certificate authority, with encrypt: true
//       client/                          what users of the clusters need: client.properties ...
//       logs/                            agents' and services' logs
//       nodes/NODE.json                  what a node agent needs to take up its services again
//     stopped/NAME-ID/                   folders of stopped pilots, the newest ten
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/model/process_identity.hpp"
#include "pilot/net/curve.hpp"

namespace pilot::store {

// $PILOT_HOME, else $XDG_STATE_HOME/pilot.
std::filesystem::path pilot_home();

struct Endpoint {
  std::string address;  // "tcp://..."; empty: no head has started yet
  std::string host;
  model::ProcessIdentity head;
  std::string node = {};  // whose agent keeps the head running
};

class PilotFolder {
 public:
  explicit PilotFolder(std::filesystem::path path) : path_(std::move(path)) {}

  // Makes the folder of a new pilot, with keys and secrets for `nodes` nodes.  Errors: usage (the
  // name is in use, or is no file name), failed (no space, not writable: what and where).
  static Result<PilotFolder> create(std::string_view name, int nodes, bool encrypt);

  // Errors: not_found, with the nearest existing name as hint.
  static Result<PilotFolder> open(std::string_view name);

  static std::vector<std::string> names();  // of all pilots that are not archived, sorted

  // Moves the folder to stopped/ (making the name free) and drops the oldest there beyond ten.
  Result<void> archive(std::string_view pilot_id);

  const std::filesystem::path& path() const { return path_; }
  std::string name() const { return path_.filename(); }
  std::filesystem::path client_folder() const { return path_ / "client"; }
  std::filesystem::path log_folder() const { return path_ / "logs"; }
  std::filesystem::path mail_folder() const { return path_ / "mail"; }
  std::filesystem::path node_file(std::string_view node) const;

  // WHO: "head", "client", "node-3".
  Result<net::CurveKeyPair> keys(std::string_view who) const;
  // Keys for the nodes FIRST, FIRST + 1 ... of an extension.
  Result<void> make_node_keys(int first, int nodes);
  // Public keys of all but the head: whom the head allows.
  Result<std::set<std::string>> public_keys() const;

  Result<std::map<std::string, std::string>> secrets() const;
  // Makes a random 256-bit secret for each ${secret:NAME} in `text` that there is none for yet.  Only
  // the head does this, before anybody fills the text in.
  Result<void> make_secrets_for(std::string_view text);

  // Fills in the placeholders of service_spec.hpp; any other ${...} passes as it is (log4j has its own).
  // Errors: not_found (a secret that was never made; tls: in a pilot without encryption).
  Result<std::string> fill_in(std::string_view text) const;

  // Errors: failed (no space, read-only, no permission: what and where).
  Result<void> check_writable() const;

  Result<Endpoint> endpoint() const;
  Result<void> set_endpoint(const Endpoint& endpoint);

 private:
  Result<std::string> value_of(std::string_view placeholder) const;

  std::filesystem::path path_;
};

}  // namespace pilot::store
