#include "pilot/store/mailbox.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "pilot/base/file.hpp"
#include "pilot/base/log.hpp"
#include "pilot/base/units.hpp"

namespace pilot::store {

namespace {

namespace fs = std::filesystem;

constexpr auto look_again = std::chrono::milliseconds(50);
constexpr auto kept_for = std::chrono::hours(1);
constexpr off_t longest_letter = 1 << 20;

bool is_id(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// A plain file of ours that a request may be.
bool is_letter(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
         status.st_size <= longest_letter;
}

// By the clock that stamps the files, which need not be ours: older than the newest of them.
bool is_old(const fs::directory_entry& entry, fs::file_time_type newest) {
  std::error_code failure;
  const auto written = entry.last_write_time(failure);
  return !failure && newest - written > kept_for;
}

fs::file_time_type newest_in(const fs::path& folder) {
  std::error_code failure;
  auto newest = fs::file_time_type::min();
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const auto written = entry.last_write_time(failure);
    if (!failure) newest = std::max(newest, written);
  }
  return newest;
}

bool remove_file(const fs::path& path) {
  std::error_code failure;
  return fs::remove(path, failure) && !failure;
}

}  // namespace

fs::path Mailbox::file(const std::string& id, const char* state) const {
  return folder_ / (id + state);
}

Result<std::string> Mailbox::ask(const Clock& clock, const std::string& id, const std::string& text,
                                 Patience patience) {
  PILOT_TRY_VOID(make_directory(folder_));
  const auto request = file(id, ".ask");
  PILOT_TRY_VOID(write_file(request, text, 0600));
  const Deadline taken(clock, patience.taken), answered(clock, patience.taken + patience.answered);
  const auto answer = file(id, ".answer");
  for (;;) {
    if (auto content = read_file(answer); content.has_value()) {
      remove_file(answer);
      return content;
    }
    if (taken.passed() && remove_file(request))
      return make_error(ErrorCode::unavailable,
                        fmt::format("the head agent took no message from the pilot's folder within {}",
                                    format_duration(patience.taken)));
    if (answered.passed())
      return make_error(ErrorCode::unavailable,
                        fmt::format("the head agent has taken a message from the pilot's folder, and did not "
                                    "answer within {}",
                                    format_duration(patience.answered)));
    std::this_thread::sleep_for(look_again);
  }
}

std::vector<Mailbox::Letter> Mailbox::take() {
  std::vector<Letter> letters;
  std::error_code failure;
  const auto newest = newest_in(folder_);
  for (const auto& entry : fs::directory_iterator(folder_, failure)) {
    const std::string id = entry.path().stem(), state = entry.path().extension();
    if (state != ".ask") {
      if (is_old(entry, newest)) remove_file(entry.path());
      continue;
    }
    if (!is_id(id) || !is_letter(entry.path())) {
      log::warning("'{}' is not a message of this pilot's owner", entry.path().string());
      continue;
    }
    const auto taken = file(id, ".taken");
    fs::rename(entry.path(), taken, failure);
    if (failure) continue;  // withdrawn
    if (auto text = read_file(taken); text.has_value()) letters.push_back({id, std::move(text).value()});
    remove_file(taken);
  }
  return letters;
}

Result<void> Mailbox::answer(const std::string& id, const std::string& text) {
  return write_file(file(id, ".answer"), text, 0600);
}

}  // namespace pilot::store
