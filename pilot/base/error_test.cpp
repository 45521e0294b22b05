#include "pilot/base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>

#include "pilot/base/result.hpp"

namespace pilot {
namespace {

constexpr ErrorCode all_codes[] = {ErrorCode::failed,    ErrorCode::usage,       ErrorCode::not_found,
                                   ErrorCode::timed_out, ErrorCode::unavailable, ErrorCode::partial,
                                   ErrorCode::internal};

TEST(Error, TextJoinsMessageAndHint) {
  EXPECT_EQ(make_error(ErrorCode::failed, "broken").text(), "broken");
  EXPECT_EQ(make_error(ErrorCode::failed, "broken", "mend it").text(), "broken; mend it");
}

TEST(Error, WhileDoingKeepsCodeAndHint) {
  const Error error =
      make_error(ErrorCode::timed_out, "no answer", "try again").while_doing("starting pilot 'demo'");
  EXPECT_EQ(error.code, ErrorCode::timed_out);
  EXPECT_EQ(error.message, "starting pilot 'demo': no answer");
  EXPECT_EQ(error.hint, "try again");
}

TEST(Error, ErrnoIsNamedInWords) {
  EXPECT_EQ(errno_error("cannot open '/x'", EACCES).message, "cannot open '/x': Permission denied");
}

TEST(Error, EachCodeHasItsOwnExitCodeAndName) {
  std::set<int> exits;
  std::set<std::string_view> names;
  for (const ErrorCode code : all_codes) {
    EXPECT_NE(exit_code(code), 0);
    exits.insert(exit_code(code));
    names.insert(to_string(code));
  }
  EXPECT_EQ(exits.size(), std::size(all_codes));
  EXPECT_EQ(names.size(), std::size(all_codes));
}

Result<int> half(int number) {
  if (number % 2 != 0) return make_error(ErrorCode::usage, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  PILOT_TRY(const int halved, half(number));
  PILOT_TRY(const int quartered, half(halved));
  return quartered;
}

Result<void> check_quarter(int number, bool& reached) {
  PILOT_TRY_VOID(quarter(number));
  reached = true;
  return ok();
}

Result<std::unique_ptr<int>> boxed(int number) {
  PILOT_TRY(auto halved, half(number));
  return std::make_unique<int>(halved);
}

Result<int> unboxed(int number) {
  PILOT_TRY(const std::unique_ptr<int> box, boxed(number));
  return *box;
}

TEST(Result, TryPassesTheValueOrReturnsTheError) {
  EXPECT_EQ(quarter(12).value(), 3);
  ASSERT_TRUE(quarter(6).has_error());
  EXPECT_EQ(quarter(6).error().message, "odd");
}

TEST(Result, TryVoidStopsAtAnError) {
  bool reached = false;
  EXPECT_TRUE(check_quarter(6, reached).has_error());
  EXPECT_FALSE(reached);
  EXPECT_TRUE(check_quarter(8, reached).has_value());
  EXPECT_TRUE(reached);
}

TEST(Result, TryMovesValuesThatCannotBeCopied) {
  EXPECT_EQ(unboxed(8).value(), 4);
  EXPECT_EQ(unboxed(7).error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace pilot
