#include "pilot/store/pilot_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace pilot::store {
namespace {

class PilotFolderTest : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("PILOT_HOME", home_.c_str(), 1); }
  void TearDown() override {
    ::unsetenv("PILOT_HOME");
    (void)remove_tree(home_);
  }

  PilotFolder create(std::string_view name, bool encrypt = false) {
    auto folder = PilotFolder::create(name, 2, encrypt);
    if (!folder) ADD_FAILURE() << folder.error().text();
    std::ofstream(folder.value().path() / "events.jsonl") << "";
    return folder.value();
  }

  std::filesystem::path home_ = std::filesystem::path(::testing::TempDir()) / ("pilot_home." + random_hex(6));
};

TEST_F(PilotFolderTest, NobodyElseCanReadIt) {
  const PilotFolder folder = create("demo");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path() / "keys")) {
    struct stat info {};
    ASSERT_EQ(::stat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 077, 0u) << entry.path();
  }
  struct stat info {};
  ASSERT_EQ(::stat(folder.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(PilotFolderTest, AllowsTheKeysOfNodesAndClientButNotTheHeads) {
  const PilotFolder folder = create("demo");
  const auto allowed = folder.public_keys().value();
  EXPECT_EQ(allowed.size(), 3u);
  EXPECT_FALSE(allowed.contains(folder.keys("head").value().public_key));
  EXPECT_TRUE(allowed.contains(folder.keys("node-2").value().public_key));
}

TEST_F(PilotFolderTest, NodesThatComeTogetherHaveOneFileAndEachItsOwnKeys) {
  PilotFolder folder = create("demo");
  const auto second = folder.keys("node-2").value();
  EXPECT_EQ(folder.keys("node-3").error().code, ErrorCode::not_found);
  ASSERT_TRUE(folder.make_node_keys(3, 10).has_value());
  ASSERT_TRUE(folder.make_node_keys(13, 1).has_value());
  EXPECT_EQ(folder.keys("node-2").value().secret_key, second.secret_key);
  std::set<std::string> public_keys, secret_keys;
  for (int node = 1; node <= 13; ++node) {
    const auto keys = folder.keys("node-" + std::to_string(node)).value();
    public_keys.insert(keys.public_key);
    secret_keys.insert(keys.secret_key);
  }
  EXPECT_EQ(secret_keys.size(), 13u);
  public_keys.insert(folder.keys("client").value().public_key);
  EXPECT_EQ(folder.public_keys().value(), public_keys);
  EXPECT_EQ(folder.keys("node-14").error().code, ErrorCode::not_found);
}

TEST_F(PilotFolderTest, DamagedNodeKeysAreNamed) {
  const PilotFolder folder = create("demo");
  std::filesystem::resize_file(folder.path() / "keys/nodes-1.txt", 100);
  EXPECT_TRUE(folder.keys("node-1").has_value());
  const auto damaged = folder.keys("node-2");
  ASSERT_FALSE(damaged.has_value());
  EXPECT_NE(damaged.error().message.find("nodes-1.txt is damaged"), std::string::npos);
  EXPECT_FALSE(folder.public_keys().has_value());
  std::ofstream(folder.path() / "keys/nodes-1.txt") << std::string(164, 'x');
  EXPECT_FALSE(folder.public_keys().has_value());
}

TEST_F(PilotFolderTest, ANameInUseIsRefusedAndTheFolderStays) {
  create("demo");
  auto second = PilotFolder::create("demo", 1, false);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::usage);
  EXPECT_EQ(second.error().message, "the name 'demo' is in use");
  EXPECT_TRUE(PilotFolder::open("demo").has_value());
  EXPECT_EQ(PilotFolder::names(), std::vector<std::string>{"demo"});
}

TEST_F(PilotFolderTest, NamesThatAreNoFileNamesAreRefused) {
  for (const char* name : {"", "../x", "a/b", ".hidden", "-N", "a b", "x\n", "caf\xc3\xa9"})
    EXPECT_FALSE(PilotFolder::create(name, 1, false).has_value()) << name;
}

TEST_F(PilotFolderTest, AMissingPilotIsNotFoundWithASuggestion) {
  create("demo");
  auto found = PilotFolder::open("dmeo");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_EQ(found.error().hint, "did you mean 'demo'?");
}

TEST_F(PilotFolderTest, FillsInSecretsAndLeavesOtherPlaceholders) {
  PilotFolder folder = create("demo");
  const std::string text = "password=${secret:kafka.password} dir=${sys:log} open=${";
  EXPECT_EQ(folder.fill_in(text).error().code, ErrorCode::not_found);
  ASSERT_TRUE(folder.make_secrets_for(text).has_value());
  const std::string filled = folder.fill_in(text).value();
  const std::string secret = folder.secrets().value().at("kafka.password");
  EXPECT_EQ(secret.size(), 64u);
  EXPECT_EQ(filled, "password=" + secret + " dir=${sys:log} open=${");
  ASSERT_TRUE(folder.make_secrets_for(text).has_value());
  EXPECT_EQ(folder.fill_in(text).value(), filled) << "a secret is made once";
}

TEST_F(PilotFolderTest, FillsInCertificatesOfItsOwnAuthority) {
  const PilotFolder folder = create("demo", true);
  EXPECT_NE(folder.fill_in("${tls:ca}").value().find("BEGIN CERTIFICATE"), std::string::npos);
  EXPECT_NE(folder.fill_in("${tls:identity:127.77.0.1}").value().find("BEGIN PRIVATE KEY"),
            std::string::npos);
  const PilotFolder plain = create("plain");
  EXPECT_EQ(plain.fill_in("${tls:ca}").error().code, ErrorCode::not_found);
}

TEST_F(PilotFolderTest, ArchivingFreesTheNameAndKeepsTheNewestTen) {
  for (int i = 0; i < 12; ++i) {
    PilotFolder folder = create("demo");
    ASSERT_TRUE(folder.archive("id" + std::to_string(i)).has_value());
  }
  EXPECT_TRUE(PilotFolder::names().empty());
  const auto kept = std::distance(std::filesystem::directory_iterator(home_ / "stopped"), {});
  EXPECT_EQ(kept, 10);
}

TEST_F(PilotFolderTest, RemembersTheEndpoint) {
  PilotFolder folder = create("demo");
  EXPECT_EQ(folder.endpoint().error().code, ErrorCode::not_found);
  ASSERT_TRUE(folder.set_endpoint({"tcp://127.0.0.1:1", "here", {4, 5, "boot"}}).has_value());
  EXPECT_EQ(folder.endpoint().value().head, (model::ProcessIdentity{4, 5, "boot"}));
}

}  // namespace
}  // namespace pilot::store
