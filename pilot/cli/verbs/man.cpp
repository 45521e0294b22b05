// pilot man
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "pilot/base/file.hpp"
#include "pilot/cli/help.hpp"
#include "pilot/cli/output.hpp"
#include "pilot/cli/verbs/verbs.hpp"

namespace pilot::cli {

Command man_command(Session& session, const Command& root) {
  auto folder = std::make_shared<std::string>();
  Command command{"man", "Write the man pages of all commands into a folder"};
  command.examples = {"pilot man ~/.local/share/man/man1"};
  command.arguments = {{"DIR", "the folder; it is made", folder.get(), true, {}, Completes::folders}};
  command.run = [&session, &root, folder]() -> Result<int> {
    const std::filesystem::path target = *folder;
    if (!std::filesystem::is_directory(target)) PILOT_TRY_VOID(make_directory(target, 0755));
    const auto pages = man_pages(root);
    for (const ManPage& page : pages) PILOT_TRY_VOID(write_file(target / page.file, page.text));
    if (!session.quiet) say(fmt::format("{} pages in {}", pages.size(), target.string()));
    return 0;
  };
  return command;
}

}  // namespace pilot::cli
