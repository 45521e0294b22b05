#include "adaptors/batch/host/detached.hpp"

#include <string>
#include <string_view>

namespace pilot::adaptors::host {

model::Command detached(const model::Command& command, const std::filesystem::path& output, Duration watch) {
  static constexpr const char* script =
      "output=$1 looks=$2; shift 2\n"
      "setsid \"$@\" </dev/null >>\"$output\" 2>&1 &\n"
      "while [ \"$looks\" -gt 0 ]; do\n"
      "  kill -0 $! 2>/dev/null || { wait $!; exit; }\n"
      "  sleep 0.1; looks=$((looks - 1))\n"
      "done\n";
  model::Command started = command;
  const auto looks = watch / std::chrono::milliseconds(100);
  started.argv = {"/bin/sh", "-c", script, "launch", output.string(), std::to_string(looks)};
  started.argv.insert(started.argv.end(), command.argv.begin(), command.argv.end());
  return started;
}

model::Command detached_until(const model::Command& command, const std::filesystem::path& output,
                              std::string_view word) {
  static constexpr const char* script =
      "output=$1 word=$2; shift 2; : >\"$output\"\n"
      "setsid \"$@\" </dev/null >>\"$output\" 2>&1 &\n"
      "code=0\n"
      "until grep -q \"$word\" \"$output\"; do\n"
      "  kill -0 $! 2>/dev/null || { wait $!; code=$?; break; }\n"
      "  sleep 0.1\n"
      "done\n"
      "cat \"$output\"\n"
      "[ \"$code\" -eq 0 ] || cat \"$output\" >&2\n"
      "exit \"$code\"\n";
  model::Command started = command;
  started.argv = {"/bin/sh", "-c", script, "ask", output.string(), std::string(word)};
  started.argv.insert(started.argv.end(), command.argv.begin(), command.argv.end());
  return started;
}

}  // namespace pilot::adaptors::host
