// pilot config show, pilot config explain
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "pilot/base/suggest.hpp"
#include "pilot/cli/output.hpp"
#include "pilot/cli/spec_flags.hpp"
#include "pilot/cli/verbs/verbs.hpp"
#include "pilot/config/site.hpp"
#include "pilot/core/programs.hpp"

namespace pilot::cli {
namespace {

using nlohmann::ordered_json;

struct ShowFlags {
  SpecFlags spec;
  bool origin = false;
};

Result<int> run_show(Session& session, const ShowFlags& flags) {
  PILOT_TRY(const config::Value settings, flags.spec.settings(""));
  PILOT_TRY_VOID(config::decode_pilot_spec(settings));
  ordered_json list = ordered_json::array();
  Table table({"SETTING", "VALUE", "ORIGIN"});
  Table without_origin({"SETTING", "VALUE"});
  for (const config::ShownSetting& setting : config::show_settings(settings)) {
    list.push_back({{"key", setting.key}, {"value", setting.value}, {"origin", setting.origin}});
    table.add({setting.key, setting.value, setting.origin});
    without_origin.add({setting.key, setting.value});
  }
  if (session.json) {
    print(ordered_json{{"schema", "pilot.config/1"}, {"settings", std::move(list)}}.dump(2) + "\n");
  } else {
    print((flags.origin ? table : without_origin).text(true, false));
  }
  return 0;
}

std::string variable_of(std::string_view key) {
  std::string name = "PILOT_";
  for (const char c : key)
    name += c == '.' ? std::string("__")
                     : std::string(1, static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
  return name;
}

Result<int> run_explain(Session& session, const std::string& key) {
  ordered_json list = ordered_json::array();
  std::vector<std::string> keys;
  Table table({"SETTING", "VALUE", "DEFAULT", "ENVIRONMENT", "MEANING"});
  for (const config::SettingDoc& doc : config::setting_docs()) {
    keys.emplace_back(doc.key);
    if (!key.empty() && key != doc.key) continue;
    const std::string variable = doc.key == "name" ? "-" : variable_of(doc.key);
    table.add({std::string(doc.key), std::string(doc.value),
               doc.default_value.empty() ? "-" : std::string(doc.default_value), variable,
               std::string(doc.help)});
    list.push_back({{"key", doc.key},
                    {"value", doc.value},
                    {"default", doc.default_value},
                    {"environment", variable},
                    {"help", doc.help}});
  }
  if (table.empty())
    return make_error(ErrorCode::not_found, fmt::format("there is no setting '{}'", key),
                      suggestion(key, keys));
  if (session.json) {
    print(ordered_json{{"schema", "pilot.settings/1"}, {"settings", std::move(list)}}.dump(2) + "\n");
  } else {
    print(table.text(true, false));
  }
  return 0;
}

// The folders in which --site looks.
std::vector<std::filesystem::path> site_folders() {
  auto folders = config::default_layer_files().profiles;
  if (const auto installed = core::sites_folder(); !installed.empty()) folders.push_back(installed);
  return folders;
}

void print_site(const config::SiteProfile& site) {
  print(fmt::format("{}\n\n{}\n\n", site.title, site.notes));
  for (const auto& setting : config::show_settings(site.settings))
    if (setting.origin != "default") print(fmt::format("  {}: {}\n", setting.key, setting.value));
  print(fmt::format("\nread in {} from:\n", site.seen));
  for (const auto& guide : site.guides) print(fmt::format("  {}\n", guide));
}

Result<int> run_sites(Session& session, const std::string& name) {
  std::vector<config::SiteProfile> sites;
  if (name.empty()) {
    PILOT_TRY(sites, config::list_sites(site_folders()));
  } else {
    PILOT_TRY(auto site, config::find_site(site_folders(), name, "NAME"));
    sites.push_back(std::move(site));
  }
  ordered_json list = ordered_json::array();
  Table table({"SITE", "RESOURCE", "TITLE", "FILE"});
  for (const config::SiteProfile& site : sites) {
    ordered_json settings = ordered_json::object();
    for (const auto& setting : config::show_settings(site.settings))
      if (setting.origin != "default") settings[setting.key] = setting.value;
    const std::string resource = settings.value("resource", "-");
    table.add({site.name, resource, site.title, site.file.string()});
    list.push_back({{"name", site.name},
                    {"title", site.title},
                    {"guides", site.guides},
                    {"seen", site.seen},
                    {"notes", site.notes},
                    {"settings", std::move(settings)},
                    {"file", site.file.string()}});
  }
  if (session.json) {
    print(ordered_json{{"schema", "pilot.sites/1"}, {"sites", std::move(list)}}.dump(2) + "\n");
  } else if (name.empty()) {
    print(table.text(true, false));
  } else {
    print_site(sites.front());
  }
  return 0;
}

}  // namespace

Command config_command(Session& session) {
  auto show_flags = std::make_shared<ShowFlags>();
  Command show{"show", "Print the settings that a start here and now would have"};
  show.examples = {"pilot config show --origin", "pilot config show -f spec.yaml --nodes 5 --origin"};
  show.options = show_flags->spec.options();
  show.options.push_back({"--origin", "", "also where each value was written", &show_flags->origin});
  show.run = [&session, show_flags] { return run_show(session, *show_flags); };

  auto key = std::make_shared<std::string>();
  Command explain{"explain", "Say what a setting means; all of them without KEY"};
  explain.examples = {"pilot config explain node.memory"};
  explain.arguments = {{"KEY", "a setting", key.get()}};
  explain.run = [&session, key] { return run_explain(session, *key); };

  auto site = std::make_shared<std::string>();
  Command sites{"sites", "List the profiles of machines that --site takes, or say what one of them holds"};
  sites.examples = {"pilot config sites", "pilot config sites frontera", "pilot start --site frontera -N 4"};
  sites.arguments = {{"NAME", "a site", site.get()}};
  sites.run = [&session, site] { return run_sites(session, *site); };

  Command command{"config", "Show and explain settings"};
  command.description =
      "A flag wins over the environment (PILOT_NODE__CORES), over the spec file, over ./pilot.yaml, over "
      "$XDG_CONFIG_HOME/pilot/config.yaml, over /etc/pilot/*.yaml, over the profile of --site, over the "
      "default.";
  command.examples = {"pilot config show --origin", "pilot config explain network.ports"};
  command.commands = {std::move(show), std::move(explain), std::move(sites)};
  return command;
}

}  // namespace pilot::cli
