// What commands print: data to standard output, everything else to standard error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pilot/base/error.hpp"

namespace pilot::cli {

// Colour by the rules users know: FORCE_COLOR and CLICOLOR_FORCE switch it on, NO_COLOR off (it beats
// CLICOLOR_FORCE), else a terminal that is not dumb has it.  `mode`: "auto", "always", "never".
bool wants_colour(const std::string& mode, int fd);

enum class Colour { none, good, busy, bad, faint };

// The colour of a state word ("ready", "starting", "failed").
Colour colour_of_state(std::string_view state);
std::string painted(std::string_view text, Colour colour, bool on);

// Columns that line up.  State words are coloured when `colour` is on; never truncated.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  std::string text(bool with_header, bool colour) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

// Letters of a UTF-8 text.
std::size_t width_of(std::string_view text);

// 'it'\''s': one word for a POSIX shell.
std::string shell_quoted(std::string_view text);

void print(std::string_view text);                // to standard output
void say(std::string_view text);                  // a line to standard error
void print_error(const Error& error, bool json);  // to standard error

}  // namespace pilot::cli
