// What a report page is made of: the JSON documents of sources, processors and `pilot run`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "miniapps/processors/process_report.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::campaign {

// The parts of "miniapp.source/1" that the page shows.
struct SourceFigures {
  std::string run_id;
  std::string topic;
  std::uint64_t sent = 0;
  std::uint64_t acked = 0;
  std::uint64_t acked_bytes = 0;
  double seconds = 0;
  double mb_per_s = 0;
  double messages_per_s = 0;
  double wanted_per_s = 0;  // 0: as fast as possible
  std::uint64_t angles = 0, slices = 0, columns = 0;
  std::string dtype;
  // Per second since the start; empty in documents that don't have it.
  std::optional<std::int64_t> started_unix_ms;
  std::vector<std::uint64_t> bytes_per_second;
};

struct ReportInput {
  std::string title = "Light source to reconstruction";
  std::vector<SourceFigures> sources;
  std::vector<processors::ProcessReport> processors;
  std::vector<std::filesystem::path> folders;              // where each processor's pictures are
  std::vector<std::pair<std::string, std::string>> facts;  // of the run: versions, configuration
};

// Errors: usage (not JSON, another schema, a field of a wrong type).
pilot::Result<SourceFigures> parse_source(const std::string& text);

// All plain values of a JSON document, each with its path: {"pilot":{"name":"demo"}} -> ("pilot name",
// "demo").  Errors: usage.
pilot::Result<std::vector<std::pair<std::string, std::string>>> parse_facts(const std::string& text);

// Reads the files.  Errors: not_found, usage; each names the file.
pilot::Result<ReportInput> read_report_input(const std::vector<std::filesystem::path>& sources,
                                             const std::vector<std::filesystem::path>& processors,
                                             const std::optional<std::filesystem::path>& run);

}  // namespace miniapps::campaign
