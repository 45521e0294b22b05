#include "miniapps/processors/output_census.hpp"

#include <algorithm>
#include <tuple>

#include "miniapps/processors/volume.hpp"

namespace miniapps::processors {

namespace fs = std::filesystem;

namespace {

// Could this file belong to one of the runs, going by its name?
bool may_belong(const std::string& name, bool complete, const std::set<std::string>& runs) {
  return std::any_of(runs.begin(), runs.end(), [&](const std::string& run) {
    return name.starts_with(complete ? "scan-" + run.substr(0, 8) + "-" : run + "-");
  });
}

std::string picture_of(const fs::path& file) {
  const auto prefix = file.stem().string() + "-slice-";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(file.parent_path(), ignored)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".png")) return name;
  }
  return {};
}

}  // namespace

void OutputCensus::look_into(const fs::path& folder, bool complete, const std::set<std::string>& runs,
                             std::vector<ScanFigures>& found) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto& path = entry.path();
    if (path.extension() != ".h5" || !may_belong(path.filename(), complete, runs)) continue;
    if (const auto known = finished_.find(path); known != finished_.end()) {
      found.push_back(known->second);
      continue;
    }
    const auto volume = Volume::open(path);
    if (!volume) continue;
    const auto state = volume.value()->state();
    if (!state) continue;
    const auto& d = volume.value()->description();
    ScanFigures scan{d.run_id, d.scan_id, fs::relative(path, folder_, ignored), {}, d.slices, 0, 0};
    for (auto mark : state.value()) {
      scan.slices_present += (mark & formats::slice_present) != 0;
      scan.blocks += (mark & formats::slice_begins_block) != 0;
    }
    if (complete) {
      scan.picture = picture_of(path);
      finished_[path] = scan;
    }
    found.push_back(std::move(scan));
  }
}

std::vector<ScanFigures> OutputCensus::scans(const std::set<std::string>& runs) {
  std::vector<ScanFigures> found;
  if (runs.empty()) return found;
  // Unfinished ones first: a scan that is finished between the two looks is then seen twice, not missed.
  look_into(folder_ / ".blocks", false, runs, found);
  look_into(folder_, true, runs, found);
  std::erase_if(found, [&](const ScanFigures& s) { return !runs.contains(s.run_id); });
  const auto key = [](const ScanFigures& s) { return std::tie(s.run_id, s.scan_id); };
  std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
    return std::tuple(a.run_id, a.scan_id, b.slices_present) <
           std::tuple(b.run_id, b.scan_id, a.slices_present);
  });
  found.erase(
      std::unique(found.begin(), found.end(), [&](const auto& a, const auto& b) { return key(a) == key(b); }),
      found.end());
  return found;
}

std::set<std::string> OutputCensus::runs() const {
  std::set<std::string> found;
  std::error_code ignored;
  for (const auto& folder : {folder_ / ".blocks", folder_})
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.path().extension() != ".h5") continue;
      if (const auto volume = Volume::open(entry.path())) found.insert(volume.value()->description().run_id);
    }
  return found;
}

std::uint64_t OutputCensus::blocks(const std::set<std::string>& runs) {
  std::uint64_t sum = 0;
  for (const auto& scan : scans(runs)) sum += scan.blocks;
  return sum;
}

}  // namespace miniapps::processors
