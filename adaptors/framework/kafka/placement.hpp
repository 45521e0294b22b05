// Who runs where, with which share of the node: everything about a cluster that is decided before the
// text of files and commands is written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "adaptors/framework/kafka/options.hpp"
#include "pilot/base/result.hpp"
#include "pilot/model/node.hpp"

namespace pilot::adaptors::kafka {

struct Server {
  std::string name;     // "broker-2"; its data and logs are called so
  std::string node;     // "node-2"
  int id = 0;           // Kafka's node.id: brokers 1 ..., controllers 1001 ...
  std::string address;  // it listens at address:port
  std::uint16_t port = 0;
  std::string folder;  // its own, in the node's scratch
  std::string rack;
  bool joins = false;     // a controller that joins the quorum once the cluster is ready
  bool reopened = false;  // its data are there, of a pilot that was stopped
  Bytes heap;
  int cores = 1;  // of the node's share
  bool few_cores() const { return cores < 4; }
  std::string endpoint() const;
};

struct Placement {
  std::vector<Server> controllers;
  bool joining = false;  // they come and go; else they are those that the cluster began with
  std::vector<Server> brokers;
  int replication = 1;  // 1, 2 or 3, as many as there are brokers
  int in_sync = 1;      // 2 when there are three replicas, else 1
};

// What a pilot that was stopped left (ClusterPlan::keeps).
struct Reopened {
  std::string cluster;           // Kafka's cluster id
  std::vector<int> controllers;  // ids whose data are there
  std::vector<int> brokers;
  int highest = 0;  // of all ids that a broker ever had
};

// Nothing when there is none.  Errors: usage (a text that this program did not write).
Result<std::optional<Reopened>> parse_reopened(const std::map<std::string, std::string>& kept);
std::map<std::string, std::string> to_kept(const Reopened& reopened);

// Whether a cluster with so many brokers in its base can open what is there.  Errors: usage, with the
// numbers.
Result<void> check_reopened(const Reopened& old, const Options& options, int brokers);

// What there is already.
struct Present {
  std::map<std::string, std::uint16_t> ports;  // of services that run, by their ids ("kafka/broker-2")
  std::vector<std::string> draining;           // nodes that are given back
  std::optional<Reopened> reopened;
};

// Controllers on the first nodes of the base allocation, as many as wished.  Without a wish, and where `join`
// says that this Kafka can do so, three if the base has three machines with room and one otherwise; of the
// three the first begins and the others join, for a start that takes no longer than with one, and one whose
// node is given back is replaced on another machine, of the base if there is one.
// Brokers one per node (`brokers` limits those of the base; every node of an extension has one).  A server's
// id follows from its node's ("node-7": broker 7), so that a node that comes later takes no id that was used.
// With data of a stopped pilot, the base's brokers take their ids in order and later ones get ids above all.
// Services that run keep their ports.
// Errors: usage, with the numbers, when the nodes are too few or too small or have no free port.
Result<Placement> place(const Options& options, const std::vector<model::NodeInfo>& nodes,
                        const Present& present = {}, bool join = true);

}  // namespace pilot::adaptors::kafka
