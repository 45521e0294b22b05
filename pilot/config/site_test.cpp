#include "pilot/config/site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/config/layers.hpp"
#include "pilot/config/pilot_settings.hpp"

namespace pilot::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SiteTest : public testing::Test {
 protected:
  SiteTest() {
    EXPECT_TRUE(make_directory(own).has_value());
    EXPECT_TRUE(make_directory(installed).has_value());
    input.files = {};
    input.files.project.clear();
    input.files.site = folder / "etc";
    input.files.profiles = {own, installed};
    put(installed / "big.yaml",
        "title: Big\nguides: [http://a, http://b]\nseen: 2026-08\nnotes: no memory\n"
        "settings: {resource: slurm, nodes: 7, batch: {queue: normal, skip: mem}}\n");
  }
  ~SiteTest() override { EXPECT_TRUE(remove_tree(folder).has_value()); }

  void put(const std::filesystem::path& file, const std::string& text) {
    EXPECT_TRUE(write_file(file, text).has_value());
  }
  std::string setting(const std::string& key) {
    const auto merged = merge_layers(input);
    EXPECT_TRUE(merged.has_value()) << merged.error().text();
    if (merged.has_value())
      for (const auto& shown : show_settings(merged.value()))
        if (shown.key == key) return shown.value;
    return "(none)";
  }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("pilot-site-" + random_hex(6));
  std::filesystem::path own = folder / "own", installed = folder / "installed";
  LayerInput input;
};

TEST_F(SiteTest, AProfileIsReadWithWhereItIsFrom) {
  const auto site = read_site(installed / "big.yaml");
  ASSERT_TRUE(site.has_value()) << site.error().text();
  EXPECT_EQ(site.value().name, "big");
  EXPECT_EQ(site.value().title, "Big");
  EXPECT_THAT(site.value().guides, ElementsAre("http://a", "http://b"));
  EXPECT_EQ(site.value().seen, "2026-08");
}

TEST_F(SiteTest, EveryOtherLayerWinsOverIt) {
  EXPECT_EQ(setting("resource"), "local");
  input.flags = {{{"site"}, "big", "--site"}};
  EXPECT_EQ(setting("resource"), "slurm");
  EXPECT_EQ(setting("nodes"), "7");
  EXPECT_EQ(setting("batch.skip"), "mem") << "shown although only some resources know it";
  input.environment = {{"PILOT_BATCH__QUEUE", "small"}};
  EXPECT_EQ(setting("batch.queue"), "small");
  EXPECT_EQ(setting("batch.skip"), "mem");
  EXPECT_TRUE(make_directory(input.files.site).has_value());
  put(input.files.site / "a.yaml", "nodes: 3\n");
  EXPECT_EQ(setting("nodes"), "3");
}

TEST_F(SiteTest, TheUsersOwnComesFirst) {
  put(own / "big.yaml", "title: Mine\nsettings: {nodes: 9}\n");
  put(own / "alone.yaml", "title: Alone\n");
  input.environment = {{"PILOT_SITE", "big"}};
  EXPECT_EQ(setting("nodes"), "9");
  EXPECT_EQ(setting("resource"), "local") << "profiles of one name are not mixed";
  const auto sites = list_sites(input.files.profiles).value();
  ASSERT_EQ(sites.size(), 2u);
  EXPECT_EQ(sites[0].name, "alone");
  EXPECT_EQ(sites[1].title, "Mine");
}

TEST_F(SiteTest, SaysWhatIsWrong) {
  input.flags = {{{"site"}, "bgi", "--site"}};
  EXPECT_EQ(merge_layers(input).error().text(),
            "--site: there is no profile of a site 'bgi'; did you mean 'big'?");
  put(own / "odd.yaml", "title: Odd\nsettings: {nods: 3}\n");
  EXPECT_THAT(read_site(own / "odd.yaml").error().text(), HasSubstr("odd.yaml:2:12"));
  put(own / "odd.yaml", "settings: {name: x}\n");
  EXPECT_THAT(read_site(own / "odd.yaml").error().text(), HasSubstr("a site's profile has no 'name'"));
  put(own / "odd.yaml", "queue: x\n");
  EXPECT_FALSE(read_site(own / "odd.yaml").has_value());
}

// Within a job its own nodes are meant, whatever the machine's profile says; a user's word counts more.
TEST_F(SiteTest, InABatchJobItsNodesAreTheDefault) {
  input.environment = {{"SLURM_JOB_ID", "77"}, {"PILOT_SITE", "big"}};
  EXPECT_EQ(setting("resource"), "allocation");
  EXPECT_EQ(setting("batch.queue"), "normal");
  input.environment = {{"PBS_JOBID", "77.head"}};
  EXPECT_EQ(setting("resource"), "allocation");
  input.environment = {{"PBS_JOBID", ""}};
  EXPECT_EQ(setting("resource"), "local");
  input.environment = {{"PBS_JOBID", "77.head"}, {"PILOT_RESOURCE", "pbs"}};
  EXPECT_EQ(setting("resource"), "pbs");
}

}  // namespace
}  // namespace pilot::config
