// What an output folder holds, whoever wrote it: the only count that stays right when processors are
// killed, restarted and share the work.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "miniapps/processors/process_report.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::processors {

class OutputCensus {
 public:
  explicit OutputCensus(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The scans of these runs, by run and scan.  A file that vanishes or can't be read while it is looked
  // at is left out; the next look finds it.
  std::vector<ScanFigures> scans(const std::set<std::string>& runs);

  // Ids of all runs it has something of.
  std::set<std::string> runs() const;

  // Blocks of these runs.
  std::uint64_t blocks(const std::set<std::string>& runs);

 private:
  void look_into(const std::filesystem::path& folder, bool complete, const std::set<std::string>& runs,
                 std::vector<ScanFigures>& found);

  std::filesystem::path folder_;
  std::map<std::filesystem::path, ScanFigures> finished_;  // complete files don't change any more
};

}  // namespace miniapps::processors
