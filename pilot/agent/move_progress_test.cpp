#include "pilot/agent/move_progress.hpp"

#include <gtest/gtest.h>

namespace pilot::agent {
namespace {

TEST(MoveProgress, IsASentence) {
  EXPECT_EQ(progress_sentence(R"({"event":"step","text":"electing leaders"})"), "electing leaders");
  EXPECT_EQ(
      progress_sentence(R"({"event":"progress","moved_bytes":1048576,"total_bytes":4194304,"eta_s":2.6})"),
      "1 MiB of 4 MiB moved, 3 s left");
  EXPECT_EQ(progress_sentence(R"({"event":"progress","moved_bytes":0,"total_bytes":4194304,"eta_s":null})"),
            "0 B of 4 MiB moved");
}

TEST(MoveProgress, WhatItDoesNotKnowIsPassedOrLeftOut) {
  EXPECT_EQ(progress_sentence("no JSON"), "no JSON");
  EXPECT_EQ(progress_sentence(R"({"schema":"x/1","event":"done"})"), "");
  EXPECT_EQ(progress_sentence("[1]"), "");
  EXPECT_EQ(progress_sentence(R"({"event":"progress","moved_bytes":"many"})"),
            R"({"event":"progress","moved_bytes":"many"})");
}

TEST(MoveProgress, WhatAHealthCheckFound) {
  EXPECT_EQ(problem_of(R"({"schema": "x/1", "problem": "1 of 2 partitions"})").value(), "1 of 2 partitions");
  EXPECT_EQ(problem_of(R"({"problem": ""})").value(), "");
  EXPECT_EQ(problem_of("{\"event\": \"step\", \"text\": \"waiting\"}\n{\"problem\": \"no\"}\n").value(),
            "no");
  EXPECT_EQ(problem_of("").error().code, ErrorCode::failed);
  EXPECT_EQ(problem_of(R"({"problem": 1})").error().code, ErrorCode::failed);
  EXPECT_EQ(problem_of("[]").error().code, ErrorCode::failed);
}

}  // namespace
}  // namespace pilot::agent
