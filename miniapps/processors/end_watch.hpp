// When a processor has done what it was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "miniapps/processors/output_census.hpp"
#include "miniapps/processors/process_report.hpp"
#include "pilot/base/clock.hpp"

namespace miniapps::processors {

struct EndConditions {
  // Blocks in the output folder, of the runs that were seen, whoever put them there (a processor that is
  // restarted goes on counting), and messages set aside.  A processor whose group had read everything
  // before it came sees no run; for it all runs of the folder count.
  std::optional<std::uint64_t> count;
  std::optional<pilot::Duration> until_idle;  // nothing came for so long and nothing is left or in work
  std::optional<pilot::Duration> duration;    // since the start
};

class EndWatch {
 public:
  EndWatch(EndConditions conditions, std::filesystem::path output, const pilot::Clock& clock);

  // "count", "duration" or "idle" once that is reached; else nothing.  Looks at the disk a few times a
  // second, however often it is called.
  std::optional<std::string> ended(const ProcessReport& report);

  // What counts towards `count`, as of now.
  std::uint64_t counted(const ProcessReport& report);

  // The scans that count.
  std::vector<ScanFigures> scans(const ProcessReport& report) { return census_.scans(runs(report)); }

 private:
  const std::set<std::string>& runs(const ProcessReport& report);

  const EndConditions conditions_;
  OutputCensus census_;
  const pilot::Clock& clock_;
  const pilot::SteadyTime start_;
  std::optional<pilot::SteadyTime> last_look_;
  std::set<std::string> earlier_runs_;
};

}  // namespace miniapps::processors
