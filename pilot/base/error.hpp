// What went wrong, for a person and for a script: a code, a sentence with the cause in the words of
// the tool that refused, and a hint what to do about it.
#pragma once

#include <string>
#include <string_view>

namespace pilot {

// Each code is also the exit code of the command that ends with it (see exit_code()).
enum class ErrorCode {
  failed,       // the operation was tried and did not succeed
  usage,        // bad flags, configuration or input
  not_found,    // no such pilot, service, file ...
  timed_out,    // a deadline passed
  unavailable,  // batch system or agent does not answer; a retry may help
  partial,      // some of it was done, the rest was not
  internal,     // a bug of ours
};

struct Error {
  ErrorCode code = ErrorCode::failed;
  std::string message;  // "cannot submit to slurm: sbatch exited 1: invalid partition 'x'"
  std::string hint;     // "'sinfo' lists partitions"; may be empty

  // Puts what was being done in front: "starting pilot 'demo': " + message.
  [[nodiscard]] Error while_doing(std::string_view what) const;

  // "message; hint", the form in which errors are printed.
  [[nodiscard]] std::string text() const;
};

Error make_error(ErrorCode code, std::string message, std::string hint = {});

// An error from errno, e.g. "cannot open '/x': Permission denied".
Error errno_error(std::string_view what, int saved_errno);

// 0 is success; failed 1, usage 2, not_found 3, timed_out 4, unavailable 5, partial 6, internal 70.
int exit_code(ErrorCode code);

// The code's name as it stands in JSON output ("not_found").
std::string_view to_string(ErrorCode code);

}  // namespace pilot
