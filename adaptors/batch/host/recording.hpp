// For tests of dialects: a recorded answer of a tool (the form is told in tests/fixtures/slurm/README.md).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "pilot/base/file.hpp"
#include "pilot/proc/command_run.hpp"

namespace pilot::adaptors::host {

inline proc::CommandResult recording(const std::filesystem::path& path) {
  const auto text = read_file(path);
  proc::CommandResult answer;
  std::istringstream lines(text.has_value() ? text.value() : "");
  std::string* into = &answer.out;
  bool head = true;  // before "# rc="
  for (std::string line; std::getline(lines, line);) {
    if (head) {
      if (!line.starts_with("# rc=")) continue;
      answer.status.code = std::atoi(line.c_str() + 5);
      head = false;
    } else if (line == "# stderr:") {
      into = &answer.err;
    } else {
      *into += line + "\n";
    }
  }
  if (head) {
    std::fprintf(stderr, "%s is no recording\n", path.c_str());
    std::abort();
  }
  return answer;
}

}  // namespace pilot::adaptors::host
