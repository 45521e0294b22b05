#include "miniapps/processors/volume_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>

#include "miniapps/formats/grey_png.hpp"
#include "miniapps/processors/slice_picture.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/base/units.hpp"

namespace miniapps::processors {

namespace fs = std::filesystem;
using formats::VolumeDescription;
using pilot::ErrorCode;
using pilot::Result;

namespace {

constexpr std::size_t max_open_volumes = 32;
constexpr auto temporary_prefix = ".new-";

Result<void> sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Some network file systems can't sync folders (EINVAL); there is nothing more to do there.
  const bool synced = fd >= 0 && (::fsync(fd) == 0 || errno == EINVAL);
  const int saved = errno;
  if (fd >= 0) ::close(fd);
  if (!synced) return pilot::errno_error(fmt::format("cannot sync '{}'", folder.string()), saved);
  return pilot::ok();
}

// Whether files can really be made here, whatever the permissions seem to say.
Result<void> check_writable(const fs::path& folder) {
  const auto probe = folder / (temporary_prefix + pilot::random_hex(8));
  const int fd = ::open(probe.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) {
    auto error =
        pilot::errno_error(fmt::format("cannot write to the output folder '{}'", folder.string()), errno);
    error.hint = "choose another one with --output";
    return error;
  }
  ::close(fd);
  ::unlink(probe.c_str());
  return pilot::ok();
}

// Half-made files of processes that died (the second prefix is pilot::write_file's); a living one needs far
// less than ten minutes.
void remove_leftovers(const fs::path& folder) {
  std::error_code ignored;
  const auto old = fs::file_time_type::clock::now() - std::chrono::minutes(10);
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(temporary_prefix) && !name.starts_with(".tmp-")) continue;
    if (fs::last_write_time(entry.path(), ignored) < old) fs::remove(entry.path(), ignored);
  }
}

// Why the scan that is on disk is not the one that a block belongs to; empty when it is.
std::string shape_conflict(const VolumeDescription& there, const VolumeDescription& wanted) {
  if (there.slices == wanted.slices && there.rows == wanted.rows && there.columns == wanted.columns &&
      there.angles == wanted.angles)
    return {};
  return fmt::format(
      "the block says {} slices of {} x {} from {} angles, but its scan {} has {} of {} x {} from {}",
      wanted.slices, wanted.rows, wanted.columns, wanted.angles, wanted.scan_id, there.slices, there.rows,
      there.columns, there.angles);
}

bool same_scan(const VolumeDescription& a, const VolumeDescription& b) {
  return a.run_id == b.run_id && a.scan_id == b.scan_id;
}

}  // namespace

std::optional<std::uint32_t> PictureChoice::slice(std::uint64_t slices) const {
  const auto last = static_cast<std::uint32_t>(slices - 1);
  switch (kind) {
    case Kind::none:
      return std::nullopt;
    case Kind::first:
      return 0;
    case Kind::last:
      return last;
    case Kind::number:
      return std::min(number, last);
    case Kind::middle:
      break;
  }
  return static_cast<std::uint32_t>(slices / 2);
}

Result<PictureChoice> parse_picture_choice(const std::string& text) {
  using Kind = PictureChoice::Kind;
  if (text == "middle") return PictureChoice{Kind::middle};
  if (text == "first") return PictureChoice{Kind::first};
  if (text == "last") return PictureChoice{Kind::last};
  if (text == "none") return PictureChoice{Kind::none};
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    return pilot::make_error(ErrorCode::usage, fmt::format("'{}' is no slice", text),
                             "give middle, first, last, none or a number from 0");
  return PictureChoice{Kind::number, number};
}

Result<std::unique_ptr<VolumeStore>> VolumeStore::open(Options options) {
  const auto blocks = options.folder / ".blocks";
  std::error_code failure;
  fs::create_directories(blocks, failure);
  if (failure)
    return pilot::make_error(
        ErrorCode::failed,
        fmt::format("cannot make the output folder '{}': {}", options.folder.string(), failure.message()),
        "choose another one with --output");
  PILOT_TRY_VOID(check_writable(options.folder));
  PILOT_TRY_VOID(check_writable(blocks));
  remove_leftovers(blocks);
  return std::unique_ptr<VolumeStore>(new VolumeStore(std::move(options)));
}

fs::path VolumeStore::partial_path(const VolumeDescription& d) const {
  return options_.folder / ".blocks" / fmt::format("{}-{}.h5", d.run_id, d.scan_id);
}

fs::path VolumeStore::final_path(const VolumeDescription& d) const {
  return options_.folder / fmt::format("scan-{}-{}.h5", d.run_id.substr(0, 8), d.scan_id);
}

fs::path VolumeStore::picture_path(const VolumeDescription& d, std::uint32_t slice) const {
  return options_.folder / fmt::format("scan-{}-{}-slice-{}.png", d.run_id.substr(0, 8), d.scan_id, slice);
}

std::string VolumeStore::refusal(const VolumeDescription& wanted, SliceRange block) const {
  if (block.count == 0 || std::uint64_t{block.begin} + block.count > wanted.slices)
    return fmt::format("slices {} to {} are not in a scan of {}", block.begin,
                       std::uint64_t{block.begin} + block.count, wanted.slices);
  const long double bytes = 4.0L * static_cast<long double>(wanted.slices) *
                            static_cast<long double>(wanted.rows) * static_cast<long double>(wanted.columns);
  if (bytes > static_cast<long double>(options_.max_volume_bytes))
    return fmt::format("a scan of {} slices of {} x {} is larger than {}", wanted.slices, wanted.rows,
                       wanted.columns, pilot::format_bytes({options_.max_volume_bytes}));
  return {};
}

Result<std::shared_ptr<Volume>> VolumeStore::find(const VolumeDescription& wanted) {
  const std::lock_guard lock(mutex_);
  return find_unlocked(wanted);
}

Result<VolumeStore::Place> VolumeStore::place(const VolumeDescription& wanted, SliceRange block) {
  if (auto why = refusal(wanted, block); !why.empty()) return Place{nullptr, std::move(why)};
  const std::lock_guard lock(mutex_);
  PILOT_TRY(auto volume, find_or_make(wanted));
  const auto& there = volume->description();
  if (there.run_id != wanted.run_id)
    return pilot::make_error(ErrorCode::failed,
                             fmt::format("'{}' belongs to run {}, not to {}", final_path(wanted).string(),
                                         there.run_id, wanted.run_id),
                             "choose another folder with --output");
  if (auto conflict = shape_conflict(there, wanted); !conflict.empty()) return Place{nullptr, conflict};
  if (there.parameters != wanted.parameters)
    return pilot::make_error(
        ErrorCode::usage,
        fmt::format("'{}' has scan {} reconstructed with '{}', now '{}' is wanted", options_.folder.string(),
                    there.scan_id, there.parameters, wanted.parameters),
        "choose another folder with --output, or remove the old results");
  return Place{std::move(volume), {}};
}

// The open volume, the partial file or the final file.
Result<std::shared_ptr<Volume>> VolumeStore::find_unlocked(const VolumeDescription& wanted) {
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    if (!same_scan((*it)->description(), wanted)) continue;
    open_.splice(open_.begin(), open_, it);
    return open_.front();
  }
  std::shared_ptr<Volume> found;
  for (const auto& path : {partial_path(wanted), final_path(wanted)}) {
    auto opened = Volume::open(path, options_.hook);
    if (!opened && opened.error().code == ErrorCode::not_found) continue;
    if (!opened) return opened.error();
    found = std::move(opened).value();
    break;
  }
  if (!found) return found;
  open_.push_front(found);
  for (auto it = open_.end(); open_.size() > max_open_volumes && it != open_.begin();)
    if (--it; it->use_count() == 1) it = open_.erase(it);
  return found;
}

// With other processes doing the same at the same time.
Result<std::shared_ptr<Volume>> VolumeStore::find_or_make(const VolumeDescription& wanted) {
  while (true) {
    PILOT_TRY(auto found, find_unlocked(wanted));
    if (found) return found;
    PILOT_TRY_VOID(make(wanted));
  }
}

// A partial file appears under its name at once and complete, or not at all.  Success also when another
// process was faster.
Result<void> VolumeStore::make(const VolumeDescription& wanted) {
  const auto folder = options_.folder / ".blocks";
  const auto temporary = folder / (temporary_prefix + pilot::random_hex(8));
  const auto partial = partial_path(wanted);
  const auto fill = [&]() -> Result<void> {
    PILOT_TRY_VOID(formats::create_volume_file(temporary, wanted));
    step("created");
    PILOT_TRY(auto volume, Volume::open(temporary, options_.hook));
    PILOT_TRY_VOID(volume->reserve());
    PILOT_TRY_VOID(volume->sync());
    if (::link(temporary.c_str(), partial.c_str()) != 0 && errno != EEXIST)
      return pilot::errno_error(fmt::format("cannot make '{}'", partial.string()), errno);
    step("linked");
    return pilot::ok();
  };
  const auto filled = fill();
  ::unlink(temporary.c_str());
  if (!filled) return filled.error();
  // Another process may have finished the scan between our look for the final file and the link.
  if (::access(final_path(wanted).c_str(), F_OK) == 0) ::unlink(partial.c_str());
  return sync_folder(folder);
}

Result<Volume::Marked> VolumeStore::commit(Volume& volume, std::span<const SliceRange> blocks) {
  PILOT_TRY_VOID(volume.sync());
  return volume.mark(blocks, [&] { return finish(volume); });
}

// Runs under the volume's lock, possibly a second time after a crash in the middle of the first.  The name
// alone says nothing: for a moment it may be that of a file which another process makes in vain.
Result<void> VolumeStore::finish(Volume& volume) {
  const auto& d = volume.description();
  const auto partial = partial_path(d);
  if (!volume.is_at(partial)) return pilot::ok();
  if (::access(final_path(d).c_str(), F_OK) == 0) {  // it was made in vain itself
    ::unlink(partial.c_str());
    return pilot::ok();
  }
  if (const auto slice = options_.picture.slice(d.slices)) {
    PILOT_TRY(auto values, volume.read_slice(*slice));
    const auto rows = static_cast<std::uint32_t>(d.rows), columns = static_cast<std::uint32_t>(d.columns);
    PILOT_TRY(auto png, formats::encode_grey_png(grey_slice(values, rows, columns), columns, rows));
    // By way of our own folder: whatever a killed process leaves, it leaves there.
    const auto temporary = partial.parent_path() / (temporary_prefix + pilot::random_hex(8));
    PILOT_TRY_VOID(pilot::write_file(temporary, png));
    if (::rename(temporary.c_str(), picture_path(d, *slice).c_str()) != 0)
      return pilot::errno_error(fmt::format("cannot make '{}'", picture_path(d, *slice).string()), errno);
    step("pictured");
  }
  if (::rename(partial.c_str(), final_path(d).c_str()) != 0)
    return pilot::errno_error(fmt::format("cannot finish '{}'", final_path(d).string()), errno);
  step("renamed");
  return sync_folder(options_.folder);
}

}  // namespace miniapps::processors
