#include "pilot/agent/move_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pilot/base/units.hpp"

namespace pilot::agent {

namespace {

using Json = nlohmann::json;

std::string bytes_moved(const Json& json) {
  std::string text =
      fmt::format("{} of {} moved", format_bytes(Bytes{json.at("moved_bytes").get<std::uint64_t>()}),
                  format_bytes(Bytes{json.at("total_bytes").get<std::uint64_t>()}));
  if (const auto eta = json.find("eta_s"); eta != json.end() && eta->is_number())
    text += fmt::format(", {:.0f} s left", eta->get<double>());
  return text;
}

Json last_line(std::string_view printed) {
  auto last = printed.substr(0, printed.find_last_not_of('\n') + 1);
  last = last.substr(last.find_last_of('\n') + 1);
  return Json::parse(last, nullptr, false);
}

}  // namespace

std::string progress_sentence(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) return std::string(line);
  if (!json.is_object()) return {};
  try {
    const auto event = json.value("event", "");
    if (event == "step") return json.at("text").get<std::string>();
    if (event == "progress") return bytes_moved(json);
  } catch (const Json::exception&) {  // a field that is not there or of another type
    return std::string(line);
  }
  return {};
}

Bytes speed_of(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || json.value("event", Json()) != "progress") return {};
  const auto speed = json.find("bytes_per_s");
  if (speed == json.end() || !speed->is_number() || speed->get<double>() < 1) return {};
  return Bytes{static_cast<std::uint64_t>(std::min(speed->get<double>(), 1e15))};
}

Result<DataReport> report_of(const std::string& framework, std::string_view printed) {
  DataReport report;
  PILOT_TRY(report.problem, problem_of(printed));
  const Json json = last_line(printed);
  const auto held = json.find("bytes_by_service");
  if (held == json.end() || !held->is_object()) return report;
  for (const auto& [service, bytes] : held->items())
    if (bytes.is_number_unsigned())
      report.held[framework + "/" + service] = Bytes{bytes.get<std::uint64_t>()};
  return report;
}

Result<std::string> problem_of(std::string_view printed) {
  const Json json = last_line(printed);
  const auto found = json.is_object() ? json.find("problem") : json.end();
  if (!json.is_object() || found == json.end() || !found->is_string())
    return make_error(ErrorCode::failed, fmt::format("its data can't be checked: '{}' was said", printed));
  return found->get<std::string>();
}

}  // namespace pilot::agent
