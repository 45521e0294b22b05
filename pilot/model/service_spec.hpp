// One supervised process, as a framework adaptor plans it and a node agent runs it.
//
// Contents of files and arguments may hold placeholders, which the node agent fills in when it writes
// the files, so that a plan (and the event log that keeps it) never holds a secret:
//   ${secret:NAME}            a secret of the pilot (keys/secrets.json)
//   ${tls:ca}                 the pilot's CA certificate, PEM
//   ${tls:identity:ADDRESS}   a private key (PKCS#8) and a certificate for ADDRESS, PEM
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pilot/base/clock.hpp"
#include "pilot/base/units.hpp"

namespace pilot::model {

struct Command {
  std::vector<std::string> argv;           // argv[0] is a path, or found on PATH
  std::map<std::string, std::string> env;  // added to the agent's environment
  std::string directory;                   // working directory; empty: the node's scratch
  bool operator==(const Command&) const = default;
};

struct FileSpec {
  std::string path;
  std::string content;
  mode_t mode = 0600;
  bool operator==(const FileSpec&) const = default;
};

// A command that runs to its end before the service is started.
struct PrepareStep {
  Command command;
  std::string unless_exists;  // skipped when this path exists (made by an earlier run)
  Duration timeout = std::chrono::seconds(60);
  bool operator==(const PrepareStep&) const = default;
};

// Ready when a connection is accepted.
struct TcpProbe {
  std::string address;
  std::uint16_t port = 0;
  bool operator==(const TcpProbe&) const = default;
};

// Ready when the command exits with 0; what it prints on failure is the cause that users are shown.
struct CommandProbe {
  Command command;
  Duration timeout = std::chrono::seconds(10);
  bool operator==(const CommandProbe&) const = default;
};

struct Readiness {
  std::variant<std::monostate, TcpProbe, CommandProbe> probe;  // monostate: ready once it runs
  Duration interval = std::chrono::milliseconds(100);
  Duration deadline = std::chrono::seconds(90);
  std::optional<Duration> first_deadline;  // a first start that takes longer is stuck, and is made once more
  bool operator==(const Readiness&) const = default;
};

struct StopPolicy {
  int signal = SIGTERM;
  Duration grace = std::chrono::seconds(30);  // then SIGKILL to the process group
  bool operator==(const StopPolicy&) const = default;
};

struct RestartPolicy {
  int max_restarts = 5;  // within `window`; one more exit and the service has failed
  Duration window = std::chrono::minutes(10);
  Duration first_backoff = std::chrono::milliseconds(500);  // doubled each time
  Duration longest_backoff = std::chrono::seconds(30);
  bool operator==(const RestartPolicy&) const = default;
};

struct ServiceSpec {
  std::string id;      // "kafka/broker-2"
  std::string role;    // "broker"
  std::string node;    // id of the node it runs on
  int stage = 0;       // stages start one after the other and stop in the opposite order
  bool early = false;  // started along with the stage before, for which it waits by itself
  bool late = false;   // started once the cluster is ready, which does not wait for it; stops with its stage
  Command command;
  std::vector<std::string> directories;  // made (0700) before the files are written
  std::vector<FileSpec> files;
  std::vector<PrepareStep> prepare;
  std::map<std::string, std::uint16_t> ports;  // what it listens on: "client": 20001
  std::string log;                             // stdout and stderr are appended to this file
  Bytes log_limit{32 << 20};                   // then it is renamed to LOG.1, in place of the one before
  Readiness ready;
  StopPolicy stop;
  RestartPolicy restart;
  bool bound = false;  // it can't leave its node while the cluster lives: the node can't be given back
  bool operator==(const ServiceSpec&) const = default;
};

// What follows once the services of a plan for other nodes than before are ready: data move, then nodes
// are given back.  The head runs the commands on its node; each may be repeated at any time.  What `move`
// prints is in pilot/agent/move_progress.hpp.
struct ResizePlan {
  std::vector<std::string> draining;      // ids of the nodes that are given back
  std::optional<Command> move;            // to new services, away from draining nodes
  std::optional<Command> check;           // whether `move` can be done; prints like ClusterPlan::health
  std::map<std::string, Command> retire;  // by node: after its services have stopped for good
  bool operator==(const ResizePlan&) const = default;
};

// What is to run for one framework, and how its users reach it.
struct ClusterPlan {
  std::string framework;
  std::string version;
  std::vector<ServiceSpec> services;
  Readiness ready;                             // of the cluster as a whole, probed from the head's node
  std::vector<FileSpec> client_files;          // written into the pilot's folder by the head
  std::map<std::string, std::string> exports;  // what `pilot env` prints
  std::vector<std::string> nodes;              // ids of those that it was made for
  std::optional<ResizePlan> resize;            // when there were others before
  // Run by the head now and then, on its node.  It prints what is not as it should be with the data, as
  // {"problem": "2 of 9 partitions ..."} on one line; an empty text when all is well.  With it may stand
  // "bytes_by_service": {"broker-1": 4096}: what has to move before that service can go.
  std::optional<Command> health;
  // What a later pilot needs to open the data again (FrameworkSpec::reopen); empty: they end with the pilot.
  std::map<std::string, std::string> keeps;
  bool operator==(const ClusterPlan&) const = default;
};

}  // namespace pilot::model
