// Writing and reading values as JSON by their field lists (fields.hpp).  Only codec's sources see this.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "pilot/codec/fields.hpp"

namespace pilot::codec {

using Json = nlohmann::json;

// Thrown while reading, and turned into an Error at the codec's functions.
struct BadField : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Json write_time(WallTime time);        // "2026-11-29T17:35:13.123456789Z"
WallTime read_time(const Json& json);  // throws BadField

template <typename Enum>
constexpr int last_value = 0;
template <>
inline constexpr int last_value<model::PilotPhase> = static_cast<int>(model::PilotPhase::failed);
template <>
inline constexpr int last_value<model::AllocationPhase> = static_cast<int>(model::AllocationPhase::unknown);
template <>
inline constexpr int last_value<model::NodePhase> = static_cast<int>(model::NodePhase::released);
template <>
inline constexpr int last_value<model::ServicePhase> = static_cast<int>(model::ServicePhase::lost);
template <>
inline constexpr int last_value<ErrorCode> = static_cast<int>(ErrorCode::internal);

template <typename T>
Json write(const T& value);
template <typename T>
void read(const Json& json, T& value);

template <typename T>
inline constexpr bool is_vector = false;
template <typename T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <typename T>
inline constexpr bool is_map = false;
template <typename T>
inline constexpr bool is_map<std::map<std::string, T>> = true;
template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;

using Probe = decltype(model::Readiness::probe);

struct JsonWriter {
  Json& out;
  template <typename T>
  void operator()(const char* name, const T& value) {
    out[name] = write(value);
  }
};

struct JsonReader {
  const Json& in;
  template <typename T>
  void operator()(const char* name, T& value) {
    const auto found = in.find(name);
    if (found == in.end()) {
      if constexpr (is_optional<T>) return;
      throw BadField(std::string("field '") + name + "' is missing");
    }
    try {
      read(*found, value);
    } catch (const BadField& e) {
      throw BadField(std::string(name) + ": " + e.what());
    } catch (const nlohmann::json::exception&) {
      throw BadField(std::string("field '") + name + "' has the wrong type (" + found->type_name() + ")");
    }
  }
};

template <typename T>
Json write(const T& value) {
  if constexpr (std::is_same_v<T, Duration>) {
    return std::chrono::duration<double>(value).count();
  } else if constexpr (std::is_same_v<T, WallTime>) {
    return write_time(value);
  } else if constexpr (std::is_same_v<T, Bytes>) {
    return value.count;
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(to_string(value));
  } else if constexpr (is_optional<T>) {
    return value ? write(*value) : Json();
  } else if constexpr (is_vector<T>) {
    Json array = Json::array();
    for (const auto& item : value) array.push_back(write(item));
    return array;
  } else if constexpr (is_map<T>) {
    Json object = Json::object();
    for (const auto& [name, item] : value) object[name] = write(item);
    return object;
  } else if constexpr (std::is_same_v<T, Probe>) {
    if (const auto* tcp = std::get_if<model::TcpProbe>(&value)) return Json{{"tcp", write(*tcp)}};
    if (const auto* command = std::get_if<model::CommandProbe>(&value))
      return Json{{"command", write(*command)}};
    return Json();
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else {
    Json object = Json::object();
    JsonWriter writer{object};
    fields(writer, value);
    return object;
  }
}

template <typename T>
void read_integer(const Json& json, T& value) {
  if (!json.is_number_integer()) throw BadField("is not a whole number");
  const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                              : std::in_range<T>(json.get<std::int64_t>());
  if (!fits) throw BadField("is out of range: " + json.dump());
  value = json.get<T>();
}

template <typename T>
void read(const Json& json, T& value) {
  if constexpr (std::is_same_v<T, Duration>) {
    const double seconds = json.get<double>();
    if (!(seconds > -9e9 && seconds < 9e9)) throw BadField("is no duration: " + json.dump());
    value = std::chrono::round<Duration>(std::chrono::duration<double>(seconds));
  } else if constexpr (std::is_same_v<T, WallTime>) {
    value = read_time(json);
  } else if constexpr (std::is_same_v<T, Bytes>) {
    read_integer(json, value.count);
  } else if constexpr (std::is_enum_v<T>) {
    const std::string word = json.get<std::string>();
    for (int i = 0; i <= last_value<T>; ++i)
      if (to_string(static_cast<T>(i)) == word) return void(value = static_cast<T>(i));
    throw BadField("has no value '" + word + "'");
  } else if constexpr (is_optional<T>) {
    value.reset();
    if (!json.is_null()) read(json, value.emplace());
  } else if constexpr (is_vector<T>) {
    if (!json.is_array()) throw BadField("is not an array");
    value.clear();
    for (const Json& item : json) read(item, value.emplace_back());
  } else if constexpr (is_map<T>) {
    if (!json.is_object()) throw BadField("is not an object");
    value.clear();
    for (const auto& [name, item] : json.items()) read(item, value[name]);
  } else if constexpr (std::is_same_v<T, Probe>) {
    if (json.is_null()) return void(value = std::monostate{});
    if (json.contains("tcp")) return read(json["tcp"], value.template emplace<model::TcpProbe>());
    if (json.contains("command")) return read(json["command"], value.template emplace<model::CommandProbe>());
    throw BadField("is no known probe: " + json.dump());
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    value = json.get<T>();
  } else if constexpr (std::is_integral_v<T>) {
    read_integer(json, value);
  } else {
    if (!json.is_object()) throw BadField("is not an object");
    JsonReader reader{json};
    fields(reader, value);
  }
}

}  // namespace pilot::codec
