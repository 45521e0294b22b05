#include "pilot/cli/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "pilot/cli/output.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot::cli {

std::vector<Option> Session::options() {
  const std::string group = "All commands";
  return {
      {"--json", "", "data as one JSON document with a schema name", &json, {}, Completes::nothing, group},
      {"--color", "WHEN", "colour", &colour, {"auto", "always", "never"}, Completes::nothing, group},
      {"--progress",
       "HOW",
       "progress on standard error",
       &progress,
       {"auto", "plain", "json", "none"},
       Completes::nothing,
       group},
      {"-q,--quiet", "", "nothing on standard error but errors", &quiet, {}, Completes::nothing, group},
      {"-v,--verbose",
       "",
       "more on standard error; twice: everything",
       &verbose,
       {},
       Completes::nothing,
       group},
  };
}

bool Session::colour_on_stdout() const {
  return wants_colour(colour, STDOUT_FILENO);
}

Progress Session::make_progress() const {
  return Progress(progress, quiet, wants_colour(colour, STDERR_FILENO), *clock);
}

Result<std::string> pilot_name(const std::string& given) {
  if (!given.empty()) return given;
  const auto names = store::PilotFolder::names();
  if (names.size() == 1) return names.front();
  if (names.empty())
    return make_error(ErrorCode::not_found, "there is no pilot", "'pilot start NAME' starts one");
  return make_error(ErrorCode::usage, "there are several pilots: name one",
                    fmt::format("one of: {}", fmt::join(names, ", ")));
}

Argument pilot_argument(std::string& target, bool required) {
  return {"NAME",  required ? "the pilot" : "the pilot; may be left out when there is only one",
          &target, required,
          {},      Completes::pilots};
}

std::string age_of(WallTime since, const Clock& clock) {
  if (since == WallTime{}) return {};
  const auto age = std::chrono::floor<std::chrono::seconds>(clock.wall() - since);
  return format_duration(std::max<Duration>(age, Duration{0}));
}

}  // namespace pilot::cli
