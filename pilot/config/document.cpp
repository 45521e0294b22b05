#include "pilot/config/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pilot::config {

Value Value::scalar(std::string text, std::string origin) {
  Value value;
  value.kind = Kind::scalar;
  value.text = std::move(text);
  value.origin = std::move(origin);
  return value;
}

Value Value::map(std::string origin) {
  Value value;
  value.kind = Kind::map;
  value.origin = std::move(origin);
  return value;
}

const Value* Value::find(std::string_view key) const {
  for (const Entry& candidate : entries)
    if (candidate.key == key) return &candidate.value;
  return nullptr;
}

const Value* Value::at(const std::vector<std::string>& path) const {
  const Value* value = this;
  for (const std::string& key : path) {
    value = value->find(key);
    if (value == nullptr) return nullptr;
  }
  return value;
}

Value& Value::entry(const std::string& key, const std::string& entry_origin) {
  if (kind == Kind::null) {
    kind = Kind::map;
    if (origin.empty()) origin = entry_origin;
  }
  for (Entry& candidate : entries)
    if (candidate.key == key) return candidate.value;
  entries.push_back(Entry{key, entry_origin, {}});
  return entries.back().value;
}

Value merge(Value lower, const Value& higher) {
  if (lower.kind != Value::Kind::map || higher.kind != Value::Kind::map) return higher;
  if (higher.exact) {
    std::erase_if(lower.entries, [&](const Entry& entry) { return higher.find(entry.key) == nullptr; });
    lower.exact = true;
    lower.origin = higher.origin;
  }
  for (const Entry& entry : higher.entries) {
    Value& target = lower.entry(entry.key, entry.origin);
    // A framework that a flag merely names ("kafka:" without settings) keeps the settings of a file.
    const bool named_only = entry.value.is_null() && target.kind == Value::Kind::map;
    if (!named_only) target = merge(std::move(target), entry.value);
  }
  return lower;
}

std::string shape_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return "nothing";
    case Value::Kind::scalar:
      return fmt::format("'{}'", value.text);
    case Value::Kind::list:
      return "a list";
    case Value::Kind::map:
      return "a map";
  }
  return "nothing";
}

Error error_at(std::string_view origin, std::string_view message, std::string hint) {
  if (origin.empty()) return make_error(ErrorCode::usage, std::string(message), std::move(hint));
  return make_error(ErrorCode::usage, fmt::format("{}: {}", origin, message), std::move(hint));
}

}  // namespace pilot::config
