#include "pilot/core/reopen.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"
#include "pilot/config/pilot_settings.hpp"
#include "pilot/config/yaml.hpp"
#include "pilot/store/event_log.hpp"

namespace pilot::core {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class Reopen : public testing::Test {
 protected:
  Reopen() { ::setenv("PILOT_HOME", home_.c_str(), 1); }
  ~Reopen() override {
    ::unsetenv("PILOT_HOME");
    EXPECT_TRUE(remove_tree(home_).has_value());
  }

  static model::PilotSpec spec() {
    model::PilotSpec made;
    made.name = "demo";
    made.nodes = 2;
    made.walltime = 90min;
    made.lost_after = 7s;
    made.batch = {{"queue", "long"}};
    made.frameworks = {{"echo", {{"data", "/d"}}, {{"a.b", "1"}}, {}}};
    return made;
  }

  void stopped(const std::string& id, std::map<std::string, std::string> keeps) {
    const fs::path folder = home_ / "stopped" / ("demo-" + id);
    EXPECT_TRUE(make_directory(folder).has_value());
    auto log = store::EventLog::open(folder, system_clock());
    ASSERT_TRUE(log.has_value()) << log.error().text();
    model::ClusterPlan plan;
    plan.framework = "echo";
    plan.keeps = std::move(keeps);
    for (const char* node : {"node-1", "node-2", "node-4"}) {
      model::ServiceSpec service;
      service.id = std::string("echo/") + node;
      service.node = node;
      plan.services.push_back(service);
    }
    EXPECT_TRUE(log.value().append(model::PilotCreated{id, spec(), "1", "me", "here"}).has_value());
    EXPECT_TRUE(log.value().append(model::ClusterPlanned{plan}).has_value());
    EXPECT_TRUE(log.value().append(model::PilotPhaseChanged{model::PilotPhase::stopped, ""}).has_value());
  }

  const fs::path home_ = fs::temp_directory_path() / ("pilot-reopen-" + random_hex(8));
};

TEST_F(Reopen, TheNewestThatKeptItsData) {
  stopped("1", {{"cluster", "old"}});
  stopped("2", {{"cluster", "new"}});
  stopped("3", {});
  const auto found = stopped_pilot("demo");
  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_EQ(found.value().id, "2");
  EXPECT_EQ(stopped_pilot("demo-1").value().id, "1");
  EXPECT_EQ(stopped_pilot("dmeo").error().code, ErrorCode::not_found);
  EXPECT_EQ(stopped_pilot("dmeo").error().hint, "did you mean 'demo'?");
}

TEST_F(Reopen, DataThatEndedWithThePilotAreNotPromised) {
  stopped("1", {});
  EXPECT_EQ(stopped_pilot("demo").error().code, ErrorCode::usage);
}

TEST_F(Reopen, SettingsAreThoseOfTheStoppedPilotOnAllItsNodes) {
  stopped("1", {{"cluster", "x"}});
  const auto state = stopped_pilot("demo").value();
  const auto document = config::parse_yaml(settings_of(state), "--from demo");
  ASSERT_TRUE(document.has_value()) << document.error().text();
  auto located = config::decode_pilot_spec(document.value());
  ASSERT_TRUE(located.has_value()) << located.error().text();
  model::PilotSpec expected = spec();
  expected.name = "";
  expected.nodes = 3;
  EXPECT_EQ(located.value().spec, expected);
  ASSERT_TRUE(reopen_in(located.value().spec, state).has_value());
  EXPECT_EQ(located.value().spec.frameworks[0].reopen,
            (std::map<std::string, std::string>{{"cluster", "x"}}));
  located.value().spec.frameworks.clear();
  EXPECT_EQ(reopen_in(located.value().spec, state).error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace pilot::core
