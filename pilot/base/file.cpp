#include "pilot/base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

namespace pilot {

namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // False with errno: network file systems report failed writes here.
  bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

Error path_error(std::string_view what, const fs::path& path, int saved_errno) {
  Error error = errno_error(fmt::format("cannot {} '{}'", what, path.string()), saved_errno);
  if (saved_errno == ENOENT || saved_errno == ENOTDIR) error.code = ErrorCode::not_found;
  return error;
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Makes the rename itself survive a crash.
bool sync_folder(const fs::path& folder) {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return false;
  // Some network and FUSE file systems can't sync folders; there is nothing more to do there.
  return ::fsync(opened.get()) == 0 || errno == EINVAL || errno == ENOTSUP;
}

// False with errno.  The temporary file is complete on disk when this returns true.
bool fill_temporary(Descriptor& file, std::string_view content, mode_t mode) {
  return ::fchmod(file.get(), mode) == 0 && write_all(file.get(), content) && ::fsync(file.get()) == 0 &&
         file.close();
}

fs::path xdg_directory(const char* variable, const char* under_home) {
  const char* value = std::getenv(variable);
  if (value != nullptr && fs::path(value).is_absolute()) return value;
  return home_directory() / under_home;
}

}  // namespace

Result<std::string> read_file(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return path_error("open", path, errno);
  std::string content;
  struct stat status {};
  if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) {
    content.reserve(static_cast<std::size_t>(status.st_size));
  }
  // Read to the end and not to st_size: files in /proc say 0.
  std::vector<char> block(64 * 1024);
  while (true) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return path_error("read", path, errno);
    if (got == 0) return content;
    content.append(block.data(), static_cast<std::size_t>(got));
  }
}

Result<void> write_file(const fs::path& path, std::string_view content, mode_t mode) {
  const fs::path folder = folder_of(path);
  std::string temporary = (folder / ".tmp-XXXXXX").string();
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return path_error("write", path, errno);
  if (!fill_temporary(file, content, mode) || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int saved_errno = errno;
    ::unlink(temporary.c_str());
    return path_error("write", path, saved_errno);
  }
  if (!sync_folder(folder)) return path_error("sync folder", folder, errno);
  return ok();
}

Result<void> make_directory(const fs::path& path, mode_t mode) {
  // "a/b/" names the same folder as "a/b".
  const fs::path named = path.has_filename() ? path : path.parent_path();
  std::error_code failure;
  fs::create_directories(folder_of(named), failure);
  if (failure) return path_error("make folder", folder_of(named), failure.value());
  if (::mkdir(named.c_str(), mode) == 0) {
    if (::chmod(named.c_str(), mode) != 0) return path_error("set the mode of", named, errno);
    return ok();
  }
  if (errno != EEXIST) return path_error("make folder", named, errno);
  if (!fs::is_directory(named, failure)) return path_error("make folder", named, EEXIST);
  return ok();
}

Result<void> remove_tree(const fs::path& path) {
  std::error_code failure;
  fs::remove_all(path, failure);
  if (failure) return path_error("remove", path, failure.value());
  return ok();
}

std::string tail_of_file(const fs::path& path, int lines) {
  constexpr off_t block_size = 4096;
  constexpr std::size_t most = 1024 * 1024;  // a file of one endless line
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (lines <= 0 || !file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};

  std::string tail;
  off_t start = status.st_size;
  std::string block;
  while (start > 0 && tail.size() < most) {
    const off_t length = std::min(block_size, start);
    block.resize(static_cast<std::size_t>(length));
    if (::pread(file.get(), block.data(), block.size(), start - length) != length) return {};
    start -= length;
    tail.insert(0, block);
    // The newline that ends the last line doesn't count.
    if (std::count(tail.begin(), tail.end(), '\n') > lines) break;
  }
  if (tail.ends_with('\n')) tail.pop_back();
  std::size_t cut = tail.size();
  for (int line = 0; line < lines && cut != std::string::npos; ++line) {
    cut = cut == 0 ? std::string::npos : tail.rfind('\n', cut - 1);
  }
  return cut == std::string::npos ? tail : tail.substr(cut + 1);
}

fs::path home_directory() {
  const char* home = std::getenv("HOME");
  if (home != nullptr && fs::path(home).is_absolute()) return home;
  std::vector<char> buffer(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_dir;
  }
  return "/";
}

fs::path xdg_state_directory() {
  return xdg_directory("XDG_STATE_HOME", ".local/state");
}
fs::path xdg_cache_directory() {
  return xdg_directory("XDG_CACHE_HOME", ".cache");
}
fs::path xdg_config_directory() {
  return xdg_directory("XDG_CONFIG_HOME", ".config");
}

}  // namespace pilot
