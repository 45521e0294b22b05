// Profiles of machines: settings that suit one cluster, with the public guides that they are from.
// The form of the file is documented in adaptors/batch/sites/README.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/config/document.hpp"

namespace pilot::config {

struct SiteProfile {
  std::string name;  // of the file: "frontera"
  std::string title;
  std::vector<std::string> guides;  // addresses of pages
  std::string seen;                 // when they were read: "2026-08"
  std::string notes;
  Value settings;  // a part of a spec
  std::filesystem::path file;
};

// Errors: usage, at the place in the file.
Result<SiteProfile> read_site(const std::filesystem::path& file);

// The profile of this name in the first folder that has it.  Errors: usage, with a suggestion; `origin` says
// where the name was written.
Result<SiteProfile> find_site(const std::vector<std::filesystem::path>& folders, const std::string& name,
                              const std::string& origin);

// All of them by name; of those with one name the first.
Result<std::vector<SiteProfile>> list_sites(const std::vector<std::filesystem::path>& folders);

}  // namespace pilot::config
