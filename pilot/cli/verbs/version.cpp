// pilot version
#include "pilot/core/version.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pilot/cli/output.hpp"
#include "pilot/cli/verbs/verbs.hpp"
#include "pilot/core/programs.hpp"

namespace pilot::cli {

Command version_command(Session& session) {
  Command command{"version", "Print the version"};
  command.examples = {"pilot version"};
  command.run = [&session]() -> Result<int> {
    if (session.json) {
      print(nlohmann::ordered_json{{"schema", "pilot.version/1"},
                                   {"version", core::version()},
                                   {"programs", core::program_folder().string()}}
                .dump(2) +
            "\n");
    } else {
      print(fmt::format("pilot {}\n", core::version()));
    }
    return 0;
  };
  return command;
}

}  // namespace pilot::cli
