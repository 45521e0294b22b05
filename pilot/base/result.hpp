// Result<T>: a value or an Error.  Everything that the world can refuse returns one.
#pragma once

#include <boost/outcome/result.hpp>
#include <utility>

#include "pilot/base/error.hpp"

namespace pilot {

namespace outcome = BOOST_OUTCOME_V2_NAMESPACE;

// Reading the value of a failed Result ends the program: check first, or use PILOT_TRY.
template <typename T>
using Result = outcome::basic_result<T, Error, outcome::policy::terminate>;

using outcome::success;

// A Result<void> that succeeded.
inline Result<void> ok() {
  return outcome::success();
}

}  // namespace pilot

// Outcome changed the syntax of its TRY macros after Boost 1.74, so these two stand in for them.
// PILOT_TRY(auto name, expression): name = the value, or return the error.
// PILOT_TRY_VOID(expression): go on, or return the error.
#define PILOT_TRY_CAT2(a, b) a##b
#define PILOT_TRY_CAT(a, b) PILOT_TRY_CAT2(a, b)
#define PILOT_TRY_IMPL(tmp, decl, ...)                   \
  auto&& tmp = (__VA_ARGS__);                            \
  if (!(tmp).has_value()) return std::move(tmp).error(); \
  decl = std::move(tmp).value()
#define PILOT_TRY(decl, ...) PILOT_TRY_IMPL(PILOT_TRY_CAT(pilot_try_, __COUNTER__), decl, __VA_ARGS__)
#define PILOT_TRY_VOID(...)                                                     \
  do {                                                                          \
    if (auto&& pilot_try_result = (__VA_ARGS__); !pilot_try_result.has_value()) \
      return std::move(pilot_try_result).error();                               \
  } while (false)
