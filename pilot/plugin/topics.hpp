// Topics of a cluster that keeps messages in them: what `pilot topic` asks an adaptor for.
#pragma once

#include <map>
#include <string>

#include "pilot/base/clock.hpp"

namespace pilot::plugin {

// The adaptor answers with a command that asks the running cluster.  It prints one JSON object on standard
// output, a TOPIC being {"name": "frames", "internal": false, "partitions": [{"id": 0, "leader": 1 (-1:
// none), "replicas": [1, 2], "in_sync": [1, 2]}], "bytes_by_broker": {"1": 4096} (or null)}:
//   list             {"topics": [TOPIC, ...]}
//   describe         {"topic": TOPIC}
//   create           {"topic": TOPIC, "created": true (false: it was there)}
//   grow             {"topic": TOPIC, "grown_from": 3, "caution": "keyed messages ..." (or null)}
// On failure it prints "NAME: cause" on standard error, with the remedy after "; ", and exits as exit_code()
// says.
struct TopicRequest {
  enum class Verb { list, describe, create, grow };
  Verb verb = Verb::list;
  std::string topic;                            // not for `list`
  int partitions = 0;                           // altogether; 0: not said
  int replicas = 0;                             // 0: the cluster's default
  std::map<std::string, std::string> settings;  // of a new topic, in the framework's words
  bool if_absent = false;                       // a topic that is there already is success
  Duration timeout = std::chrono::seconds(10);
};

}  // namespace pilot::plugin
