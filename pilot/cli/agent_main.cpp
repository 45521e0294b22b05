// The program `pilot-agent`: the agents with this program's adaptors and installed software.
#include <cstdio>
#include <exception>
#include <string>

#include "adaptors/register.hpp"
#include "pilot/agent/agent_program.hpp"
#include "pilot/core/software.hpp"

int main(int argc, char** argv) {
  try {
    pilot::plugin::Registry registry = pilot::adaptors::all();
    const auto locate = [&registry](const std::string& framework) -> pilot::Result<pilot::plugin::Software> {
      PILOT_TRY(const pilot::plugin::FrameworkAdaptor* adaptor, registry.framework(framework));
      return pilot::core::locate_software(*adaptor);
    };
    return pilot::agent::run_agent_program({argv + 1, argv + argc}, registry, locate);
  } catch (const std::exception& error) {  // a bug: everything that the world can refuse is a Result
    std::fprintf(stderr, "pilot-agent: %s\n", error.what());
    return pilot::exit_code(pilot::ErrorCode::internal);
  }
}
