// What a framework's tools say of its data, as sentences for the event log.
#pragma once

#include <string>
#include <string_view>

#include "pilot/agent/head_output.hpp"
#include "pilot/base/result.hpp"
#include "pilot/base/units.hpp"

namespace pilot::agent {

// `line` is JSON: {"event":"step","text":"electing leaders"} or {"event":"progress","moved_bytes":N,
// "total_bytes":N,"eta_s":N or null}.  Empty for any other, which nobody need read; a line that is no JSON
// is its own sentence.
std::string progress_sentence(std::string_view line);

// {"event":"progress","bytes_per_s":N, ...}: how fast it is; nothing for any other line.
Bytes speed_of(std::string_view line);

// As problem_of(), with {"bytes_by_service": {"broker-1": N}} beside it: the services of `framework`.
Result<DataReport> report_of(const std::string& framework, std::string_view printed);

// Of the last line that ClusterPlan::health printed: {"problem": "2 of 9 partitions ..."}; steps may stand
// before it.  Errors: failed (something else).
Result<std::string> problem_of(std::string_view printed);

}  // namespace pilot::agent
