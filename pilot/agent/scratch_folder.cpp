#include "pilot/agent/scratch_folder.hpp"

#include <fmt/format.h>

#include "pilot/base/file.hpp"

namespace pilot::agent {

namespace {

std::filesystem::path mark_of(const std::filesystem::path& folder) {
  return folder / ".pilot-scratch";
}

bool is_ours(const std::filesystem::path& folder, const std::string& pilot_id) {
  const auto mark = read_file(mark_of(folder));
  return mark.has_value() && mark.value() == pilot_id;
}

}  // namespace

Result<void> take_scratch(const std::filesystem::path& folder, const std::string& pilot_id) {
  PILOT_TRY_VOID(make_directory(folder));
  if (is_ours(folder, pilot_id)) return ok();
  std::error_code failure;
  if (!std::filesystem::is_empty(folder, failure) || failure)
    return make_error(ErrorCode::usage, fmt::format("the scratch folder '{}' is not empty", folder.string()),
                      "it would be removed with the pilot; name another one");
  return write_file(mark_of(folder), pilot_id, 0600);
}

Result<void> remove_scratch(const std::filesystem::path& folder, const std::string& pilot_id) {
  std::error_code failure;
  if (!std::filesystem::exists(folder, failure) && !failure) return ok();
  if (!is_ours(folder, pilot_id))
    return make_error(ErrorCode::failed,
                      fmt::format("the scratch folder '{}' is not ours any more", folder.string()));
  return remove_tree(folder);
}

}  // namespace pilot::agent
