#include "pilot/config/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "pilot/base/suggest.hpp"
#include "pilot/config/pilot_settings.hpp"
#include "pilot/config/reader.hpp"
#include "pilot/config/yaml.hpp"

namespace pilot::config {
namespace {

namespace fs = std::filesystem;

std::map<std::string, fs::path> files_of(const std::vector<fs::path>& folders) {
  std::map<std::string, fs::path> files;
  std::error_code none;
  for (const fs::path& folder : folders)
    for (const auto& entry : fs::directory_iterator(folder, none))
      if (entry.path().extension() == ".yaml") files.emplace(entry.path().stem(), entry.path());
  return files;
}

Result<std::vector<std::string>> read_guides(const MapReader& reader) {
  std::vector<std::string> guides;
  const Value* list = reader.find("guides");
  if (list == nullptr || list->is_null()) return guides;
  if (list->kind != Value::Kind::list)
    return error_at(list->origin, fmt::format("guides must be a list, not {}", shape_of(*list)));
  for (const Value& item : list->items) guides.push_back(item.text);
  return guides;
}

}  // namespace

Result<SiteProfile> read_site(const fs::path& file) {
  PILOT_TRY(const Value document, read_yaml(file));
  PILOT_TRY(const MapReader reader,
            MapReader::open(&document, "", {"title", "guides", "seen", "notes", "settings"}));
  SiteProfile profile;
  profile.name = file.stem();
  profile.file = file;
  PILOT_TRY_VOID(reader.read("title", profile.title));
  PILOT_TRY_VOID(reader.read("seen", profile.seen));
  PILOT_TRY_VOID(reader.read("notes", profile.notes));
  PILOT_TRY(profile.guides, read_guides(reader));
  if (const Value* settings = reader.find("settings"); settings != nullptr && !settings->is_null()) {
    profile.settings = *settings;
    normalise_frameworks(profile.settings);
    PILOT_TRY_VOID(decode_pilot_spec(profile.settings));
    for (const char* key : {"name", "site"})
      if (const Value* found = profile.settings.find(key))
        return error_at(found->origin, fmt::format("a site's profile has no '{}'", key));
  }
  return profile;
}

Result<SiteProfile> find_site(const std::vector<fs::path>& folders, const std::string& name,
                              const std::string& origin) {
  const auto files = files_of(folders);
  if (const auto found = files.find(name); found != files.end()) return read_site(found->second);
  std::vector<std::string> names;
  for (const auto& [known, file] : files) names.push_back(known);
  const std::string near = suggestion(name, names);
  return error_at(origin, fmt::format("there is no profile of a site '{}'", name),
                  near.empty() ? "'pilot config sites' lists them" : near);
}

Result<std::vector<SiteProfile>> list_sites(const std::vector<fs::path>& folders) {
  std::vector<SiteProfile> sites;
  for (const auto& [name, file] : files_of(folders)) {
    PILOT_TRY(SiteProfile profile, read_site(file));
    sites.push_back(std::move(profile));
  }
  return sites;
}

}  // namespace pilot::config
