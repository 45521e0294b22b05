// What a batch system would say to a job, without one.
#include <fmt/format.h>

#include "adaptors/batch/host/batch_host.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace pilot::adaptors::host {
namespace {

// A script that is there only while it is judged.
class PassingFile {
 public:
  PassingFile()
      : path_(std::filesystem::temp_directory_path() / ("pilot-validate-" + random_hex(8) + ".sh")) {}
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;
  ~PassingFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

Result<std::vector<std::string>> BatchHost::validate(const plugin::AllocationRequest& request) {
  std::vector<std::string> said;
  PILOT_TRY_VOID(check(request.spec));
  PILOT_TRY(const std::string text, render(request));
  said.push_back(fmt::format("the settings are what {} understands", dialect_->system()));
  PILOT_TRY(const bool known, refuse_what_never_fits(request));
  said.push_back(
      known ? fmt::format("{} nodes and their time are within the limits of the queue", request.nodes)
            : fmt::format("{} does not say what its limits are", dialect_->system()));
  const PassingFile script;
  const auto question = dialect_->judge(request, script.path());
  if (question.argv.empty()) {
    said.push_back(
        fmt::format("{} has no command that judges a job without running it: account and queue "
                    "are checked when it is submitted",
                    dialect_->system()));
    return said;
  }
  PILOT_TRY_VOID(write_file(script.path(), text, 0700));
  PILOT_TRY(const auto answer, call(question));
  PILOT_TRY(const std::string judgement, dialect_->judged(answer));
  said.push_back(fmt::format("{}: {}", dialect_->system(), judgement));
  return said;
}

}  // namespace pilot::adaptors::host
