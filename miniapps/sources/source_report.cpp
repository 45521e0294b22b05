#include "miniapps/sources/source_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pilot/base/units.hpp"

namespace miniapps::sources {
namespace {

using Json = nlohmann::ordered_json;

double rounded(double value) {
  return std::round(value * 1e6) / 1e6;
}

std::string rate_text(double per_second) {
  return per_second > 0 ? fmt::format("{:.6g}/s", per_second) : "as fast as possible";
}

}  // namespace

double SourceReport::megabytes_per_second() const {
  return seconds() > 0 ? static_cast<double>(acked_bytes) / 1e6 / seconds() : 0;
}

double SourceReport::messages_per_second() const {
  return seconds() > 0 ? static_cast<double>(acked) / seconds() : 0;
}

double SourceReport::scans() const {
  return blocks_per_scan > 0 ? static_cast<double>(acked) / blocks_per_scan : 0;
}

bool SourceReport::complete() const {
  return !error && signal == 0 && failed == 0 && acked == sent && (wanted == 0 || sent == wanted);
}

std::string to_json(const SourceReport& report, bool indented) {
  Json json{{"schema", "miniapp.source/1"},
            {"source", "light"},
            {"run_id", report.run_id},
            {"topic", report.topic},
            {"complete", report.complete()},
            {"sent", report.sent},
            {"acked", report.acked},
            {"acked_bytes", report.acked_bytes},
            {"failed", report.failed},
            {"scans", rounded(report.scans())},
            {"blocks_per_scan", report.blocks_per_scan},
            {"seconds", rounded(report.seconds())},
            {"mb_per_s", rounded(report.megabytes_per_second())},
            {"messages_per_s", rounded(report.messages_per_second())},
            {"wanted_messages", report.wanted},
            {"wanted_messages_per_s", report.wanted_rate},
            {"max_lag_s", rounded(std::chrono::duration<double>(report.max_lag).count())},
            {"message_bytes", report.message_bytes},
            {"shape",
             {{"angles", report.shape.angles},
              {"slices", report.shape.slices},
              {"columns", report.shape.columns},
              {"dtype", report.dtype}}},
            {"signal", report.signal},
            {"notes", report.notes}};
  if (report.error)
    json["error"] = {{"code", pilot::to_string(report.error->code)},
                     {"message", report.error->message},
                     {"hint", report.error->hint}};
  return json.dump(indented ? 2 : -1, ' ', false, Json::error_handler_t::replace);
}

std::string to_table(const SourceReport& report) {
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<14} {}\n", name, value);
  };
  row("run", report.run_id);
  row("topic", report.topic);
  row("scan", fmt::format("{} slices, {} angles x {} columns {}, {} messages of {}", report.shape.slices,
                          report.shape.angles, report.shape.columns, report.dtype, report.blocks_per_scan,
                          pilot::format_bytes({report.message_bytes})));
  row("acknowledged", fmt::format("{} of {} messages ({:.4g} scans), {:.1f} MB", report.acked, report.sent,
                                  report.scans(), static_cast<double>(report.acked_bytes) / 1e6));
  if (report.failed > 0) row("failed", fmt::format("{} messages", report.failed));
  row("time", pilot::format_duration(report.elapsed));
  row("rate", fmt::format("{:.2f} messages/s, {:.1f} MB/s (wanted: {})", report.messages_per_second(),
                          report.megabytes_per_second(), rate_text(report.wanted_rate)));
  if (report.wanted_rate > 0) row("longest lag", pilot::format_duration(report.max_lag));
  return text;
}

std::string to_json_line(const SourceProgress& progress, double messages_per_second) {
  Json json{{"event", "progress"},
            {"acked", progress.acked},
            {"acked_bytes", progress.acked_bytes},
            {"sent", progress.sent},
            {"wanted", progress.wanted},
            {"rate", rounded(messages_per_second)},
            {"lag", rounded(std::chrono::duration<double>(progress.lag).count())},
            {"elapsed", rounded(std::chrono::duration<double>(progress.elapsed).count())}};
  if (progress.left) json["left"] = rounded(std::chrono::duration<double>(*progress.left).count());
  return json.dump();
}

std::string to_line(const SourceProgress& progress, double messages_per_second, double bytes_per_second) {
  const std::string of = progress.wanted > 0 ? fmt::format("/{}", progress.wanted) : std::string{};
  std::string text = fmt::format("{}{} acknowledged  {:.1f}/s  {:.1f} MB/s", progress.acked, of,
                                 messages_per_second, bytes_per_second / 1e6);
  if (progress.queued > 0) text += fmt::format("  {} under way", progress.queued);
  if (progress.lag > std::chrono::milliseconds(1)) text += "  lag " + pilot::format_duration(progress.lag);
  if (progress.flushing) return text + "  waiting for acknowledgements";
  if (progress.left) text += "  " + pilot::format_duration(*progress.left) + " left";
  return text;
}

}  // namespace miniapps::sources
