#include "pilot/cli/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

namespace pilot::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool wants_colour(const std::string& mode, int fd) {
  if (mode == "always") return true;
  if (mode == "never") return false;
  if (is_set("FORCE_COLOR")) return true;
  if (is_set("NO_COLOR")) return false;
  if (is_set("CLICOLOR_FORCE")) return true;
  const char* term = std::getenv("TERM");
  return isatty(fd) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

Colour colour_of_state(std::string_view state) {
  static const std::map<std::string_view, Colour> colours{
      {"ready", Colour::good},     {"up", Colour::good},       {"running", Colour::good},
      {"installed", Colour::good}, {"ok", Colour::good},       {"submitted", Colour::busy},
      {"starting", Colour::busy},  {"booting", Colour::busy},  {"pending", Colour::busy},
      {"expected", Colour::busy},  {"planned", Colour::busy},  {"preparing", Colour::busy},
      {"stopping", Colour::busy},  {"waiting", Colour::busy},  {"degraded", Colour::busy},
      {"warning", Colour::busy},   {"missing", Colour::busy},  {"failed", Colour::bad},
      {"lost", Colour::bad},       {"unknown", Colour::bad},   {"stopped", Colour::faint},
      {"ended", Colour::faint},    {"released", Colour::faint}};
  const auto found = colours.find(state);
  return found == colours.end() ? Colour::none : found->second;
}

std::string painted(std::string_view text, Colour colour, bool on) {
  if (!on || colour == Colour::none) return std::string(text);
  const int code = colour == Colour::good ? 32 : colour == Colour::busy ? 33 : colour == Colour::bad ? 31 : 2;
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

std::string Table::text(bool with_header, bool colour) const {
  std::vector<std::size_t> widths;
  for (const std::string& title : header_) widths.push_back(with_header ? width_of(title) : 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::string text;
  const auto add = [&](const std::vector<std::string>& row, bool head) {
    std::size_t used = row.size();  // no blanks at the end of a line
    while (used > 1 && row[used - 1].empty()) --used;
    for (std::size_t i = 0; i < used; ++i) {
      text += painted(row[i], head ? Colour::faint : colour_of_state(row[i]), colour);
      if (i + 1 < used) text += std::string(widths[i] - width_of(row[i]) + 2, ' ');
    }
    text += '\n';
  };
  if (with_header) add(header_, true);
  for (const auto& row : rows_) add(row, false);
  return text;
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

void print(std::string_view text) {
  fmt::print(stdout, "{}", text);
}

void say(std::string_view text) {
  fmt::print(stderr, "{}\n", text);
}

void print_error(const Error& error, bool json) {
  if (json) {
    const nlohmann::ordered_json document{{"schema", "pilot.error/1"},
                                          {"code", std::string(to_string(error.code))},
                                          {"exit_code", exit_code(error.code)},
                                          {"message", error.message},
                                          {"hint", error.hint}};
    say(document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  say("pilot: " + error.message);
  if (!error.hint.empty()) say("hint: " + error.hint);
}

}  // namespace pilot::cli
