#include "adaptors/framework/kafka/software.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace pilot::adaptors::kafka {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class KafkaSoftware : public ::testing::Test {
 protected:
  KafkaSoftware() : home_(fs::temp_directory_path() / ("kafka-software-" + random_hex(8))) {}
  ~KafkaSoftware() override { (void)remove_tree(home_); }
  void has(const std::string& file) {
    ASSERT_TRUE(make_directory((home_ / file).parent_path()).has_value());
    ASSERT_TRUE(write_file(home_ / file, "x").has_value());
  }
  fs::path home_;
};

TEST_F(KafkaSoftware, ReadsAnUnpackedRelease) {
  has("libs/kafka-clients-4.1.0.jar");
  has("libs/kafka-clients-4.1.0-test.jar");
  const auto software = inspect_software(home_, "/usr/bin/java", 17).value();
  EXPECT_EQ(software.version, "4.1.0");
  EXPECT_EQ(software.details,
            (std::map<std::string, std::string>{{"classpath", (home_ / "libs").string() + "/*"}}));
}

TEST_F(KafkaSoftware, FindsWhatTheInstallationAdds) {
  has("libs/kafka-clients-4.3.1.jar");
  has("template/bootstrap.checkpoint");
  has("cds/broker.jsa");
  has("cds/controller.jsa");
  const auto software = inspect_software(home_, "/usr/bin/java", 21).value();
  EXPECT_EQ(software.details.at("template"), (home_ / "template/bootstrap.checkpoint").string());
  EXPECT_EQ(software.details.at("cds.broker"), (home_ / "cds/broker.jsa").string());
}

TEST_F(KafkaSoftware, SaysWhatIsMissingOrTooOld) {
  const auto nothing = inspect_software(home_, "/usr/bin/java", 17);
  EXPECT_EQ(nothing.error().code, ErrorCode::not_found);
  EXPECT_THAT(nothing.error().text(), HasSubstr("'pilot frameworks install kafka'"));
  has("libs/kafka-clients-3.9.0.jar");
  EXPECT_THAT(inspect_software(home_, "/usr/bin/java", 17).error().text(), HasSubstr("Kafka 3.9.0"));
  fs::remove(home_ / "libs/kafka-clients-3.9.0.jar");
  has("libs/kafka-clients-4.3.1.jar");
  EXPECT_THAT(inspect_software(home_, "/usr/bin/java", 11).error().text(),
              HasSubstr("'/usr/bin/java' is version 11, Kafka needs 17"));
}

}  // namespace
}  // namespace pilot::adaptors::kafka
