#include "adaptors/batch/host/shell_text.hpp"

#include <algorithm>

namespace pilot::adaptors::host {
namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr std::string_view name_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

bool is_plain(char c) {
  return name_characters.find(c) != std::string_view::npos ||
         std::string_view("./:=@%+,-").find(c) != std::string_view::npos;
}

// Length of a variable at the beginning of the text, with its $ and braces; 0: there is none.
std::size_t variable_length(std::string_view text) {
  const bool braces = text.starts_with("${");
  const std::size_t start = braces ? 2 : 1;
  if (text.size() <= start || letters.find(text[start]) == std::string_view::npos) return 0;
  const std::size_t end = std::min(text.find_first_not_of(name_characters, start), text.size());
  if (!braces) return end;
  return end < text.size() && text[end] == '}' ? end + 1 : 0;
}

}  // namespace

bool is_shell_name(std::string_view text) {
  return !text.empty() && letters.find(text.front()) != std::string_view::npos &&
         text.find_first_not_of(name_characters) == std::string_view::npos;
}

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'')
      word += "'\\''";
    else
      word += c;
  }
  return word + "'";
}

std::string shell_path(std::string_view text) {
  std::string word = "\"";
  if (text == "~" || text.starts_with("~/")) {
    word += "$HOME";
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    std::size_t length = text.front() == '$' ? variable_length(text) : 0;
    if (length == 0) {
      length = 1;
      if (std::string_view("$`\"\\").find(text.front()) != std::string_view::npos) word += '\\';
    }
    word += text.substr(0, length);
    text.remove_prefix(length);
  }
  return word + "\"";
}

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

}  // namespace pilot::adaptors::host
