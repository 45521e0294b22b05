// `pilot topic`: the topics of a pilot's cluster that keeps messages in them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/core/running_pilot.hpp"
#include "pilot/plugin/topics.hpp"

namespace pilot::core {

struct TopicPartition {
  int id = 0;
  int leader = -1;  // -1: none, it can't be read or written now
  std::vector<int> replicas, in_sync;
};

struct Topic {
  std::string name;
  bool internal = false;  // the framework's own
  std::vector<TopicPartition> partitions;
  std::optional<std::map<std::string, std::int64_t>> bytes_by_broker;

  int replicas() const;          // of the partition that has the most
  int under_replicated() const;  // partitions with fewer replicas in sync than it has
  int leaderless() const;        // partitions
  std::int64_t bytes() const;    // of all replicas; -1: unknown
};

struct TopicAnswer {
  std::string framework;
  std::vector<Topic> topics;      // one, or with `list` all, by name
  bool created = false;           // create: false when it was there
  std::optional<int> grown_from;  // grow: as many partitions as before
  std::string caution;            // what its users should know; may be empty
};

// Asks the running cluster of `framework`; empty: the one that has topics.
// Errors: not_found (no such topic, none of the pilot's clusters has topics), usage (refused, in the
// framework's words), unavailable (the pilot has ended, no broker answers), timed_out.
Result<TopicAnswer> ask_topics(const Context& context, const RunningPilot& pilot,
                               const std::string& framework, const plugin::TopicRequest& request);

// What the adaptor's command printed (pilot/plugin/topics.hpp).  Errors: internal.
Result<TopicAnswer> parse_topic_answer(std::string_view printed);

}  // namespace pilot::core
