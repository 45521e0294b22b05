// What users may set for Kafka: the adaptor's own options, and Kafka's settings under `config`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"
#include "pilot/base/units.hpp"
#include "pilot/model/pilot_spec.hpp"
#include "pilot/plugin/framework_adaptor.hpp"

namespace pilot::adaptors::kafka {

struct Options {
  std::optional<int> controllers;  // 1 or 3; empty: by the base's machines
  int brokers = 0;                 // 0: one per node
  std::optional<Bytes> heap;       // of a broker; empty: from the node's memory
  Bytes max_message{34603008};     // 33 MiB: a frame of 32 MiB and its headers
  std::vector<std::string> data;   // folders for logs that outlive the pilot; empty: the node's scratch
  Duration move_patience = std::chrono::minutes(2);  // of moving replicas, while none comes nearer
  std::map<std::string, std::string> config;
};

std::vector<plugin::OptionDoc> option_docs();

// Errors: usage, naming the option or the key under `config` and why it is refused.
Result<Options> parse_options(const model::FrameworkSpec& framework);

}  // namespace pilot::adaptors::kafka
