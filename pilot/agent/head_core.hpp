// The head agent's decisions.  Pure: it is told what happened, and says what is to be logged, sent and
// done.  What it decides follows from the pilot's state (a fold over the log), so a head that was killed
// in any moment goes on from its log: after each input it looks at what is and takes the next steps to
// what is wanted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/agent/head_output.hpp"
#include "pilot/agent/head_timing.hpp"
#include "pilot/agent/shrink_choice.hpp"
#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"
#include "pilot/model/pilot_state.hpp"
#include "pilot/plugin/batch_adaptor.hpp"

namespace pilot::agent {

class HeadCore {
 public:
  HeadCore(model::PilotState state, const Clock& clock, HeadTiming timing = {});

  // First of all.
  HeadOutput start(model::HeadStarted started);
  HeadOutput receive(const std::string& peer, const model::Message& message);
  // What came together is handled together: one look at the state, and one write of the log, for all.
  struct Incoming {
    std::string peer;
    model::Message message;
  };
  HeadOutput receive(const std::vector<Incoming>& messages);
  // At least twice a second: silence and deadlines.
  HeadOutput tick();

  HeadOutput planned(const std::string& framework, const Result<model::ClusterPlan>& plan);
  HeadOutput probed(const std::string& framework, const Result<void>& result);
  HeadOutput client_files_written(const std::string& framework, const Result<void>& result);
  HeadOutput launched(const std::string& node, const Result<void>& result);
  HeadOutput admitted(const Result<void>& result);
  // What a command says while it runs.
  HeadOutput progressed(const std::string& purpose, std::string_view sentence);
  // How fast the data of a framework move just now.
  void measured(const std::string& framework, Bytes per_second);
  HeadOutput moved(const std::string& framework, const Result<void>& result);
  HeadOutput retired(const std::string& framework, const std::string& node, const Result<void>& result);
  // The allocations that can't be made smaller, with the reason.
  HeadOutput release_checked(const std::map<std::string, Error>& refused);
  // What stands against moving data off the nodes that shall be given back, or an empty text.
  HeadOutput move_checked(const std::string& framework, const Result<std::string>& problem);
  HeadOutput nodes_returned(const std::string& allocation, const std::vector<int>& ranks,
                            const Result<void>& result);
  HeadOutput grown(const std::string& allocation, const Result<plugin::AllocationStatus>& result);
  // A problem of its data, or none, and what each service holds of them.
  HeadOutput checked(const std::string& framework, const Result<DataReport>& report);
  // What the batch system says of an allocation's job.
  HeadOutput job_seen(const std::string& allocation, const Result<plugin::AllocationStatus>& result);
  // The job that was submitted for an allocation, or an empty text.
  HeadOutput job_found(const std::string& allocation, const Result<std::string>& job);
  HeadOutput given_back(const std::string& allocation, const Result<void>& result);
  // An agent on the head's own machine has ended: its silence need not be waited for.
  HeadOutput agent_ended(const std::string& node, const model::ProcessIdentity& agent);

  const model::PilotState& state() const { return state_; }

 private:
  // A node agent that is connected now.
  struct Session {
    std::string peer;
    SteadyTime heard{};
    std::set<std::string> asked_to_run, asked_to_stop;
    std::optional<SteadyTime> asked_to_release;
  };
  struct Relaunch {
    SteadyTime next{};
    Duration backoff{};
    bool under_way = false;
    bool over = false;  // the batch system says that the job has ended
    std::string told;   // why it failed, of a node that never came
  };
  using ClusterEntry = std::pair<const std::string, model::ClusterState>;

  // head_core.cpp: inputs
  void handle(const std::string& peer, const model::Message& message);
  void register_node(const std::string& peer, const model::RegisterNode& message);
  bool is_another_version(const std::string& peer, const model::NodeInfo& node);
  void compare(const model::RegisterNode& message, Session& session);
  void store_report(const std::string& peer, const model::ServiceReport& report);
  void answer_heartbeat(const std::string& peer, const model::Heartbeat& heartbeat);
  void release_node(const std::string& peer, const model::Message& message,
                    const model::NodeReleased& released);
  void do_without(const std::string& node, const std::string& reason);
  void stop_pilot(const std::string& reason);
  Duration longest_silence() const;
  void notice_silence();
  void lose(const std::string& node, std::string reason);
  void relaunch_lost_nodes();
  void launch(const std::string& node, const std::string& allocation, int rank, Relaunch& relaunch);
  void notice_end_of_base();

  // head_flow.cpp: what follows from the state
  void advance();
  void await_nodes();
  void boot();
  void plan_next();
  void bring_up(const ClusterEntry& entry);
  void write_client_files(const std::string& framework);
  void start_wanted();
  void watch_health();
  void check_data();
  bool is_wanted(const model::ClusterState& cluster, const model::ServiceSpec& service, int stage) const;
  std::vector<std::string> wanted_on(const std::string& node) const;
  bool base_is_up() const;
  std::vector<std::string> missing_nodes() const;
  std::vector<model::NodeInfo> nodes_to_plan_for() const;
  std::string problem() const;
  void fail(std::string cause);
  void failed_in(const std::string& framework, const Error& error);
  bool ready_deadline_passed() const;

  // head_resize.cpp: nodes that come and go while the pilot runs
  void extend(const std::string& peer, const std::string& id, const model::ExtendPilot& wish);
  Result<void> extension_submitted(const model::ExtensionSubmitted& message);
  void extension_refused(const model::ExtensionRefused& message);
  void follow_nodes();
  void change(const ClusterEntry& entry);
  bool retire(const ClusterEntry& entry);
  void release_drained_nodes();
  void give_back_in_time();
  void do_without_lost_nodes();
  bool is_bound(const std::string& node) const;
  void follow_change(const ClusterEntry& entry);
  void follow_move(const ClusterEntry& entry);
  bool lost_beside(const std::vector<std::string>& planned) const;
  std::optional<std::string> overtaken_by(const model::ClusterState& cluster) const;
  void cordon(const std::string& node, const std::string& reason,
              const std::optional<std::string>& throttle = {});
  void change_failed(const std::string& framework, const std::string& cause);
  std::vector<std::string> usable_nodes() const;
  std::vector<std::string> draining_nodes() const;
  bool is_leaving(const std::string& node) const;

  // head_queue.cpp: extensions that wait for their nodes
  void follow_queue();
  void wait_seen(const std::string& allocation, const Result<plugin::AllocationStatus>& result);

  // head_departure.cpp: when an extension has to be given back, by what is on it
  Bytes held_by(const std::string& node) const;
  model::Departure departure_of(const std::string& id, const model::AllocationState& allocation) const;
  std::map<std::string, model::Departure> departures() const;

  // head_time.cpp: jobs that are suspended, a head that stood still, clocks that are off
  void notice_standstill();
  void look_at_jobs();
  void notice_end_of_extension(const std::string& allocation, const std::string& reason);
  bool is_suspended(const std::string& allocation) const;
  std::optional<Duration> time_left(const std::string& allocation) const;
  bool tells_time() const;
  void note_age(const model::RegisterNode& message);
  Duration clock_ahead(const model::RegisterNode& message) const;

  // head_grow.cpp: nodes that become part of the base's job
  void grow_in_place();
  void ask_for_growth(const std::string& id, const model::AllocationState& allocation);
  void start_agents_of(const std::string& id, const model::AllocationState& allocation);
  bool has_joined(const model::AllocationState& allocation) const;
  bool is_being_resized(const std::string& job_id) const;

  // head_release.cpp: nodes that are given back, and how the batch system gets them
  void shrink(const std::string& peer, const std::string& id, const model::ShrinkPilot& wish);
  void choose_and_check();
  void check_moves();
  void refuse_to_shrink(const Error& error);
  void begin_shrinking();
  std::vector<PartOfAllocation> parts_of(const std::vector<std::string>& nodes) const;
  void return_released_nodes();
  void returned(const std::string& allocation, const std::vector<std::string>& nodes);
  std::vector<std::string> nodes_to_return(const std::string& allocation) const;
  void not_returned(const std::string& allocation, const std::vector<std::string>& nodes, const Error& error);

  // head_stop.cpp: stopping, also after a failed start
  bool winding_down() const;
  void wind_down();
  bool stop_services(const ClusterEntry& entry);
  void ask_to_stop(const std::vector<const model::ServiceSpec*>& services);
  bool release_nodes();
  bool is_active(const model::ServiceSpec& service) const;
  bool is_given_up(const std::string& node);

  void emit(model::EventBody body);
  void note(std::string text);
  void send(const std::string& peer, model::MessageBody body, std::string id = {});
  HeadOutput take();

  model::PilotState state_;
  const Clock* clock_;
  HeadTiming timing_;
  HeadOutput out_;
  SteadyTime started_at_;
  std::map<std::string, Session> sessions_;        // by node
  std::map<std::string, std::uint64_t> stored_;    // by node: number of its last report in the log
  std::map<std::string, SteadyTime> joined_at_;    // by node
  std::map<std::string, SteadyTime> lost_since_;   // by node
  std::map<std::string, Duration> lost_patience_;  // by node: doubled with each attempt to do without it
  std::map<std::string, SteadyTime> began_;        // by allocation
  SteadyTime ticked_at_{};
  std::optional<SteadyTime> stood_still_at_;
  std::pair<model::PilotPhase, SteadyTime> phase_entered_{};
  struct JobLook {
    std::optional<SteadyTime> last;
    bool under_way = false;
  };
  std::map<std::string, JobLook> jobs_;  // by allocation
  struct Check {
    SteadyTime next{};
    bool under_way = false;
    std::string found;  // the last time
  };
  std::map<std::string, Check> checks_;                 // by framework
  std::map<std::string, Relaunch> relaunches_;          // by node
  int launching_ = 0;                                   // of them
  std::set<std::string> planning_, probing_, writing_;  // frameworks with an effect under way
  std::set<std::string> moving_, giving_back_;          // the same; allocations
  std::map<std::string, std::string> stopped_for_;      // of moving_: what was asked to end, and why
  std::set<std::string> done_without_;                  // nodes that were lost for long
  std::map<std::string, SteadyTime> warned_;  // by allocation whose end is near: when it is given back again
  struct Extending {
    std::string peer, id;
    model::ExtensionRequested wish;
  };
  struct Shrinking {
    std::string peer, id;
    model::ShrinkPilot wish;
    std::vector<std::string> nodes;          // the choice so far
    std::map<std::string, Error> unwilling;  // allocations that can't be made smaller
    std::set<std::string> asked;             // frameworks: whether their data can move
  };
  std::optional<Shrinking> shrinking_;                            // the batch system is being asked
  std::map<std::string, SteadyTime> return_after_;                // by allocation: try again
  std::optional<std::string> growing_;                            // allocation: the batch system is at it
  std::map<std::string, SteadyTime> grow_after_, growing_since_;  // by allocation
  std::optional<Extending> extending_;                            // its nodes are being admitted
  std::map<std::pair<std::string, std::string>, bool> retired_;   // by framework and node: it is done
  struct Layout {
    std::vector<std::string> nodes, draining;
    bool operator==(const Layout&) const = default;
  };
  std::string throttle_wished(const Layout& wanted, const model::ClusterPlan& plan) const;
  bool goes_anyway(const std::string& node) const;
  std::map<std::string, Layout> refused_;  // by framework: what no plan fits
  struct Look {
    SteadyTime next{}, tell{};
    bool under_way = false;
    std::optional<SteadyTime> none_since;  // the batch system knows no job of it
  };
  std::map<std::string, Look> looks_;   // at extensions that wait, by allocation
  std::map<std::string, Bytes> held_;   // by service, as of the last check
  std::map<std::string, Bytes> speed_;  // by framework: of moving data, per second, when last measured
  std::optional<SteadyTime> winding_down_since_, progress_noted_;
  std::map<std::pair<std::string, int>, SteadyTime> stop_deadlines_;  // by framework and stage
  std::set<std::string> given_up_;  // services and nodes that are not waited for
  std::set<std::string> cleared_;   // nodes whose agents have left, and nothing behind
  bool finished_ = false;
};

// Nothing is left to do for a head agent: the pilot has ended and no node waits to be released.
bool is_done(const model::PilotState& state);

}  // namespace pilot::agent
