// The program's own log: one line per message, to standard error or to a file.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

namespace pilot::log {

enum class Level { debug, info, warning, error, off };

// Lines below `level` are dropped.  Default: warning, to standard error.
void set_level(Level level);
Level level();

// Appends to a file (0600) from now on; falls back to standard error if it can't be opened.
void to_file(const std::filesystem::path& path);
void to_standard_error();

// "2026-11-29T17:35:13.123Z info  text"; newlines in the text become "\n".
void write(Level level, std::string_view text);

template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  if (level() <= Level::debug) write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  if (level() <= Level::info) write(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  if (level() <= Level::warning) write(Level::warning, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  if (level() <= Level::error) write(Level::error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace pilot::log
