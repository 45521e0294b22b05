// Typed reading of a map of settings, with errors that say where, what and what would be right.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/base/units.hpp"
#include "pilot/config/document.hpp"

namespace pilot::config {

class MapReader {
 public:
  // `path` stands before keys in messages: "node." makes "node.cores"; empty at the top.
  // Refuses a value that is no map (null is an empty one) and keys that are not in `keys`.
  static Result<MapReader> open(const Value* value, std::string path, std::vector<std::string> keys);

  // Each leaves `target` as it is when the key is missing or null.
  Result<void> read(const std::string& key, std::string& target) const;
  Result<void> read(const std::string& key, bool& target) const;
  Result<void> read(const std::string& key, Bytes& target) const;
  Result<void> read_walltime(const std::string& key, std::optional<Duration>& target) const;
  Result<void> read(const std::string& key, std::optional<Duration>& target) const;  // > 0
  Result<void> read(const std::string& key, Duration& target) const;                 // > 0
  Result<void> read_count(const std::string& key, int& target, int least, int most) const;

  const Value* find(const std::string& key) const;
  std::string name_of(const std::string& key) const { return path_ + key; }

 private:
  MapReader(const Value* map, std::string path) : map_(map), path_(std::move(path)) {}
  Result<const Value*> scalar(const std::string& key, std::string_view wanted) const;
  const Value* map_;  // nullptr: empty
  std::string path_;
};

// A map of single values, as text.  `path` as above.
Result<std::map<std::string, std::string>> read_texts(const Value* value, const std::string& path);

}  // namespace pilot::config
