#include "pilot/store/node_keys.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

#include "pilot/base/file.hpp"

namespace pilot::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t key_length = 40;
constexpr std::size_t line_length = 2 * key_length + 2;  // "PUBLIC SECRET\n"

// By their first nodes.
std::map<int, fs::path> key_files(const fs::path& folder) {
  constexpr std::string_view prefix = "nodes-";
  std::map<int, fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    int first = 0;
    if (name.starts_with(prefix) &&
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), first).ec == std::errc{})
      files[first] = entry.path();
  }
  return files;
}

bool read_line(std::istream& text, net::CurveKeyPair& keys) {
  return text >> keys.public_key >> keys.secret_key && keys.public_key.size() == key_length &&
         keys.secret_key.size() == key_length;
}

Error damaged(const fs::path& file) {
  return make_error(ErrorCode::failed, fmt::format("{} is damaged", file.string()));
}

}  // namespace

Result<void> make_node_keys(const fs::path& folder, int first, int nodes) {
  std::string text;
  for (int i = 0; i < nodes; ++i) {
    const net::CurveKeyPair keys = net::make_curve_key_pair();
    text += keys.public_key + ' ' + keys.secret_key + '\n';
  }
  return write_file(folder / fmt::format("nodes-{}.txt", first), text, 0600);
}

Result<net::CurveKeyPair> read_node_keys(const fs::path& folder, int node) {
  const auto files = key_files(folder);
  const auto after = files.upper_bound(node);
  const auto missing = make_error(ErrorCode::not_found, fmt::format("node-{} has no keys", node));
  if (after == files.begin()) return missing;
  const auto& [first, path] = *std::prev(after);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(node - first) * static_cast<std::streamoff>(line_length));
  if (file.peek() == std::ifstream::traits_type::eof()) return missing;
  net::CurveKeyPair keys;
  if (!read_line(file, keys)) return damaged(path);
  return keys;
}

Result<std::set<std::string>> public_node_keys(const fs::path& folder) {
  std::set<std::string> all;
  for (const auto& [first, path] : key_files(folder)) {
    PILOT_TRY(const std::string text, read_file(path));
    if (text.size() % line_length != 0) return damaged(path);
    std::istringstream lines(text);
    net::CurveKeyPair keys;
    for (std::size_t line = 0; line < text.size() / line_length; ++line) {
      if (!read_line(lines, keys)) return damaged(path);
      all.insert(keys.public_key);
    }
  }
  return all;
}

}  // namespace pilot::store
