#include "adaptors/framework/kafka/rebalance/rebalance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "adaptors/framework/kafka/rebalance/election.hpp"
#include "adaptors/framework/kafka/rebalance/folder_mover.hpp"
#include "adaptors/framework/kafka/rebalance/mover.hpp"

namespace pilot::adaptors::kafka::rebalance {

namespace {

using reassign::Role;

struct Movers {
  Movers(const Surroundings& on, const Options& options, const Observation& start)
      : pace(on, options, start), between(on, pace, start), within(on, pace) {}

  Pace pace;
  Mover between;  // brokers
  FolderMover within;
};

class Rebalance {
 public:
  Rebalance(const Surroundings& surroundings, const Options& options)
      : on_(surroundings), options_(options) {}

  Result<Outcome> run() {
    PILOT_TRY(auto seen, first_look());
    PILOT_TRY_VOID(check(seen));
    PILOT_TRY(auto plan, make_plan(seen, true));  // refuses before anything is changed
    Movers movers(on_, options_, seen);
    auto done = carry_out(std::move(seen), std::move(plan), movers);
    const auto cleaned = clean_up(movers, !done.has_value());
    outcome_.progress = movers.pace.progress();
    if (!done.has_value()) return with_state(done.error(), cleaned, movers.pace.progress());
    if (!cleaned.has_value()) return make_error(ErrorCode::partial, cleaned.error().text());
    return outcome_;
  }

  Result<std::string> objection() {
    PILOT_TRY(const auto seen, first_look());
    if (const auto fine = check(seen); fine.has_error()) return fine.error().text();
    auto plan = make_plan(seen, false);
    if (!plan.has_value()) return plan.error().text();
    const auto lost = set_aside(seen, plan.value());
    return lost.empty() ? std::string() : without_replica(lost).text();
  }

 private:
  Deadline request() const { return Deadline(on_.clock, request_limit); }
  // A request to each broker, one after the other.
  Deadline sweep() const { return Deadline(on_.clock, std::chrono::minutes(3)); }

  // A broker that goes down is listed for a while, in which asking it takes its time, and left out then.
  Result<Observation> look(Duration patience = std::chrono::seconds(30)) const {
    constexpr int least_looks = 3;
    const Deadline limit(on_.clock, patience);
    for (int number = 1;; ++number) {
      auto seen = observe(on_.cluster, sweep());
      if (seen.has_value() || (number >= least_looks && limit.passed())) return seen;
      const auto code = seen.error().code;
      if (code != ErrorCode::unavailable && code != ErrorCode::timed_out) return seen;
      if (!on_.wait(std::chrono::milliseconds(500)))
        return make_error(ErrorCode::partial, "stopped on request");
    }
  }

  // What may be different in a moment is waited for.  A broker's metadata may be behind the controller, so
  // that a partition whose move has just ended still shows the replicas of before and after; and a broker
  // that holds replicas and is away is most often on its way back.  What stays so is how it is.
  Result<Observation> first_look() {
    const Deadline even(on_.clock, std::chrono::seconds(2));
    bool told = false;
    while (true) {
      auto seen = look(std::chrono::seconds(2));
      if (!seen.has_value()) return seen;
      const auto gone = options_.as_far_as_possible ? std::nullopt : away(seen.value());
      if ((!seen.value().uneven || even.passed()) && (!gone || whole_.passed())) return seen;
      if (gone && !std::exchange(told, true))
        on_.reporter.step(fmt::format("broker {} is not up; waiting for it, 30 s at most", *gone));
      if (!on_.wait(std::chrono::milliseconds(100)))
        return make_error(ErrorCode::partial, "stopped on request");
    }
  }

  // A broker that holds replicas, is not up and not to be drained.
  std::optional<int> away(const Observation& seen) const {
    for (const auto& partition : seen.partitions)
      for (const int id : partition.replicas)
        if (seen.up.count(id) == 0 && !contains(options_.drain, id)) return id;
    return std::nullopt;
  }

  Result<void> check(const Observation& seen) const {
    std::vector<int> up;
    for (const auto& [id, broker] : seen.up) up.push_back(id);
    const auto refuse = [&](const std::string& what) {
      return make_error(ErrorCode::usage, fmt::format("{}; up are {}", what, fmt::join(up, ", ")));
    };
    for (const int id : options_.keep) {
      if (contains(options_.drain, id))
        return refuse(fmt::format("broker {} is both to keep and to drain", id));
      if (seen.up.count(id) == 0 && seen.listed(id) == 0)
        return refuse(fmt::format("broker {} is to be kept and is not up", id));
    }
    if (std::all_of(up.begin(), up.end(), [&](int id) { return role(id, true) != Role::keep; }))
      return refuse("no broker would be kept");
    return ok();
  }

  Role role(int id, bool up) const {
    if (contains(options_.drain, id)) return Role::drain;
    if (!up) return Role::leave;
    return options_.keep.empty() || contains(options_.keep, id) ? Role::keep : Role::leave;
  }

  Result<reassign::Plan> make_plan(const Observation& seen, bool balance) const {
    std::vector<reassign::Broker> brokers;
    for (const auto& [id, broker] : seen.up)
      brokers.push_back({id, broker.rack, role(id, true), broker.room});
    for (const int id : options_.drain) {
      if (seen.up.count(id) == 0) brokers.push_back({id, "", Role::drain});
    }
    return reassign::plan(std::move(brokers), seen.partitions,
                          {.balance = balance, .as_far_as_possible = options_.as_far_as_possible});
  }

  Result<void> carry_out(Observation seen, reassign::Plan plan, Movers& movers) {
    auto& mover = movers.between;
    PILOT_TRY_VOID(set_cordons(seen));
    // A predecessor's throttle would hold for what is taken over.
    if (options_.throttling == Throttling::none) PILOT_TRY_VOID(release());
    std::vector<reassign::Move> lost;
    for (bool first = true;; first = false) {
      PILOT_TRY(const bool turned, turn_back(seen, plan));
      if (turned) {
        PILOT_TRY(seen, look());
        PILOT_TRY(plan, make_plan(seen, first));
      }
      lost = set_aside(seen, plan);
      auto adopted = take_over(seen, plan);
      mover.expect(adopted);
      mover.expect(plan.moves);
      if (!adopted.empty())
        on_.reporter.step(fmt::format("{} moves are under way already: taking them over", adopted.size()));
      PILOT_TRY_VOID(move_all(std::move(adopted), mover, true));
      PILOT_TRY_VOID(move_all(std::move(plan.moves), mover, false));
      PILOT_TRY(seen, look());
      PILOT_TRY(plan, make_plan(seen, false));
      lost = set_aside(seen, plan);
      if (!plan.moves.empty() || !seen.ongoing.empty()) continue;
      if (plan.without_place == 0 || !away(seen) || whole_.passed()) break;
      if (!on_.wait(std::chrono::milliseconds(500)))
        return make_error(ErrorCode::partial, "stopped on request");
    }
    if (!lost.empty()) return without_replica(lost);
    if (plan.without_place > 0) return without_place(plan.without_place);
    PILOT_TRY_VOID(wait_until_empty());
    PILOT_TRY(outcome_.elected, elect_first_replicas(on_, movers.pace.portions()));
    PILOT_TRY_VOID(unregister(seen));
    const auto several = with_folders(seen);
    if (options_.drain.empty() && !several.empty()) {
      PILOT_TRY_VOID(wait_until_deleted());
      PILOT_TRY_VOID(movers.within.run(several));
    }
    return tell_folders(seen);
  }

  // Kept brokers with several log directories.
  std::set<int> with_folders(const Observation& seen) const {
    std::set<int> brokers;
    for (const auto& [id, broker] : seen.up) {
      if (broker.folders > 1 && role(id, true) == Role::keep) brokers.insert(id);
    }
    return brokers;
  }

  Result<void> tell_folders(const Observation& seen) {
    for (const int id : with_folders(seen)) {
      PILOT_TRY(const auto told, on_.cluster.log_dirs(id, request()));
      for (const auto& folder : disks(told).folders) outcome_.folders[id][folder.path] = folder.bytes();
    }
    return ok();
  }

  static std::set<PartitionKey> keys_of(const std::vector<reassign::Move>& moves) {
    std::set<PartitionKey> keys;
    for (const auto& move : moves) keys.emplace(move.topic, move.index);
    return keys;
  }

  // Nobody leads it, and no broker that is up has it: it can't be moved, and the rest would wait for it.
  static bool is_lost(const Observation& seen, const PartitionKey& key, const std::vector<int>& replicas) {
    const auto leader = seen.leaders.find(key);
    return leader != seen.leaders.end() && leader->second == -1 &&
           std::none_of(replicas.begin(), replicas.end(), [&](int id) { return seen.up.count(id) != 0; });
  }

  // Takes what is lost out of the plan.
  static std::vector<reassign::Move> set_aside(const Observation& seen, reassign::Plan& plan) {
    const auto end =
        std::stable_partition(plan.moves.begin(), plan.moves.end(), [&](const reassign::Move& move) {
          return !is_lost(seen, {move.topic, move.index}, move.from);
        });
    std::vector<reassign::Move> lost(std::make_move_iterator(end), std::make_move_iterator(plan.moves.end()));
    plan.moves.erase(end, plan.moves.end());
    return lost;
  }

  static Error without_replica(const std::vector<reassign::Move>& lost) {
    const auto& first = lost.front();
    return make_error(
        ErrorCode::partial,
        fmt::format(
            "{} partition{} can't be moved, for no broker with a replica is up: the first is partition {} of "
            "topic '{}', on {}",
            lost.size(), lost.size() == 1 ? "" : "s", first.index, first.topic, fmt::join(first.from, ", ")),
        "what else there was to move has been moved; when the broker is up again repeat it, or delete the "
        "topic");
  }

  Error without_place(std::size_t replicas) const {
    return make_error(
        ErrorCode::partial,
        fmt::format("{} replica{} of broker {} {} no place on the brokers that are up; all else "
                    "has been moved",
                    replicas, replicas == 1 ? "" : "s", fmt::join(options_.drain, ", "),
                    replicas == 1 ? "has" : "have"),
        "add brokers and repeat it");
  }

  // Ends those reassignments under way that the plan changes or that can't end.  Kafka would add the new wish
  // to the old one, and whoever cancelled that would leave one replica too many.
  Result<bool> turn_back(const Observation& seen, const reassign::Plan& plan) {
    const auto planned = keys_of(plan.moves);
    std::vector<protocol::Reassignment> wishes;
    for (const auto& [key, one] : seen.ongoing)
      if (planned.count(key) != 0 || is_lost(seen, key, before(one)))
        wishes.push_back({key.first, key.second, std::nullopt});
    if (wishes.empty()) return false;
    on_.reporter.step(
        fmt::format("{} moves under way lead elsewhere by now: taking them back", wishes.size()));
    PILOT_TRY(const auto results, on_.cluster.alter_reassignments(wishes, request()));
    const Deadline limit(on_.clock, request_limit);
    while (true) {
      PILOT_TRY(const auto ongoing, on_.cluster.reassignments(request()));
      const bool gone = std::none_of(wishes.begin(), wishes.end(), [&](const auto& wish) {
        return std::any_of(ongoing.begin(), ongoing.end(), [&](const auto& one) {
          return one.topic == wish.topic && one.partition == wish.partition;
        });
      });
      if (gone) return true;
      if (limit.passed())
        return make_error(ErrorCode::timed_out, "moves that were under way can't be taken back");
      if (!on_.wait(std::chrono::milliseconds(100)))
        return make_error(ErrorCode::partial, "stopped on request");
    }
  }

  // The replicas before it began.
  static std::vector<int> before(const protocol::Ongoing& one) {
    std::vector<int> replicas;
    std::copy_if(one.replicas.begin(), one.replicas.end(), std::back_inserter(replicas),
                 [&](int id) { return !contains(one.adding, id); });
    return replicas;
  }

  // Reassignments under way that the plan leaves as they are.
  static std::vector<reassign::Move> take_over(const Observation& seen, const reassign::Plan& plan) {
    const auto planned = keys_of(plan.moves);
    std::vector<reassign::Move> moves;
    for (const auto& partition : seen.partitions) {
      const auto at = seen.ongoing.find({partition.topic, partition.index});
      if (at == seen.ongoing.end() || planned.count(at->first) != 0) continue;
      moves.push_back(
          {partition.topic, partition.index, before(at->second), partition.replicas, partition.size});
    }
    return moves;
  }

  Result<void> move_all(std::vector<reassign::Move> moves, Mover& mover, bool submitted) {
    if (moves.empty()) return ok();
    const auto count = moves.size();
    Bytes moved;
    for (const auto& move : moves) moved.count += move.moved().count;
    const auto batches = reassign::batches(std::move(moves), options_.batch_bytes, options_.batch_moves);
    if (!submitted)
      on_.reporter.step(fmt::format("{} partitions change, {} move, in {} batch{}", count,
                                    format_bytes(moved), batches.size(), batches.size() == 1 ? "" : "es"));
    for (const auto& batch : batches) PILOT_TRY_VOID(mover.run(batch, submitted));
    return ok();
  }

  Result<void> set_cordons(const Observation& seen) {
    for (const auto& [id, broker] : seen.up) {
      const auto wanted = role(id, true);
      if (wanted == Role::leave) continue;
      PILOT_TRY(const bool known, cordon(on_.cluster, id, wanted == Role::drain, request()));
      if (known && wanted == Role::drain)
        on_.reporter.step(fmt::format("broker {} gets no new partitions", id));
    }
    return ok();
  }

  // What brokers still hold and are about to delete would count when their directories are evened out.
  Result<void> wait_until_deleted() {
    const Deadline limit(on_.clock, std::chrono::seconds(5));
    while (!limit.passed()) {
      PILOT_TRY(const auto seen, look());
      const bool deleted = std::none_of(seen.up.begin(), seen.up.end(), [&](const auto& entry) {
        return entry.second.folders > 1 && entry.second.replicas > seen.listed(entry.first);
      });
      if (deleted) return ok();
      if (!on_.wait(std::chrono::milliseconds(200)))
        return make_error(ErrorCode::partial, "stopped on request");
    }
    return ok();
  }

  // Brokers delete a moment after the metadata changed.
  Result<void> wait_until_empty() {
    const Deadline limit(on_.clock, options_.patience);
    while (true) {
      PILOT_TRY(const auto seen, look());
      std::string holds;
      for (const int id : options_.drain) {
        const auto at = seen.up.find(id);
        if (at != seen.up.end() && at->second.replicas > 0)
          holds = fmt::format("broker {} still holds {} replicas", id, at->second.replicas);
      }
      if (holds.empty()) return ok();
      if (limit.passed()) return make_error(ErrorCode::partial, holds);
      if (!on_.wait(std::chrono::milliseconds(200)))
        return make_error(ErrorCode::partial, "stopped on request");
    }
  }

  Result<void> unregister(const Observation& seen) {
    if (!options_.unregister) return ok();
    for (const int id : options_.drain) {
      if (seen.up.count(id) != 0) continue;
      PILOT_TRY_VOID(on_.cluster.unregister(id, request()));
      outcome_.unregistered.push_back(id);
      on_.reporter.step(fmt::format("broker {} is not up and is no longer registered", id));
    }
    return ok();
  }

  Result<void> release() {
    PILOT_TRY(const int count,
              release_all(on_.cluster, sweep(), [&] { on_.wait(std::chrono::milliseconds(100)); }));
    outcome_.released += count;
    return ok();
  }

  // A broker tells and changes only its own settings, and one that hangs may act on a request later.
  Result<void> check_throttled(const Pace& pace) {
    PILOT_TRY(const auto state, on_.cluster.metadata(request()));
    auto missing = pace.throttled();
    for (const auto& broker : state.brokers) missing.erase(broker.id);
    if (missing.empty()) return ok();
    return make_error(ErrorCode::partial,
                      fmt::format("broker {} is no longer up and may keep its throttle until "
                                  "the next run that finds it up",
                                  fmt::join(missing, ", ")));
  }

  Result<void> clean_up(Movers& movers, bool failed) {
    std::vector<std::string> wrong;
    const auto note = [&](const auto& result, const std::string& what) {
      if (!result.has_value()) wrong.push_back(result.error().while_doing(what).text());
    };
    if (failed) {
      note(movers.between.cancel(), "cancelling moves");
      note(movers.within.cancel(), "cancelling moves between log directories");
      for (const int id : options_.drain) {
        const auto state = on_.cluster.metadata(request());
        if (!state.has_value()) break;
        const auto& up = state.value().brokers;
        if (std::none_of(up.begin(), up.end(), [&](const auto& broker) { return broker.id == id; })) continue;
        note(cordon(on_.cluster, id, false, request()), "taking off a cordon");
      }
    }
    // Those that don't answer: release() and check_throttled() tell.
    for (const int id : movers.pace.throttled())
      outcome_.released += release_broker(on_.cluster, id, request()).has_value() ? 1 : 0;
    note(release(), "taking off throttles");
    note(check_throttled(movers.pace), "taking off throttles");
    if (wrong.empty()) return ok();
    return make_error(ErrorCode::partial, fmt::format("{}", fmt::join(wrong, "; ")), "run it again");
  }

  static Error with_state(Error error, const Result<void>& cleaned, const Progress& progress) {
    const bool untouched = progress.moves == 0;
    if (!untouched || error.code == ErrorCode::failed) error.code = ErrorCode::partial;
    error.message += fmt::format("; {} of {} moves are done and stay", progress.moves_done, progress.moves);
    error.message += cleaned.has_value()
                         ? ", what was under way is cancelled, no throttle and no cordon is left"
                         : ", and not all is taken back: " + cleaned.error().text();
    return error;
  }

  const Surroundings& on_;
  const Options& options_;
  const Deadline whole_{on_.clock, std::chrono::seconds(30)};  // who is away most often is back by then
  Outcome outcome_;
};

}  // namespace

Result<Outcome> rebalance(const Surroundings& surroundings, const Options& options) {
  return Rebalance(surroundings, options).run();
}

Result<std::string> objection(const Surroundings& surroundings, const Options& options) {
  return Rebalance(surroundings, options).objection();
}

}  // namespace pilot::adaptors::kafka::rebalance
