#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "adaptors/framework/kafka/tool/arguments.hpp"
#include "adaptors/framework/kafka/tool/client.hpp"
#include "adaptors/framework/kafka/tool/commands.hpp"

namespace pilot::adaptors::kafka {

namespace {

// What still stands in the way; empty when nothing does.
std::string missing(const Metadata& metadata, const std::string& address, int id,
                    const std::vector<int>& expected) {
  if (metadata.answered_by != address)
    return fmt::format("'{}' answered in place of '{}'", metadata.answered_by, address);
  const auto at = std::find_if(metadata.brokers.begin(), metadata.brokers.end(),
                               [&](const BrokerInfo& broker) { return broker.id == id; });
  if (at == metadata.brokers.end())
    return fmt::format("broker {} answers but is not registered and unfenced yet", id);
  const auto host = at->host.find(':') == std::string::npos ? at->host : "[" + at->host + "]";
  if (const auto advertised = fmt::format("{}:{}", host, at->port); advertised != address) {
    return fmt::format("broker {} is at '{}'", id, advertised);
  }
  std::vector<int> absent;
  for (const int wanted : expected) {
    if (std::none_of(metadata.brokers.begin(), metadata.brokers.end(),
                     [&](const BrokerInfo& broker) { return broker.id == wanted; })) {
      absent.push_back(wanted);
    }
  }
  return absent.empty() ? ""
                        : fmt::format("broker {} does not see broker {} yet", id, fmt::join(absent, ", "));
}

}  // namespace

Result<std::string> run_ready(const std::vector<std::string>& words) {
  PILOT_TRY(const auto arguments,
            Arguments::parse(words, {"--config", "--broker", "--id", "--expect", "--timeout"}));
  PILOT_TRY(const auto config, arguments.required("--config"));
  PILOT_TRY(const auto address, arguments.required("--broker"));
  PILOT_TRY(const int id, arguments.id("--id"));
  PILOT_TRY(const auto expected, parse_ids(arguments.text("--expect", std::to_string(id))));
  PILOT_TRY(const auto timeout, arguments.duration("--timeout", std::chrono::seconds(5)));

  const Deadline deadline(system_clock(), timeout);
  const auto while_probing = fmt::format("broker {} at {} is not ready", id, address);
  PILOT_TRY(auto client, Client::open(config, {{"bootstrap.servers", address},
                                               {"reconnect.backoff.ms", "10"},
                                               {"reconnect.backoff.max.ms", "50"},
                                               {"topic.metadata.refresh.interval.ms", "-1"}}));
  std::string obstacle;
  while (true) {
    const auto metadata = client.metadata("", deadline);
    if (!metadata.has_value()) {
      if (metadata.error().code != ErrorCode::timed_out || obstacle.empty())
        return metadata.error().while_doing(while_probing);
      return make_error(ErrorCode::timed_out, obstacle).while_doing(while_probing);
    }
    obstacle = missing(metadata.value(), address, id, expected);
    if (obstacle.empty()) {
      std::vector<int> ids;
      for (const auto& broker : metadata.value().brokers) ids.push_back(broker.id);
      return fmt::format(
          R"({{"schema": "pilot-kafka.ready/1", "ready": true, "broker": {}, "brokers": [{}]}})", id,
          fmt::join(ids, ", "));
    }
    if (deadline.passed()) return make_error(ErrorCode::timed_out, obstacle).while_doing(while_probing);
    client.poll(std::chrono::milliseconds(10));
  }
}

}  // namespace pilot::adaptors::kafka
