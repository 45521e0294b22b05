// Which nodes the head chooses to give back, and what it does when they are free.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pilot/agent/head_harness.hpp"

namespace pilot::agent {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A base of two nodes (a controller and the head on the first) and extensions; workers on all of them.
class HeadReleaseTest : public testing::Test, protected HeadHarness {
 protected:
  void enroll_in(const std::string& id, const std::string& allocation, int rank) {
    auto info = node(id);
    info.allocation = allocation;
    info.rank = rank;
    receive(id, model::RegisterNode{info, {}});
  }

  // Asks for the nodes, lets them come, and adds their workers to the cluster.
  void extend(int count, std::optional<Duration> walltime = {}) {
    receive("client", model::ExtendPilot{count, walltime, true});
    const int first = effects<AdmitNodes>().back().first_node;
    take(core_->admitted(ok()));
    const std::string allocation = sent<model::ExtensionPlanned>("client").back().allocation;
    receive("client", model::ExtensionSubmitted{allocation, "job-" + allocation});
    for (int i = 0; i < count; ++i) {
      const std::string id = "node-" + std::to_string(first + i);
      cluster_.nodes.push_back(id);
      cluster_.services.push_back(service("fake/worker-" + std::to_string(first + i), id, 1, 101));
      enroll_in(id, allocation, i);
    }
    cluster_.resize.emplace();
    take(core_->planned("fake", cluster_));
    for (int i = 0; i < count; ++i)
      report("node-" + std::to_string(first + i), "fake/worker-" + std::to_string(first + i),
             ServicePhase::ready);
    settle();
  }

  void settle() {
    take(core_->probed("fake", ok()));
    take(core_->client_files_written("fake", ok()));
    effects<PlanCluster>();
  }

  // What the plan for draining nodes says, and all that follows until each has been asked to go.
  void drain(const std::vector<std::string>& nodes) {
    cluster_.resize.emplace().draining = nodes;
    take(core_->planned("fake", cluster_));
    settle();
    for (const auto& id : nodes) report(id, "fake/worker-" + id.substr(5), ServicePhase::stopped);
    for (const auto& id : nodes) EXPECT_THAT(sent<model::ReleaseNode>(id), SizeIs(1)) << id;
  }

  void leave(const std::string& id) { receive(id, model::NodeReleased{id, {}}); }

  // Refuses these allocations, with a reason.
  void check(const std::map<std::string, Error>& refused = {}) { take(core_->release_checked(refused)); }

  std::vector<std::string> chosen() {
    const auto planned = sent<model::ShrinkPlanned>("client");
    return planned.empty() ? std::vector<std::string>{} : planned.back().nodes;
  }
  Error refusal() {
    const auto refused = sent<model::Refused>("client");
    return refused.empty() ? make_error(ErrorCode::internal, "nothing was refused") : refused.back().error;
  }
  static Error unwilling() { return make_error(ErrorCode::usage, "it resizes a job only once"); }

  model::ClusterPlan cluster_ = plan();
};

TEST_F(HeadReleaseTest, a_node_of_the_base_goes_when_the_batch_system_can_do_it) {
  boot();
  receive("client", model::ShrinkPilot{{}, 1});
  EXPECT_EQ(refusal().message, "1 node can't be given back, 0 can") << "the base goes only when it is named";
  receive("client", model::ShrinkPilot{{"node-2"}, 0});
  const auto questions = effects<CheckRelease>();
  ASSERT_THAT(questions, SizeIs(1));
  ASSERT_THAT(questions[0].parts, SizeIs(1));
  EXPECT_EQ(questions[0].parts[0].allocation, "a0");
  EXPECT_THAT(questions[0].parts[0].ranks, ElementsAre(1));
  EXPECT_FALSE(questions[0].parts[0].again);
  EXPECT_FALSE(core_->state().nodes.at("node-2").draining) << "nothing begins before the answer";
  check();
  EXPECT_THAT(chosen(), ElementsAre("node-2"));
  drain({"node-2"});
  EXPECT_THAT(effects<ReturnNodes>(), IsEmpty()) << "its agent is still there";
  leave("node-2");
  const auto returns = effects<ReturnNodes>();
  ASSERT_THAT(returns, SizeIs(1));
  EXPECT_THAT(returns[0].part.ranks, ElementsAre(1));
  EXPECT_THAT(effects<GiveBack>(), IsEmpty()) << "the job goes on";
  take(core_->nodes_returned("a0", {1}, ok()));
  EXPECT_TRUE(core_->state().nodes.at("node-2").returned);
  EXPECT_EQ(phase(), PilotPhase::ready);
  pass(30s, {"node-1"});
  EXPECT_THAT(effects<LaunchAgent>(), IsEmpty());
  EXPECT_THAT(effects<ReturnNodes>(), IsEmpty());
}

TEST_F(HeadReleaseTest, the_extension_with_the_least_to_move_goes_first) {
  boot();
  extend(1);
  extend(1);
  take(core_->checked(
      "fake", DataReport{"", {{"fake/worker-3", Bytes{1 << 27}}, {"fake/worker-4", Bytes{1 << 30}}}}));
  receive("client", model::ShrinkPilot{{}, 1, "none"});
  EXPECT_THAT(chosen(), ElementsAre("node-3")) << "the later one holds more";
  EXPECT_EQ(effects<PlanCluster>().back().throttle, "none");
}

TEST_F(HeadReleaseTest, of_about_as_much_to_move_the_one_that_ends_first_goes) {
  boot();
  extend(1, 1h);
  extend(1, 2h);
  take(core_->checked("fake",
                      DataReport{"", {{"fake/worker-3", Bytes{50 << 20}}, {"fake/worker-4", Bytes{1}}}}));
  receive("client", model::ShrinkPilot{{}, 1});
  EXPECT_THAT(chosen(), ElementsAre("node-3"));
}

TEST_F(HeadReleaseTest, an_extension_begins_to_leave_so_early_that_its_data_can_move) {
  boot();
  extend(1, 20min);
  const auto departure = [&] {
    receive("client", model::GetStatus{});
    return sent<model::Status>("client").back().departures->at("a1");
  };
  EXPECT_EQ(departure().lead, 2min) << "a tenth of its time";
  take(core_->checked(
      "fake",
      DataReport{"", {{"fake/worker-3", Bytes{std::uint64_t{2} << 30}}, {"fake/worker-1", Bytes{1}}}}));
  EXPECT_EQ(departure().held, Bytes{std::uint64_t{2} << 30});
  EXPECT_EQ(departure().lead, 384s + 60s) << "2 GiB at 8 MiB/s, half as long again, and a minute";
  core_->measured("fake", Bytes{64 << 20});
  core_->measured("fake", {});
  EXPECT_EQ(departure().lead, 48s + 60s + 12s) << "measured to be quicker: a tenth of its time is longer";
  core_->measured("fake", Bytes{1 << 20});
  EXPECT_EQ(departure().lead, 10min) << "half of its time is the most";
  core_->measured("fake", Bytes{8 << 20});
  const std::vector<std::string> all{"node-1", "node-2", "node-3"};
  pass(20min - 446s, all);
  EXPECT_FALSE(core_->state().nodes.at("node-3").draining);
  pass(4s, all);
  EXPECT_TRUE(core_->state().nodes.at("node-3").draining);
}

TEST_F(HeadReleaseTest, the_nodes_of_head_and_controllers_stay) {
  boot();
  receive("client", model::ShrinkPilot{{"node-1"}, 0});
  EXPECT_EQ(refusal().text(),
            "fake/controller runs on node-1 and can't leave it; it stays until the pilot stops");
  receive("client", model::ShrinkPilot{{"node-9"}, 0});
  EXPECT_EQ(refusal().code, ErrorCode::not_found);
  receive("client", model::ShrinkPilot{{}, 2});
  EXPECT_THAT(refusal().message, HasSubstr("2 nodes can't be given back, 0 can"));
  auto info = node("node-2");
  info.address = "127.0.0.1";  // where the head listens
  receive("node-2", model::RegisterNode{info, {change("fake/worker-2", ServicePhase::ready)}});
  receive("client", model::ShrinkPilot{{"node-2"}, 0});
  EXPECT_THAT(refusal().message, HasSubstr("the head agent runs on node-2"));
  EXPECT_THAT(effects<CheckRelease>(), IsEmpty());
  EXPECT_THAT(effects<PlanCluster>(), IsEmpty());
}

// More replicas than brokers stay, disks that are too small: known before anything is cordoned.
TEST_F(HeadReleaseTest, a_node_whose_data_have_no_place_elsewhere_is_refused_before_anything_begins) {
  boot();
  extend(1);
  objection_.reset();
  receive("client", model::ShrinkPilot{{"node-3"}, 0});
  auto checks = effects<CheckMove>();
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_THAT(checks[0].plan.draining, ElementsAre("node-3"));
  EXPECT_TRUE(checks[0].plan.current.has_value());
  EXPECT_THAT(chosen(), IsEmpty());
  take(core_->move_checked("fake", std::string("3 replicas on 2 brokers")));
  EXPECT_EQ(refusal().message, "node-3 can't be given back: fake: 3 replicas on 2 brokers");
  receive("client", model::ShrinkPilot{{"node-3"}, 0});
  take(core_->move_checked("fake", make_error(ErrorCode::unavailable, "no broker answers")));
  EXPECT_EQ(refusal().text(), "asking fake whether node-3 can be given back: no broker answers");
  EXPECT_FALSE(core_->state().nodes.at("node-3").draining);
  EXPECT_THAT(effects<PlanCluster>(), IsEmpty());
  receive("client", model::ShrinkPilot{{"node-3"}, 0});
  take(core_->move_checked("fake", std::string()));
  EXPECT_THAT(chosen(), ElementsAre("node-3"));
  EXPECT_TRUE(core_->state().nodes.at("node-3").draining);
}

// An extension that goes as a whole simply ends.
TEST_F(HeadReleaseTest, whole_extensions_are_chosen_where_they_fit) {
  boot();
  extend(2);
  extend(1);
  receive("client", model::ShrinkPilot{{}, 2});
  EXPECT_THAT(effects<CheckRelease>(), IsEmpty());
  EXPECT_THAT(chosen(), ElementsAre("node-4", "node-3")) << "not a1 in part and a2";
}

TEST_F(HeadReleaseTest, what_ends_first_goes_first) {
  boot();
  extend(1, 1h);
  extend(1, 2h);
  receive("client", model::ShrinkPilot{{}, 1});
  EXPECT_THAT(chosen(), ElementsAre("node-3"));
}

TEST_F(HeadReleaseTest, part_of_an_extension_never_with_its_first_node) {
  boot();
  extend(3);
  receive("client", model::ShrinkPilot{{}, 1});
  ASSERT_THAT(effects<CheckRelease>(), SizeIs(1));
  check();
  EXPECT_THAT(chosen(), ElementsAre("node-5"));
  receive("client", model::ShrinkPilot{{}, 2});
  EXPECT_THAT(chosen(), ElementsAre("node-4", "node-3")) << "now the rest of it goes as a whole";
}

TEST_F(HeadReleaseTest, a_job_that_cannot_be_made_smaller_is_avoided) {
  boot();
  extend(2);
  extend(2);
  receive("client", model::ShrinkPilot{{}, 1});
  EXPECT_EQ(effects<CheckRelease>().back().parts[0].allocation, "a2");
  check({{"a2", unwilling()}});
  const auto second = effects<CheckRelease>();
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].parts[0].allocation, "a1");
  check({{"a1", unwilling()}});
  EXPECT_THAT(refusal().message,
              HasSubstr("1 node can't be given back, 0 can; a1: it resizes a job only once; "
                        "a2: it resizes a job only once"));
  receive("client", model::ShrinkPilot{{"node-4"}, 0});
  check({{"a1", unwilling()}});
  EXPECT_EQ(refusal().message, "it resizes a job only once") << "it was named";
  EXPECT_FALSE(core_->state().nodes.at("node-4").draining);
  receive("client", model::ShrinkPilot{{}, 2});
  EXPECT_THAT(chosen(), ElementsAre("node-6", "node-5")) << "the whole extension needs no resizing";
}

TEST_F(HeadReleaseTest, one_choice_at_a_time) {
  boot();
  extend(2);
  receive("client", model::ShrinkPilot{{}, 1});
  receive("other", model::ShrinkPilot{{}, 1});
  EXPECT_EQ(sent<model::Refused>("other").back().error.code, ErrorCode::unavailable);
}

// Some systems make a job smaller only once.
TEST_F(HeadReleaseTest, all_that_leave_a_job_are_returned_together) {
  boot();
  extend(3);
  receive("client", model::ShrinkPilot{{"node-4", "node-5"}, 0});
  check();
  drain({"node-4", "node-5"});
  leave("node-5");
  EXPECT_THAT(effects<ReturnNodes>(), IsEmpty()) << "node-4 is still on its way";
  leave("node-4");
  const auto returns = effects<ReturnNodes>();
  ASSERT_THAT(returns, SizeIs(1));
  EXPECT_THAT(returns[0].part.ranks, ElementsAre(1, 2));
  take(core_->nodes_returned("a1", {1, 2}, ok()));
  receive("client", model::ShrinkPilot{{"node-2"}, 0});
  EXPECT_FALSE(effects<CheckRelease>().back().parts[0].again) << "that is another job";
}

TEST_F(HeadReleaseTest, tells_the_batch_system_that_it_is_the_second_time) {
  boot();
  extend(3);
  receive("client", model::ShrinkPilot{{"node-5"}, 0});
  check();
  drain({"node-5"});
  leave("node-5");
  effects<CheckRelease>();
  receive("client", model::ShrinkPilot{{"node-4"}, 0});
  ASSERT_THAT(effects<CheckRelease>(), SizeIs(1)) << "while the first is on its way";
  check({{"a1", unwilling()}});
  take(core_->nodes_returned("a1", {2}, ok()));
  receive("client", model::ShrinkPilot{{"node-4"}, 0});
  EXPECT_TRUE(effects<CheckRelease>().back().parts[0].again);
}

TEST_F(HeadReleaseTest, a_batch_system_that_is_down_is_asked_again) {
  boot();
  receive("client", model::ShrinkPilot{{"node-2"}, 0});
  check();
  drain({"node-2"});
  leave("node-2");
  ASSERT_THAT(effects<ReturnNodes>(), SizeIs(1));
  take(core_->nodes_returned("a0", {1}, make_error(ErrorCode::unavailable, "slurmctld does not answer")));
  EXPECT_TRUE(noted("a0 can't be given back yet: slurmctld does not answer"));
  pass(19s, {"node-1"});
  EXPECT_THAT(effects<ReturnNodes>(), IsEmpty());
  pass(2s, {"node-1"});
  ASSERT_THAT(effects<ReturnNodes>(), SizeIs(1));
  take(core_->nodes_returned("a0", {1}, make_error(ErrorCode::usage, "never")));
  EXPECT_EQ(core_->state().nodes.at("node-2").return_failure, "never");
  pass(60s, {"node-1"});
  EXPECT_THAT(effects<ReturnNodes>(), IsEmpty());
}

// The log says that the node is released, not whether it was returned.
TEST_F(HeadReleaseTest, a_restarted_head_returns_what_the_one_before_did_not) {
  boot();
  receive("client", model::ShrinkPilot{{"node-2"}, 0});
  check();
  drain({"node-2"});
  leave("node-2");
  ASSERT_THAT(effects<ReturnNodes>(), SizeIs(1));
  restart();
  enroll("node-1",
         {change("fake/controller", ServicePhase::ready), change("fake/worker-1", ServicePhase::ready)});
  EXPECT_THAT(effects<ReturnNodes>(), SizeIs(1));
}

}  // namespace
}  // namespace pilot::agent
