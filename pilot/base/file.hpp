// Small files, written so that a crash leaves the old or the new content, never half.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "pilot/base/result.hpp"

namespace pilot {

// The whole file.  Errors: not_found when it does not exist, failed otherwise.
Result<std::string> read_file(const std::filesystem::path& path);

// Writes a temporary file beside `path` with `mode`, syncs it and renames it over `path`.
Result<void> write_file(const std::filesystem::path& path, std::string_view content, mode_t mode = 0644);

// Makes the folder and its parents; the last one gets `mode` whatever the umask.  One that exists is
// left as it is, for it may be shared.
Result<void> make_directory(const std::filesystem::path& path, mode_t mode = 0700);

// Removes a tree; a path that does not exist is success.
Result<void> remove_tree(const std::filesystem::path& path);

// The last `lines` lines of a text file (at most 1 MiB) without the final newline and without reading
// all of it; empty if it can't be read.
std::string tail_of_file(const std::filesystem::path& path, int lines);

// $HOME or the password database; XDG folders with their defaults (relative values are ignored).
std::filesystem::path home_directory();
std::filesystem::path xdg_state_directory();
std::filesystem::path xdg_cache_directory();
std::filesystem::path xdg_config_directory();

}  // namespace pilot
