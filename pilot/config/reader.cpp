#include "pilot/config/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "pilot/base/suggest.hpp"
#include "pilot/base/walltime.hpp"

namespace pilot::config {
namespace {

bool is_map_or_null(const Value& value) {
  return value.is_null() || value.kind == Value::Kind::map;
}

Error wrong_shape(const Value& value, std::string_view name, std::string_view wanted) {
  return error_at(value.origin, fmt::format("{} must be {}, not {}", name, wanted, shape_of(value)));
}

}  // namespace

Result<MapReader> MapReader::open(const Value* value, std::string path, std::vector<std::string> keys) {
  if (value == nullptr || value->is_null()) return MapReader(nullptr, std::move(path));
  if (value->kind != Value::Kind::map) {
    const std::string name = path.empty() ? "this" : path.substr(0, path.size() - 1);
    return wrong_shape(*value, name, fmt::format("a map with keys like '{}'", keys.front()));
  }
  for (const Entry& entry : value->entries)
    if (std::find(keys.begin(), keys.end(), entry.key) == keys.end())
      return error_at(entry.origin, fmt::format("unknown key '{}{}'", path, entry.key),
                      suggestion(entry.key, keys));
  return MapReader(value, std::move(path));
}

const Value* MapReader::find(const std::string& key) const {
  const Value* value = map_ == nullptr ? nullptr : map_->find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<const Value*> MapReader::scalar(const std::string& key, std::string_view wanted) const {
  const Value* value = find(key);
  if (value != nullptr && value->kind != Value::Kind::scalar)
    return wrong_shape(*value, name_of(key), wanted);
  return value;
}

Result<void> MapReader::read(const std::string& key, std::string& target) const {
  PILOT_TRY(const Value* value, scalar(key, "a single value"));
  if (value != nullptr) target = value->text;
  return ok();
}

Result<void> MapReader::read(const std::string& key, bool& target) const {
  PILOT_TRY(const Value* value, scalar(key, "true or false"));
  if (value == nullptr) return ok();
  for (const char* yes : {"true", "yes", "on"})
    if (value->text == yes) return target = true, ok();
  for (const char* no : {"false", "no", "off"})
    if (value->text == no) return target = false, ok();
  return wrong_shape(*value, name_of(key), "true or false");
}

Result<void> MapReader::read(const std::string& key, Bytes& target) const {
  PILOT_TRY(const Value* value, scalar(key, "a size like 2G"));
  if (value == nullptr) return ok();
  auto parsed = parse_bytes(value->text);
  if (!parsed.has_value()) return wrong_shape(*value, name_of(key), "a size like 512M or 2G");
  target = parsed.value();
  return ok();
}

Result<void> MapReader::read(const std::string& key, std::optional<Duration>& target) const {
  PILOT_TRY(const Value* value, scalar(key, "a time like 2h30m"));
  if (value == nullptr) return ok();
  auto parsed = parse_duration(value->text);
  if (!parsed.has_value()) return wrong_shape(*value, name_of(key), "a time like 90s, 2h30m or 01:30:00");
  if (parsed.value() <= Duration{0}) return wrong_shape(*value, name_of(key), "longer than zero");
  target = parsed.value();
  return ok();
}

Result<void> MapReader::read_walltime(const std::string& key, std::optional<Duration>& target) const {
  const Value* value = find(key);
  if (value == nullptr || value->kind != Value::Kind::scalar) return read(key, target);
  const auto time = parse_walltime(value->text);
  if (time.has_error() && parse_duration(value->text).has_value() && value->text != "0")
    return error_at(value->origin, fmt::format("{}: {}", name_of(key), time.error().message),
                    time.error().hint);
  if (time.has_error() || time.value() <= Duration{0}) return read(key, target);  // says what is wrong
  target = time.value();
  return ok();
}

Result<void> MapReader::read(const std::string& key, Duration& target) const {
  std::optional<Duration> value;
  PILOT_TRY_VOID(read(key, value));
  target = value.value_or(target);
  return ok();
}

Result<void> MapReader::read_count(const std::string& key, int& target, int least, int most) const {
  PILOT_TRY(const Value* value, scalar(key, "a whole number"));
  if (value == nullptr) return ok();
  const char* end = value->text.data() + value->text.size();
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(value->text.data(), end, number);
  const bool too_long = error == std::errc::result_out_of_range;
  if (stop != end || (error != std::errc{} && !too_long))
    return wrong_shape(*value, name_of(key), "a whole number");
  const bool negative = value->text.front() == '-';
  const auto refuse = [&](std::string_view side, int bound) {
    return error_at(value->origin,
                    fmt::format("{} must be {} {}, not {}", name_of(key), side, bound, value->text));
  };
  if (too_long ? negative : number < least) return refuse("at least", least);
  if (too_long || number > most) return refuse("at most", most);
  target = static_cast<int>(number);
  return ok();
}

Result<std::map<std::string, std::string>> read_texts(const Value* value, const std::string& path) {
  std::map<std::string, std::string> texts;
  if (value == nullptr) return texts;
  if (!is_map_or_null(*value)) return wrong_shape(*value, path.substr(0, path.size() - 1), "a map");
  for (const Entry& entry : value->entries) {
    if (entry.value.kind == Value::Kind::list || entry.value.kind == Value::Kind::map)
      return wrong_shape(entry.value, path + entry.key, "a single value");
    texts[entry.key] = entry.value.text;
  }
  return texts;
}

}  // namespace pilot::config
