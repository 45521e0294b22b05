#include "miniapps/campaign/report_input.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pilot/base/file.hpp"

namespace miniapps::campaign {

using Json = nlohmann::ordered_json;
using pilot::Result;
namespace fs = std::filesystem;

namespace {

pilot::Error refused(std::string_view what, std::string_view why) {
  return pilot::make_error(pilot::ErrorCode::usage, fmt::format("this is no {}: {}", what, why));
}

void collect(const Json& json, const std::string& path,
             std::vector<std::pair<std::string, std::string>>& facts) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items())
      collect(value, path.empty() ? key : path + " " + key, facts);
  } else if (json.is_array()) {
    std::string list;
    for (const auto& value : json)
      if (value.is_primitive() && !value.is_null())
        list += (list.empty() ? "" : ", ") + (value.is_string() ? value.get<std::string>() : value.dump());
    if (!list.empty()) facts.emplace_back(path, list);
  } else if (!json.is_null()) {
    facts.emplace_back(path, json.is_string() ? json.get<std::string>() : json.dump());
  }
}

Result<std::string> read(const fs::path& path) {
  auto text = pilot::read_file(path);
  if (!text) return text.error().while_doing("reading a report");
  return text;
}

}  // namespace

Result<SourceFigures> parse_source(const std::string& text) {
  constexpr auto what = "report of 'miniapp source'";
  try {
    const auto json = Json::parse(text);
    if (!json.is_object() || json.value("schema", "") != "miniapp.source/1")
      return refused(what, "its schema is not 'miniapp.source/1'");
    SourceFigures s;
    json.at("run_id").get_to(s.run_id);
    json.at("topic").get_to(s.topic);
    json.at("sent").get_to(s.sent);
    json.at("acked").get_to(s.acked);
    json.at("acked_bytes").get_to(s.acked_bytes);
    json.at("seconds").get_to(s.seconds);
    json.at("mb_per_s").get_to(s.mb_per_s);
    json.at("messages_per_s").get_to(s.messages_per_s);
    s.wanted_per_s = json.value("wanted_messages_per_s", 0.0);
    const auto& shape = json.at("shape");
    shape.at("angles").get_to(s.angles);
    shape.at("slices").get_to(s.slices);
    shape.at("columns").get_to(s.columns);
    shape.at("dtype").get_to(s.dtype);
    if (json.contains("started_unix_ms") && json.contains("series")) {
      s.started_unix_ms = json.at("started_unix_ms").get<std::int64_t>();
      json.at("series").at("bytes").get_to(s.bytes_per_second);
    }
    return s;
  } catch (const nlohmann::json::exception& e) {
    return refused(what, e.what());
  }
}

Result<std::vector<std::pair<std::string, std::string>>> parse_facts(const std::string& text) {
  const auto json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return refused("report of a run", "it is not a JSON object");
  std::vector<std::pair<std::string, std::string>> facts;
  collect(json, "", facts);
  return facts;
}

Result<ReportInput> read_report_input(const std::vector<fs::path>& sources,
                                      const std::vector<fs::path>& processors,
                                      const std::optional<fs::path>& run) {
  ReportInput input;
  const auto with_name = [](const pilot::Error& error, const fs::path& path) {
    return error.while_doing(fmt::format("'{}'", path.string()));
  };
  for (const auto& path : sources) {
    PILOT_TRY(const auto text, read(path));
    auto parsed = parse_source(text);
    if (!parsed) return with_name(parsed.error(), path);
    input.sources.push_back(std::move(parsed).value());
  }
  for (const auto& path : processors) {
    PILOT_TRY(const auto text, read(path));
    auto parsed = processors::parse_process_report(text);
    if (!parsed) return with_name(parsed.error(), path);
    // A relative folder is seen from where the processor ran; if it is not there, from beside its report.
    fs::path folder = parsed.value().output;
    std::error_code ignored;
    if (folder.is_relative() && !fs::is_directory(folder, ignored)) folder = path.parent_path() / folder;
    input.folders.push_back(folder);
    input.processors.push_back(std::move(parsed).value());
  }
  if (run) {
    PILOT_TRY(const auto text, read(*run));
    auto facts = parse_facts(text);
    if (!facts) return with_name(facts.error(), *run);
    input.facts = std::move(facts).value();
  }
  return input;
}

}  // namespace miniapps::campaign
