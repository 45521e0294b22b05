#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "miniapps/processors/process_report.hpp"

namespace miniapps::processors {

using Json = nlohmann::ordered_json;
using std::chrono::nanoseconds;

namespace {

constexpr auto schema = "miniapp.process/1";

double milliseconds(nanoseconds value) {
  return static_cast<double>(value.count()) / 1e6;
}
nanoseconds from_milliseconds(double ms) {
  return nanoseconds(std::llround(ms * 1e6));
}

Json latency_json(const LatencyHistogram& h) {
  return {{"count", h.count()},
          {"min", milliseconds(h.min())},
          {"mean", milliseconds(h.mean())},
          {"p50", milliseconds(h.quantile(0.5))},
          {"p95", milliseconds(h.quantile(0.95))},
          {"p99", milliseconds(h.quantile(0.99))},
          {"max", milliseconds(h.max())}};
}

Json buckets_json(const LatencyHistogram& h) {
  Json list = Json::array();
  for (const auto& b : h.buckets()) list.push_back({b.lower_ns, b.upper_ns, b.count});
  return list;
}

Json workers_json(const std::vector<WorkerFigures>& workers) {
  Json list = Json::array();
  for (const auto& w : workers)
    list.push_back({{"name", w.name},
                    {"messages", w.messages},
                    {"bytes", w.bytes},
                    {"busy_s", w.busy_s},
                    {"cpu_s", w.cpu_s}});
  return list;
}

Json scans_json(const std::vector<ScanFigures>& scans) {
  Json list = Json::array();
  for (const auto& s : scans)
    list.push_back({{"run_id", s.run_id},
                    {"scan_id", s.scan_id},
                    {"file", s.file},
                    {"picture", s.picture},
                    {"slices", s.slices},
                    {"slices_present", s.slices_present},
                    {"blocks", s.blocks},
                    {"complete", s.complete()}});
  return list;
}

LatencyHistogram parse_latency(const Json& summary, const Json& buckets) {
  LatencyHistogram h;
  for (const auto& b : buckets) h.add_bucket(b.at(0).get<std::uint64_t>(), b.at(2).get<std::uint64_t>());
  h.widen(from_milliseconds(summary.at("min").get<double>()),
          from_milliseconds(summary.at("max").get<double>()),
          from_milliseconds(summary.at("mean").get<double>()));
  return h;
}

WorkerFigures parse_worker(const Json& j) {
  return {j.at("name"), j.at("messages"), j.at("bytes"), j.at("busy_s"), j.at("cpu_s")};
}

ScanFigures parse_scan(const Json& j) {
  return {j.at("run_id"), j.at("scan_id"),        j.at("file"),  j.at("picture"),
          j.at("slices"), j.at("slices_present"), j.at("blocks")};
}

// The plain fields, each with its name; `visit` reads or writes them.
template <typename Report, typename Visit>
void visit_fields(Report& r, Visit visit) {
  visit("topic", r.topic);
  visit("group", r.group);
  visit("output", r.output);
  visit("algorithm", r.algorithm);
  visit("isa", r.isa);
  visit("processes", r.processes);
  visit("parallelism", r.parallelism);
  visit("started_unix_ms", r.started_unix_ms);
  visit("elapsed_s", r.elapsed_s);
  visit("active_s", r.active_s);
  visit("idle_s", r.idle_s);
  visit("messages", r.messages);
  visit("stored", r.stored);
  visit("duplicates", r.duplicates);
  visit("dead_letters", r.dead_letters);
  visit("dead_letters_not_kept", r.dead_letters_not_kept);
  visit("bytes", r.bytes);
  visit("result_bytes", r.result_bytes);
  visit("in_flight", r.in_flight);
  visit("lag", r.lag);
  visit("restarts", r.restarts);
  visit("resumed_at_end", r.resumed_at_end);
  visit("runs", r.runs);
  visit("ended_by", r.ended_by);
  visit("error", r.error);
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const ProcessReport& r, bool indented) {
  Json json = {{"schema", schema}};
  visit_fields(r, [&](const char* name, const auto& value) { json[name] = value; });
  json["mb_per_s"] = r.megabytes_per_second();
  json["busy_s"] = r.busy_s();
  json["pa_records_per_s"] = r.pa();
  json["pa_per_worker_records_per_s"] = r.pa_per_worker();
  json["latency_ms"] = latency_json(r.latency);
  json["workers"] = workers_json(r.workers);
  json["scans"] = scans_json(r.scans);
  json["series"] = {{"interval_s", 1}, {"messages", r.messages_per_second}, {"bytes", r.bytes_per_second}};
  json["latency_buckets_ns"] = buckets_json(r.latency);
  return dump(json, indented ? 2 : -1);
}

pilot::Result<ProcessReport> parse_process_report(const std::string& text) {
  const auto refused = [](const std::string& why) {
    return pilot::make_error(pilot::ErrorCode::usage, "this is no report of 'miniapp process': " + why);
  };
  try {
    const auto json = Json::parse(text);
    if (json.value("schema", "") != schema)
      return refused(fmt::format("its schema is '{}', not '{}'", json.value("schema", ""), schema));
    ProcessReport r;
    visit_fields(r, [&](const char* name, auto& value) { json.at(name).get_to(value); });
    r.latency = parse_latency(json.at("latency_ms"), json.at("latency_buckets_ns"));
    for (const auto& worker : json.at("workers")) r.workers.push_back(parse_worker(worker));
    for (const auto& scan : json.at("scans")) r.scans.push_back(parse_scan(scan));
    json.at("series").at("messages").get_to(r.messages_per_second);
    json.at("series").at("bytes").get_to(r.bytes_per_second);
    return r;
  } catch (const nlohmann::json::exception& e) {
    return refused(e.what());
  }
}

std::string progress_json(const ProcessReport& r, double rate) {
  return dump({{"event", "progress"},
               {"elapsed_s", r.elapsed_s},
               {"messages", r.messages},
               {"stored", r.stored},
               {"duplicates", r.duplicates},
               {"dead_letters", r.dead_letters},
               {"bytes", r.bytes},
               {"rate", rate},
               {"latency_ms",
                {{"p50", milliseconds(r.latency.quantile(0.5))},
                 {"p95", milliseconds(r.latency.quantile(0.95))},
                 {"p99", milliseconds(r.latency.quantile(0.99))}}},
               {"lag", r.lag}},
              -1);
}

}  // namespace miniapps::processors
