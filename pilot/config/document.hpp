// Settings as text with their origins: what a YAML file, the environment and flags have in common
// before anything knows what the keys mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pilot/base/error.hpp"

namespace pilot::config {

struct Entry;

// A value and where it stands: "spec.yaml:7:3", "PILOT_NODES", "--nodes".
struct Value {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string text;            // of a scalar
  std::vector<Value> items;    // of a list
  std::vector<Entry> entries;  // of a map, in the order of the file
  std::string origin;
  bool exact = false;  // a map that is the whole set: merging drops what a lower layer has beside it

  static Value scalar(std::string text, std::string origin);
  static Value map(std::string origin);

  bool is_null() const { return kind == Kind::null; }
  const Value* find(std::string_view key) const;  // in a map; nullptr when it is not there
  const Value* at(const std::vector<std::string>& path) const;

  // The entry of this key in a map (made when missing; a null becomes a map).
  Value& entry(const std::string& key, const std::string& entry_origin);
};

struct Entry {
  std::string key;
  std::string origin;  // of the key itself
  Value value;
};

// Puts `higher` over `lower`: maps are merged key by key, everything else is replaced.
Value merge(Value lower, const Value& higher);

// "a list", "a map", "'three'": the value's shape in an error message.
std::string shape_of(const Value& value);

// A usage error at a place: "spec.yaml:7:3: unknown key 'x'".
Error error_at(std::string_view origin, std::string_view message, std::string hint = {});

}  // namespace pilot::config
