// The program `pilot-agent`: head and node agents (pilot/agent).
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <utility>

#include "adaptors/register.hpp"
#include "pilot/agent/agent_program.hpp"
#include "pilot/core/software.hpp"

int main(int argc, char** argv) {
  try {
    pilot::plugin::Registry registry = pilot::adaptors::all();
    const auto locate = [&](const std::string& framework) -> pilot::Result<pilot::plugin::Software> {
      PILOT_TRY(const auto* adaptor, std::as_const(registry).framework(framework));
      return pilot::core::locate_software(*adaptor);
    };
    return pilot::agent::run_agent_program({argv + 1, argv + argc}, registry, locate);
  } catch (const std::exception& error) {  // a bug: everything that the world can refuse is a Result
    fmt::print(stderr, "pilot-agent: {}; please report this\n", error.what());
    return pilot::exit_code(pilot::ErrorCode::internal);
  }
}
