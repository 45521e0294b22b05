#include "miniapps/processors/volume.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "miniapps/processors/result_buffer.hpp"

namespace miniapps::processors {

using pilot::Result;

namespace {

// The kernel's "open file description" lock on a part of the file: it belongs to the open file, not to
// the process (as POSIX locks do, which any close() of the file would drop), and ends with it.
class RangeLock {
 public:
  RangeLock(int fd, std::uint64_t begin, std::uint64_t length) : fd_(fd) {
    range_.l_whence = SEEK_SET;
    range_.l_start = static_cast<off_t>(begin);
    range_.l_len = static_cast<off_t>(length);
  }
  ~RangeLock() {
    if (held_) set(F_UNLCK);
  }
  RangeLock(const RangeLock&) = delete;
  RangeLock& operator=(const RangeLock&) = delete;
  bool acquire() { return held_ = set(F_WRLCK); }

 private:
  bool set(short type) {
    range_.l_type = type;
    int status;
    do status = ::fcntl(fd_, F_OFD_SETLKW, &range_);
    while (status != 0 && errno == EINTR);
    return status == 0;
  }
  int fd_;
  struct flock range_ {};
  bool held_ = false;
};

// False with errno; a short read is EIO.
bool read_all(int fd, void* to, std::size_t size, std::uint64_t offset) {
  auto* bytes = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = ::pread(fd, bytes, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) return false;
    bytes += got, offset += static_cast<std::uint64_t>(got), size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int fd, const void* from, std::size_t size, std::uint64_t offset) {
  const auto* bytes = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t put = ::pwrite(fd, bytes, size, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes += put, offset += static_cast<std::uint64_t>(put), size -= static_cast<std::size_t>(put);
  }
  return true;
}

// True when at least one slice of the range was absent.
bool set_marks(std::vector<std::uint8_t>& state, SliceRange range) {
  bool fresh = false;
  for (auto i = range.begin; i < range.begin + range.count; ++i) {
    fresh |= (state[i] & formats::slice_present) == 0;
    state[i] |= formats::slice_present;
  }
  if (fresh) state[range.begin] |= formats::slice_begins_block;
  return fresh;
}

bool has_name(int fd, const std::filesystem::path& path) {
  struct stat named {
  }, opened{};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
         named.st_ino == opened.st_ino;
}

}  // namespace

Result<std::shared_ptr<Volume>> Volume::open(const std::filesystem::path& path, StepHook hook) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    auto error = pilot::errno_error(fmt::format("cannot open '{}'", path.string()), errno);
    if (errno == ENOENT) error.code = pilot::ErrorCode::not_found;
    return error;
  }
  if (hook) hook("opened");
  // By its descriptor: the name may be gone already, when another process has just finished the volume.  HDF5
  // looks for the name behind the descriptor, so that it may fail of just that.
  auto layout = formats::read_volume_layout(fmt::format("/proc/self/fd/{}", fd));
  if (!layout) {
    const bool gone = !has_name(fd, path);
    ::close(fd);
    if (gone)
      return pilot::make_error(pilot::ErrorCode::not_found,
                               fmt::format("'{}' was just finished or removed", path.string()));
    return layout.error().while_doing(fmt::format("opening '{}'", path.string()));
  }
  // Past the page cache: a third of the processor time of a copied write, and twice the rate (README).
  const int direct_fd = ::open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC);
  return std::shared_ptr<Volume>(new Volume(fd, direct_fd, std::move(layout).value(), path, std::move(hook)));
}

Volume::Volume(int fd, int direct_fd, formats::VolumeLayout layout, std::filesystem::path path, StepHook hook)
    : fd_(fd),
      direct_fd_(direct_fd),
      layout_(std::move(layout)),
      path_(std::move(path)),
      hook_(std::move(hook)) {}

Volume::~Volume() {
  ::close(fd_);
  if (direct_fd_ >= 0) ::close(direct_fd_);
}

pilot::Error Volume::failure(std::string_view doing, int saved_errno) const {
  auto error = pilot::errno_error(fmt::format("cannot {} '{}'", doing, path_.string()), saved_errno);
  if (saved_errno == ENOSPC || saved_errno == EDQUOT)
    error.hint = "free some space and start the processor again; nothing unfinished was committed";
  return error;
}

Result<std::vector<std::uint8_t>> Volume::state() const {
  std::vector<std::uint8_t> state(description().slices);
  if (!read_all(fd_, state.data(), state.size(), layout_.state_offset)) return failure("read", errno);
  return state;
}

Result<bool> Volume::has(SliceRange range) const {
  std::vector<std::uint8_t> state(range.count);
  if (!read_all(fd_, state.data(), state.size(), layout_.state_offset + range.begin))
    return failure("read", errno);
  return std::all_of(state.begin(), state.end(), [](auto s) { return (s & formats::slice_present) != 0; });
}

Result<void> Volume::write(SliceRange range, std::span<const float> values) {
  const auto slice_bytes = description().rows * description().columns * sizeof(float);
  assert(range.begin + range.count <= description().slices);
  assert(values.size_bytes() == range.count * slice_bytes);
  const auto offset = layout_.data_offset + range.begin * slice_bytes;
  if (!write_direct(values.data(), values.size_bytes(), offset) &&
      !write_all(fd_, values.data(), values.size_bytes(), offset))
    return failure("write", errno);
  step("written");
  return pilot::ok();
}

// False: not done, or not all of it; the other way does it and says why if that fails, too.
bool Volume::write_direct(const void* from, std::size_t size, std::uint64_t offset) {
  const auto aligned = [](std::uint64_t n) { return n % disk_alignment == 0; };
  if (direct_fd_ < 0 || !direct_works_ || !aligned(reinterpret_cast<std::uintptr_t>(from)) ||
      !aligned(size) || !aligned(offset))
    return false;
  if (write_all(direct_fd_, from, size, offset)) {
    step("written directly");
    return true;
  }
  if (errno == EINVAL) direct_works_ = false;  // the file system wants another alignment
  return false;
}

Result<void> Volume::reserve() {
  const auto bytes = description().slices * description().rows * description().columns * sizeof(float);
  int status;
  do status = ::fallocate(fd_, 0, static_cast<off_t>(layout_.data_offset), static_cast<off_t>(bytes));
  while (status != 0 && errno == EINTR);
  // Some network file systems can't; a full disk shows at write() there.
  if (status != 0 && errno != EOPNOTSUPP && errno != ENOSYS) return failure("reserve space for", errno);
  return pilot::ok();
}

bool Volume::is_at(const std::filesystem::path& path) const {
  return has_name(fd_, path);
}

Result<void> Volume::sync() {
  if (::fdatasync(fd_) != 0) return failure("write", errno);
  step("synced");
  return pilot::ok();
}

Result<Volume::Marked> Volume::mark(std::span<const SliceRange> ranges,
                                    const std::function<Result<void>()>& finish) {
  RangeLock lock(fd_, layout_.state_offset, description().slices);
  if (!lock.acquire()) return failure("lock", errno);
  PILOT_TRY(auto marks, state());
  Marked marked;
  for (const auto& range : ranges) marked.was_new.push_back(set_marks(marks, range));
  marked.complete =
      std::all_of(marks.begin(), marks.end(), [](auto s) { return (s & formats::slice_present) != 0; });
  if (std::find(marked.was_new.begin(), marked.was_new.end(), true) != marked.was_new.end()) {
    if (!write_all(fd_, marks.data(), marks.size(), layout_.state_offset)) return failure("write", errno);
    step("marked");
    PILOT_TRY_VOID(sync());
  }
  if (marked.complete) PILOT_TRY_VOID(finish());
  return marked;
}

Result<std::vector<float>> Volume::read_slice(std::uint32_t slice) const {
  const auto pixels = description().rows * description().columns;
  std::vector<float> values(pixels);
  const auto offset = layout_.data_offset + slice * pixels * sizeof(float);
  if (!read_all(fd_, values.data(), pixels * sizeof(float), offset)) return failure("read", errno);
  return values;
}

}  // namespace miniapps::processors
