// The program `pilot`.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "adaptors/register.hpp"
#include "pilot/base/log.hpp"
#include "pilot/cli/command_tree.hpp"
#include "pilot/cli/help.hpp"
#include "pilot/cli/output.hpp"
#include "pilot/cli/parser.hpp"
#include "pilot/cli/signals.hpp"
#include "pilot/core/version.hpp"

namespace pilot::cli {
namespace {

int fail(const Error& error, bool json) {
  print_error(error, json);
  return exit_code(error.code);
}

int run(const std::vector<std::string>& words) {
  Session session;
  session.registry = adaptors::all();
  const auto root = make_command_tree(session);
  if (words.empty() || words == std::vector<std::string>{"-V"} ||
      words == std::vector<std::string>{"--version"}) {
    print(words.empty() ? help_text({root.get()}) : fmt::format("pilot {}\n", core::version()));
    return words.empty() ? exit_code(ErrorCode::usage) : 0;
  }
  const auto invocation = parse(*root, words);
  if (!invocation.has_value()) return fail(invocation.error(), session.json);
  if (invocation.value().help) {
    print(help_text(invocation.value().path));
    return 0;
  }
  if (session.verbose > 0) log::set_level(session.verbose > 1 ? log::Level::debug : log::Level::info);
  catch_signals();
  const auto code = invocation.value().command().run();
  if (!code.has_value()) return fail(code.error(), session.json);
  if (std::fflush(stdout) != 0) return exit_code(ErrorCode::failed);
  return code.value();
}

}  // namespace
}  // namespace pilot::cli

int main(int argc, char** argv) {
  try {
    return pilot::cli::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {  // a bug: everything that the world can refuse is a Result
    pilot::cli::print_error(pilot::make_error(pilot::ErrorCode::internal, error.what(), "please report this"),
                            false);
    return pilot::exit_code(pilot::ErrorCode::internal);
  }
}
