// A pilot without frameworks from start to stop, as the commands show it.
#include "tests/contract/cli/run_pilot.hpp"

namespace pilot::contract {
namespace {

using Keys = std::set<std::string>;

Keys keys_of(const nlohmann::json& object) {
  Keys keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

class Life : public PilotTest {};

TEST_F(Life, StartPrintsNoDataAndStatusHasFrozenFields) {
  started.emplace_back("demo");
  const Outcome began = run({"start", "demo", "--nodes", "2", "--subnet", "127.96.0.0/16"});
  ASSERT_EQ(began.code, 0) << began.err;
  EXPECT_EQ(began.out, "");
  EXPECT_NE(began.err.find("pilot 'demo' is ready after "), std::string::npos) << began.err;

  const Outcome status = run({"status", "demo", "--json"});
  EXPECT_EQ(status.code, 0) << status.err;
  const auto document = status.json();
  ASSERT_TRUE(document.is_object()) << status.out;
  EXPECT_EQ(keys_of(document),
            (Keys{"schema",   "name",         "id",      "state",    "reason",   "live",   "note",
                  "resource", "wanted_nodes", "created", "since",    "version",  "user",   "host",
                  "head",     "allocations",  "nodes",   "services", "clusters", "exports"}));
  EXPECT_EQ(document["schema"], "pilot.status/1");
  EXPECT_EQ(document["state"], "ready");
  EXPECT_EQ(document["live"], true);
  EXPECT_EQ(keys_of(document["head"]), (Keys{"pid", "host", "node", "endpoint", "starts"}));
  ASSERT_EQ(document["nodes"].size(), 2u);
  EXPECT_EQ(keys_of(document["nodes"][0]),
            (Keys{"id", "allocation", "state", "draining", "reason", "host", "address", "rack", "cores",
                  "memory", "scratch", "agent_pid", "clock_ahead_s"}));
  EXPECT_EQ(keys_of(document["allocations"][0]),
            (Keys{"id", "job", "nodes", "state", "reason", "ends", "leaves", "held_bytes"}));
  EXPECT_NE(document["nodes"][0]["address"], document["nodes"][1]["address"]);

  const Outcome list = run({"list", "--json"});
  EXPECT_EQ(list.json()["schema"], "pilot.list/1");
  EXPECT_EQ(keys_of(list.json()["pilots"][0]), (Keys{"name", "state", "head_alive", "resource", "nodes",
                                                     "frameworks", "created", "host", "note"}));
  EXPECT_EQ(run({"wait", "--for", "ready", "--timeout", "5s"}).code, 0);
  const Outcome grown = run({"extend", "demo", "--in-place"});
  EXPECT_EQ(grown.code, 2);
  EXPECT_NE(grown.err.find("the resource 'local' has no job that could grow"), std::string::npos)
      << grown.err;
  const Outcome late = run({"wait", "demo", "--for", "stopped", "--timeout", "300ms", "--progress", "none"});
  EXPECT_EQ(late.code, 4);
  EXPECT_EQ(
      late.err,
      "pilot: pilot 'demo' is still ready after 300ms\nhint: 'pilot status demo' shows what is missing\n");

  const Outcome env = run({"env", "--json"});
  EXPECT_EQ(env.json()["schema"], "pilot.env/1");
  EXPECT_EQ(env.json()["exports"], nlohmann::json::object());

  const Outcome stop = run({"stop", "demo", "--json"});
  EXPECT_EQ(stop.code, 0) << stop.err;
  EXPECT_EQ(keys_of(stop.json()),
            (Keys{"schema", "name", "id", "state", "by_head", "leftovers_ended", "note", "left"}));
  EXPECT_EQ(stop.json()["state"], "stopped");
  EXPECT_EQ(run({"stop", "demo"}).code, 3);
}

TEST_F(Life, EventsAndLogs) {
  start("demo");
  const Outcome events = run({"events", "demo", "--json"});
  ASSERT_EQ(events.code, 0);
  std::istringstream lines(events.out);
  std::uint64_t sequence = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(event.is_object()) << line;
    EXPECT_EQ(event["schema"], "pilot.event/1");
    EXPECT_EQ(event["seq"], ++sequence);
  }
  EXPECT_GT(sequence, 4u);
  EXPECT_NE(run({"events"}).out.find("  node-1 registered"), std::string::npos);

  EXPECT_EQ(run({"logs", "demo", "head"}).code, 0);
  const Outcome wrong = run({"logs", "demo", "haed"});
  EXPECT_EQ(wrong.code, 3);
  EXPECT_EQ(wrong.err, "pilot: pilot 'demo' has no log 'haed'\nhint: did you mean 'head'?\n");
  EXPECT_NE(run({"logs", "demo"}).out.find("node-1"), std::string::npos);
  const auto logs = run({"logs", "demo", "--json"}).json();
  EXPECT_EQ(logs["schema"], "pilot.logs/1");
  EXPECT_EQ(keys_of(logs["logs"][0]), (Keys{"name", "bytes", "file"}));
  EXPECT_EQ(run({"wait", "demo", "--json"}).json()["schema"], "pilot.status/1");
}

// The machine was rebooted: what is known is shown, with the reason, and stop cleans up.
TEST_F(Life, StatusAndStopAfterAReboot) {
  start("demo");
  const auto folder = work / "home/pilots/demo";
  const auto kept = work / "kept";
  std::filesystem::copy(folder, kept, std::filesystem::copy_options::recursive);
  ASSERT_EQ(run({"stop", "demo"}).code, 0);
  ASSERT_TRUE(remove_tree(work / "home/stopped").has_value());
  std::filesystem::rename(kept, folder);
  auto record = nlohmann::json::parse(read_file(folder / "allocations/a0.json").value());
  record["boot_id"] = "another boot";
  ASSERT_TRUE(write_file(folder / "allocations/a0.json", record.dump(), 0600).has_value());

  const Outcome status = run({"status", "demo"});
  EXPECT_EQ(status.code, 5) << status.err;
  EXPECT_NE(
      status.out.find(
          "not live: the machine was rebooted; nothing of it runs any more, 'pilot stop demo' cleans up"),
      std::string::npos)
      << status.out;
  EXPECT_EQ(run({"status", "demo", "--json"}).json()["nodes"][0]["state"], "lost");
  EXPECT_NE(run({"list"}).out.find("the machine was rebooted"), std::string::npos);
  const Outcome waiting = run({"wait", "demo", "--for", "stopped", "--timeout", "20s"});
  EXPECT_EQ(waiting.code, 5) << waiting.err;
  const Outcome stop = run({"stop", "demo"});
  EXPECT_EQ(stop.code, 0) << stop.err;
  EXPECT_NE(stop.err.find("(the machine was rebooted)"), std::string::npos) << stop.err;
}

TEST_F(Life, AFailedPilotMakesWayForTheNextOfItsName) {
  started.emplace_back("demo");
  const Outcome failed = run({"start", "demo", "--ports", "1024-1024", "--scratch", "/proc/nowhere"});
  EXPECT_NE(failed.code, 0);
  const Outcome again = run({"start", "demo"});
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST_F(Life, TopicsOfAPilotThatHasNone) {
  refuses(2, "pilot: 'pilot topic' needs a command\nhint: one of: create, grow, list, describe\n", {"topic"});
  refuses(2, "pilot: 'pilot topic create' needs TOPIC\nhint: 'pilot topic create --help' explains it\n",
          {"topic", "create", "demo"});
  refuses(2, "pilot: --partitions can't be '0'\nhint: a whole number from 1\n",
          {"topic", "create", "demo", "frames", "--partitions", "0"});
  refuses(2, "pilot: --set 'retention' is not of the form KEY=VALUE\n",
          {"topic", "create", "demo", "frames", "--set", "retention"});
  EXPECT_EQ(run({"topic", "list", "demo"}).code, 3);
  start("demo");
  refuses(3, "pilot: no cluster of 'demo' has topics\nhint: 'pilot frameworks list' says what can run\n",
          {"topic", "list", "demo"});
  refuses(3,
          "pilot: 'demo' has no cluster 'tea' with topics\nhint: 'pilot frameworks list' says what can run\n",
          {"topic", "describe", "demo", "frames", "--framework", "tea"});
}

TEST_F(Life, StartFromAPilotThatKeptNothing) {
  start("demo");
  refuses(2, "pilot: pilot 'demo' was not stopped\nhint: 'pilot stop demo' ends it, or cleans up after it\n",
          {"start", "--from", "demo"});
  ASSERT_EQ(run({"stop", "demo"}).code, 0);
  const Outcome nothing = run({"start", "--from", "demo"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_NE(nothing.err.find("lay in its nodes' scratch and ended with it"), std::string::npos)
      << nothing.err;
  EXPECT_EQ(run({"start", "again", "--from", "dmeo"}).code, 3);
}

}  // namespace
}  // namespace pilot::contract
