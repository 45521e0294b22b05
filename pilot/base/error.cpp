#include "pilot/base/error.hpp"

#include <system_error>
#include <utility>

namespace pilot {

Error Error::while_doing(std::string_view what) const {
  return Error{code, std::string(what) + ": " + message, hint};
}

std::string Error::text() const {
  return hint.empty() ? message : message + "; " + hint;
}

Error make_error(ErrorCode code, std::string message, std::string hint) {
  return Error{code, std::move(message), std::move(hint)};
}

Error errno_error(std::string_view what, int saved_errno) {
  return make_error(ErrorCode::failed,
                    std::string(what) + ": " + std::generic_category().message(saved_errno));
}

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::failed:
      return 1;
    case ErrorCode::usage:
      return 2;
    case ErrorCode::not_found:
      return 3;
    case ErrorCode::timed_out:
      return 4;
    case ErrorCode::unavailable:
      return 5;
    case ErrorCode::partial:
      return 6;
    case ErrorCode::internal:
      return 70;
  }
  return 70;
}

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::failed:
      return "failed";
    case ErrorCode::usage:
      return "usage";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::timed_out:
      return "timed_out";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::partial:
      return "partial";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

}  // namespace pilot
