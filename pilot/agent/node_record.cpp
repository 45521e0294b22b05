#include "pilot/agent/node_record.hpp"

#include <nlohmann/json.hpp>

#include "pilot/codec/codec.hpp"

namespace pilot::agent {

namespace {

using Json = nlohmann::json;

// Specifications and reports are codec's; they stand in the record as the text that it makes.
Json to_json(const ServiceRecord& record) {
  Json restarts = Json::array();
  for (const auto at : record.restarts) restarts.push_back(at.time_since_epoch().count());
  return {{"spec", codec::encode(record.spec)},
          {"phase", std::string(to_string(record.phase))},
          {"process", {record.process.pid, record.process.start_ticks, record.process.boot_id}},
          {"starts", record.starts},
          {"restarts_ns", std::move(restarts)},
          {"reason", record.reason},
          {"log_tail", record.log_tail}};
}

model::ServicePhase phase_from(const std::string& name) {
  using enum model::ServicePhase;
  for (const auto phase : {planned, preparing, starting, ready, waiting, stopping, stopped, failed})
    if (to_string(phase) == name) return phase;
  throw Json::other_error::create(501, "unknown phase '" + name + "'", nullptr);
}

Result<ServiceRecord> service_from(const Json& json) {
  ServiceRecord record;
  PILOT_TRY(record.spec, codec::decode_service(json.at("spec").get_ref<const std::string&>()));
  record.phase = phase_from(json.at("phase"));
  const Json& process = json.at("process");
  record.process = {process.at(0), process.at(1), process.at(2)};
  record.starts = json.at("starts");
  for (const auto& at : json.at("restarts_ns"))
    record.restarts.emplace_back(std::chrono::nanoseconds(at.get<std::int64_t>()));
  record.reason = json.at("reason");
  record.log_tail = json.at("log_tail");
  return record;
}

Result<NodeRecord> record_from(const Json& json) {
  NodeRecord record;
  record.pilot_id = json.at("pilot_id");
  record.free_ports = json.at("free_ports").get<std::vector<std::uint16_t>>();
  record.last_report = json.at("last_report");
  record.joined_ns = json.at("joined_ns");
  record.boot_id = json.at("boot_id");
  for (const auto& text : json.at("unacknowledged")) {
    PILOT_TRY(const auto message, codec::decode_message(text.get_ref<const std::string&>()));
    if (const auto* report = std::get_if<model::ServiceReport>(&message.body))
      record.unacknowledged.push_back(*report);
  }
  for (const auto& service : json.at("services")) {
    PILOT_TRY(auto one, service_from(service));
    record.services.push_back(std::move(one));
  }
  if (const auto head = json.find("head"); head != json.end()) {
    PILOT_TRY(record.head, service_from(*head));
  }
  return record;
}

}  // namespace

std::string encode(const NodeRecord& record) {
  Json json{{"pilot_id", record.pilot_id},       {"free_ports", record.free_ports},
            {"last_report", record.last_report}, {"joined_ns", record.joined_ns},
            {"boot_id", record.boot_id},         {"unacknowledged", Json::array()},
            {"services", Json::array()}};
  for (const auto& report : record.unacknowledged)
    json["unacknowledged"].push_back(codec::encode(model::Message{{}, report}));
  for (const auto& service : record.services) json["services"].push_back(to_json(service));
  if (record.head) json["head"] = to_json(*record.head);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<NodeRecord> decode_node_record(std::string_view text) {
  try {
    return record_from(Json::parse(text));
  } catch (const Json::exception& error) {
    return make_error(ErrorCode::failed, std::string("not a valid node record: ") + error.what());
  }
}

}  // namespace pilot::agent
