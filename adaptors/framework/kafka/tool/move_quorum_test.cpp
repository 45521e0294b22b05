// tests/fixtures/kafka/quorum-of-three.checkpoint was written by StorageTool 4.3.1.
#include "adaptors/framework/kafka/tool/move_quorum.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace pilot::adaptors::kafka {
namespace {

namespace fs = std::filesystem;

const std::vector<Voter> elsewhere{{100, "10.1.222.333", 1}, {101, "fd00::2", 65535}, {102, "n3", 29095}};

std::string recorded_quorum() {
  return read_file(PILOT_SOURCE_DIR "/tests/fixtures/kafka/quorum-of-three.checkpoint").value();
}

QuorumStart quorum_at(std::vector<Voter> voters) {
  QuorumStart start{"CONTROLLER", std::move(voters), {}, 1, 2, 3};
  for (const auto& voter : start.voters) start.directories.push_back(directory_uuid("c", voter.id));
  return start;
}

TEST(KafkaMoveQuorum, IsAsIfItHadBeenMadeThere) {
  const auto here = parse_voters("100@127.0.0.1:29093,101@127.0.0.2:29094,102@127.0.0.3:29095").value();
  EXPECT_EQ(with_voters_at(quorum_snapshot(quorum_at(here)), elsewhere).value(),
            quorum_snapshot(quorum_at(elsewhere)));
  EXPECT_EQ(with_voters_at(recorded_quorum(), here).value(), recorded_quorum()) << "they are there already";
  const auto moved = with_voters_at(recorded_quorum(), elsewhere).value();
  EXPECT_NE(moved, recorded_quorum());
  EXPECT_EQ(with_voters_at(moved, here).value(), recorded_quorum()) << "and back, with what Kafka wrote";
}

TEST(KafkaMoveQuorum, LeavesOthersAndWhatACrashCutOff) {
  EXPECT_EQ(with_voters_at(recorded_quorum(), {{7, "x", 1}}).value(), recorded_quorum());
  EXPECT_EQ(with_voters_at("", elsewhere).value(), "");
  const auto whole = with_voters_at(recorded_quorum(), elsewhere).value();
  const auto torn = recorded_quorum().substr(0, 40);
  EXPECT_EQ(with_voters_at(recorded_quorum() + torn, elsewhere).value(), whole + torn);
  const std::string zeros(100, '\0');  // allocated, never written
  EXPECT_EQ(with_voters_at(recorded_quorum() + zeros, elsewhere).value(), whole + zeros);
}

TEST(KafkaMoveQuorum, RefusesFormsItDoesNotKnow) {
  auto snapshot = quorum_snapshot(quorum_at(elsewhere));
  const auto at =
      snapshot.find("CONTROLLER") - 25;  // version, number, id, directory, number, length before it
  ASSERT_EQ(snapshot.substr(at, 3), std::string("\0\0\4", 3));
  snapshot[at + 1] = 1;
  const auto refused = with_voters_at(snapshot, elsewhere);
  ASSERT_TRUE(refused.has_error());
  EXPECT_THAT(refused.error().text(), ::testing::HasSubstr("a list of voters of a form that is not known"));
}

TEST(KafkaMoveQuorum, IndexesOfWhatChangedAreMadeAnew) {
  const auto folder = fs::temp_directory_path() / ("pilot-kafka-" + random_hex(8));
  const auto log = folder / "__cluster_metadata-0";
  ASSERT_TRUE(make_directory(log).has_value());
  const auto put = [&](const char* name, const std::string& text) {
    ASSERT_TRUE(write_file(log / name, text));
  };
  put("00.log", recorded_quorum()), put("00.index", "i"), put("00.timeindex", "t");
  put("10.log", "torn"), put("10.index", "i"), put("00-0.checkpoint", recorded_quorum());
  EXPECT_EQ(move_quorum(folder, elsewhere).value(), 2);
  EXPECT_EQ(read_file(log / "00.log").value(), with_voters_at(recorded_quorum(), elsewhere).value());
  EXPECT_FALSE(fs::exists(log / "00.index") || fs::exists(log / "00.timeindex"));
  EXPECT_TRUE(fs::exists(log / "10.index"));
  EXPECT_EQ(move_quorum(folder, elsewhere).value(), 0);
  ASSERT_TRUE(remove_tree(folder).has_value());
}

}  // namespace
}  // namespace pilot::adaptors::kafka
