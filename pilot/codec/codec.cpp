#include "pilot/codec/codec.hpp"

#include <fmt/format.h>

#include "pilot/codec/json_archive.hpp"

namespace pilot::codec {
namespace {

// Replaces bytes that are not UTF-8 (they come from tools' output and logs) instead of failing.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Third parties' exceptions end here.
template <typename T, typename ReadFunction>
Result<T> guarded(std::string_view what, std::string_view text, ReadFunction&& read_it) {
  try {
    return read_it(Json::parse(text));
  } catch (const BadField& e) {
    return make_error(ErrorCode::failed, fmt::format("not a valid {}: {}", what, e.what()));
  } catch (const nlohmann::json::exception& e) {
    return make_error(ErrorCode::failed, fmt::format("not a valid {}: {}", what, e.what()));
  }
}

template <typename T>
Result<T> decode(std::string_view what, std::string_view text) {
  return guarded<T>(what, text, [](const Json& json) {
    T value;
    read(json, value);
    return value;
  });
}

// The names of a message's kinds, in the order of the variant's alternatives.
constexpr std::string_view verbs[] = {"register_node",
                                      "node_accepted",
                                      "heartbeat",
                                      "register_again",
                                      "service_report",
                                      "reports_stored",
                                      "start_services",
                                      "stop_services",
                                      "release_node",
                                      "node_released",
                                      "get_status",
                                      "stop_pilot",
                                      "status",
                                      "accepted",
                                      "refused",
                                      "extend_pilot",
                                      "extension_submitted",
                                      "extension_refused",
                                      "shrink_pilot",
                                      "extension_planned",
                                      "shrink_planned"};
static_assert(std::size(verbs) == std::variant_size_v<model::MessageBody>);

// Reads into the alternative of `Variant` whose name is `name`.
template <typename Variant, typename NameOf, std::size_t I = 0>
Variant read_alternative(const Json& json, const std::string& name, NameOf name_of) {
  if constexpr (I == std::variant_size_v<Variant>) {
    throw BadField("has no kind '" + name + "'");
  } else {
    if (name_of(I) != name) return read_alternative<Variant, NameOf, I + 1>(json, name, name_of);
    std::variant_alternative_t<I, Variant> value;
    read(json, value);
    return value;
  }
}

template <typename Variant, std::size_t... I>
std::vector<std::string> kinds_of(std::index_sequence<I...>) {
  return {std::string(model::kind_of(std::variant_alternative_t<I, Variant>{}))...};
}

const std::vector<std::string>& event_kinds() {
  static const auto kinds =
      kinds_of<model::EventBody>(std::make_index_sequence<std::variant_size_v<model::EventBody>>{});
  return kinds;
}

}  // namespace

std::string encode(const model::Event& event) {
  Json json = std::visit([](const auto& body) { return write(body); }, event.body);
  json["seq"] = event.sequence;
  json["at"] = write_time(event.at);
  json["kind"] = std::string(model::kind_of(event.body));
  return dump(json);
}

std::string encode(const model::Message& message) {
  return dump(Json{{"v", model::protocol_version},
                   {"id", message.id},
                   {"verb", std::string(verbs[message.body.index()])},
                   {"body", std::visit([](const auto& body) { return write(body); }, message.body)}});
}

std::string encode(const model::PilotSpec& spec) {
  return dump(write(spec));
}
std::string encode(const model::PilotState& state) {
  return dump(write(state));
}
std::string encode(const model::ServiceSpec& service) {
  return dump(write(service));
}
std::string encode(const model::ClusterPlan& plan) {
  return dump(write(plan));
}

Result<model::Event> decode_event(std::string_view text) {
  return guarded<model::Event>("event", text, [](const Json& json) {
    model::Event event;
    JsonReader reader{json};
    std::string kind;
    reader("seq", event.sequence), reader("at", event.at), reader("kind", kind);
    event.body = read_alternative<model::EventBody>(
        json, kind, [](std::size_t i) -> std::string_view { return event_kinds()[i]; });
    return event;
  });
}

Result<model::Message> decode_message(std::string_view text) {
  int version = model::protocol_version;
  auto message = guarded<model::Message>("message", text, [&version](const Json& json) {
    model::Message decoded;
    JsonReader reader{json};
    reader("v", version);
    if (version != model::protocol_version) return decoded;
    std::string verb;
    reader("id", decoded.id), reader("verb", verb);
    if (!json.contains("body")) throw BadField("field 'body' is missing");
    decoded.body =
        read_alternative<model::MessageBody>(json["body"], verb, [](std::size_t i) { return verbs[i]; });
    return decoded;
  });
  if (version == model::protocol_version) return message;
  return make_error(ErrorCode::unavailable,
                    fmt::format("the other side speaks protocol version {}, this program speaks {}", version,
                                model::protocol_version),
                    "use the release of pilot with which the pilot was started");
}

Result<model::PilotSpec> decode_spec(std::string_view text) {
  return decode<model::PilotSpec>("pilot spec", text);
}
Result<model::PilotState> decode_state(std::string_view text) {
  return decode<model::PilotState>("pilot state", text);
}
Result<model::ServiceSpec> decode_service(std::string_view text) {
  return decode<model::ServiceSpec>("service spec", text);
}
Result<model::ClusterPlan> decode_plan(std::string_view text) {
  return decode<model::ClusterPlan>("plan", text);
}

Json write_time(WallTime time) {
  const auto ns = time.time_since_epoch().count() % 1'000'000'000;
  std::string text = iso8601(time);
  text.replace(text.size() - 4, 4, fmt::format("{:09}Z", ns < 0 ? ns + 1'000'000'000 : ns));
  return text;
}

// Years that nanoseconds can't count (from 2262 on) are refused with the rest.
WallTime read_time(const Json& json) {
  const std::string text = json.get<std::string>();
  std::tm utc{};
  int year = 0, month = 0;
  long ns = 0;
  int length = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%9ldZ%n", &year, &month, &utc.tm_mday, &utc.tm_hour,
                  &utc.tm_min, &utc.tm_sec, &ns, &length) != 7 ||
      length != 30 || text.size() != 30 || year < 1970 || year > 2200 || month < 1 || month > 12 || ns < 0)
    throw BadField("is no time: '" + text + "'");
  utc.tm_year = year - 1900;
  utc.tm_mon = month - 1;
  return WallTime{std::chrono::seconds(timegm(&utc)) + std::chrono::nanoseconds(ns)};
}

}  // namespace pilot::codec
