// tests/fixtures/kafka/quorum-of-* were written by StorageTool 4.3.1 with --standalone and
// --initial-controllers.
#include "adaptors/framework/kafka/kraft_format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "pilot/base/file.hpp"

namespace pilot::adaptors::kafka {
namespace {

std::string fixture(const std::string& name) {
  const auto content = read_file(std::string(PILOT_SOURCE_DIR "/tests/fixtures/kafka/") + name);
  EXPECT_TRUE(content.has_value()) << name;
  return content.value();
}

Uuid uuid_from(std::initializer_list<std::uint8_t> bytes) {
  Uuid uuid{};
  std::copy(bytes.begin(), bytes.end(), uuid.begin());
  return uuid;
}

std::int64_t big_endian(const std::string& data, std::size_t at, int bytes) {
  std::int64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value = (value << 8) | static_cast<std::uint8_t>(data[at + static_cast<std::size_t>(i)]);
  return value;
}

// The three times that StorageTool took, out of its snapshot.
void take_times(QuorumStart& start, const std::string& snapshot) {
  constexpr std::size_t batch_time = 27, header_time = 73, header_of_batch = 12;
  start.batch_ms = big_endian(snapshot, batch_time, 8);
  start.header_ms = big_endian(snapshot, header_time, 8);
  const auto second = header_of_batch + static_cast<std::size_t>(big_endian(snapshot, 8, 4));
  start.footer_ms = big_endian(snapshot, second + batch_time, 8);
}

TEST(KraftFormat, SnapshotOfOneEqualsStorageTools) {
  const auto snapshot = fixture("quorum-of-one.checkpoint");
  QuorumStart start{"CONTROLLER",
                    {{100, "127.0.0.1", 29093}},
                    {uuid_from({0x5c, 0x5e, 0x08, 0x08, 0x23, 0x54, 0x49, 0x80, 0xa8, 0xc5, 0x12, 0x0c, 0x57,
                                0x92, 0x96, 0x75})},
                    0,
                    0,
                    0};
  take_times(start, snapshot);
  EXPECT_EQ(to_string(start.directories[0]), "XF4ICCNUSYCoxRIMV5KWdQ");
  EXPECT_EQ(quorum_snapshot(start), snapshot);
}

TEST(KraftFormat, SnapshotOfThreeEqualsStorageTools) {
  const auto snapshot = fixture("quorum-of-three.checkpoint");
  QuorumStart start{"CONTROLLER",
                    parse_voters("100@127.0.0.1:29093,101@127.0.0.2:29094,102@127.0.0.3:29095").value(),
                    {uuid_from({0x1c, 0x9e, 0x7e, 0x04, 0x9d, 0x53, 0x4f, 0x21, 0xaf, 0x1a, 0xbf, 0xb2, 0xc0,
                                0x18, 0x2a, 0x08}),
                     uuid_from({0xc7, 0xf0, 0x11, 0x1e, 0x11, 0x01, 0x4e, 0x8f, 0x8c, 0x04, 0x8d, 0x87, 0xb3,
                                0xa6, 0x46, 0xf0}),
                     uuid_from({0xab, 0xa1, 0xc2, 0x0c, 0x67, 0x13, 0x43, 0x9a, 0xbc, 0x0c, 0xab, 0xfc, 0xfd,
                                0xd6, 0x41, 0x54})},
                    0,
                    0,
                    0};
  take_times(start, snapshot);
  EXPECT_EQ(quorum_snapshot(start), snapshot);
}

TEST(KraftFormat, MetaPropertiesHasTheLinesOfStorageTools) {
  const auto ours = meta_properties("AAAAAAAAQACAAAAAAAAAAA", 100,
                                    uuid_from({0x5c, 0x5e, 0x08, 0x08, 0x23, 0x54, 0x49, 0x80, 0xa8, 0xc5,
                                               0x12, 0x0c, 0x57, 0x92, 0x96, 0x75}));
  const auto theirs = fixture("quorum-of-one.meta.properties");
  int lines = 0;
  for (std::size_t begin = 0; begin < theirs.size();) {
    const auto end = theirs.find('\n', begin) + 1;
    const auto line = theirs.substr(begin, end - begin);
    begin = end;
    if (line.front() == '#') continue;
    EXPECT_THAT(ours, ::testing::HasSubstr(line));
    ++lines;
  }
  EXPECT_EQ(lines, 4);
}

TEST(KraftFormat, Crc32cOfTheCheckString) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
}  // RFC 3720, B.4

TEST(KraftFormat, IdsFollowFromTheirNamesAndDiffer) {
  EXPECT_EQ(directory_uuid("c", 1), directory_uuid("c", 1));
  std::set<std::string> ids;
  for (const auto* cluster : {"c", "d", "cc"}) {
    for (int node = 0; node < 200; ++node) {
      for (int directory = 0; directory < 3; ++directory)
        ids.insert(to_string(directory_uuid(cluster, node, directory)));
    }
  }
  EXPECT_EQ(ids.size(), 1800u);
  for (const auto& id : ids) {
    EXPECT_EQ(id.size(), 22u);
    EXPECT_NE(id.front(), '-') << "tools would take it for a flag";
  }
  EXPECT_NE(cluster_id("a"), cluster_id("b"));
}

TEST(KraftFormat, ParsesVoters) {
  const auto voters = parse_voters("1001@10.0.0.1:9093,1002@[fd00::2]:1").value();
  EXPECT_EQ(voters, (std::vector<Voter>{{1001, "10.0.0.1", 9093}, {1002, "fd00::2", 1}}));
  for (const auto* wrong : {"", "1", "1@", "1@h", "1@h:", "1@h:0", "1@h:65536", "x@h:1", "-1@h:1", "1@:1",
                            "1@h:1,", "1@[]:1", "@h:1", "1@h:1x"}) {
    EXPECT_FALSE(parse_voters(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace pilot::adaptors::kafka
