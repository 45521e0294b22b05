#include "adaptors/framework/kafka/rebalance/pace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace pilot::adaptors::kafka::rebalance {

namespace {

constexpr Duration adapt_every = std::chrono::seconds(2);
constexpr int seldom_enough = 10;  // times as long as a look at the whole cluster takes
constexpr Duration very_long = std::chrono::milliseconds(500);

// Each change of a setting is work for every broker.
bool near(const BrokerRates& one, const BrokerRates& other) {
  const auto ratio = static_cast<double>(one.send) / static_cast<double>(std::max<Rate>(1, other.send));
  return one.copy == other.copy && ratio > 0.8 && ratio < 1.25;
}

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// The median of how long brokers take to answer; what does not answer counts as very long.
Duration round_trip(const Surroundings& on, const std::set<int>& brokers) {
  std::vector<Duration> all;
  for (const int id : brokers) {
    if (all.size() == 15) break;  // a sample will do
    const auto took = on.cluster.round_trip(id, Deadline(on.clock, very_long));
    all.push_back(took.has_value() ? took.value() : very_long);
  }
  if (all.empty()) return Duration{0};
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

}  // namespace

std::size_t Portions::size(std::size_t brokers, std::size_t all) const {
  constexpr std::size_t most = 500;
  const std::size_t least = gentle ? 1 : 2;
  return std::clamp(std::max(brokers * least / 4, all / rounds), least, most);
}

void Ingest::look(const Observation& seen, SteadyTime now) {
  const double passed = seconds(now - at_);
  const auto before = std::exchange(sizes_, {});
  grows_.clear();
  for (const auto& partition : seen.partitions) {
    const PartitionKey key(partition.topic, partition.index);
    const auto size = partition.size.count;
    sizes_.emplace(key, size);
    const auto known = before.find(key);
    if (known == before.end() || passed <= 0) continue;
    // What retention deletes is nothing that producers take back.
    grows_.emplace(key, static_cast<double>(size - std::min(size, known->second)) / passed);
  }
  leaders_ = seen.leaders;
  at_ = now;
}

double Ingest::of(const PartitionKey& partition) const {
  const auto at = grows_.find(partition);
  return at == grows_.end() ? 0 : at->second;
}

double Ingest::total() const {
  return std::accumulate(grows_.begin(), grows_.end(), 0.0,
                         [](double sum, const auto& entry) { return sum + entry.second; });
}

Pace::Pace(const Surroundings& surroundings, const Options& options, const Observation& start)
    : on_(surroundings), options_(options), behind_at_start_(start.out_of_sync), start_(on_.clock.steady()) {
  for (const auto& [id, broker] : start.up) up_.insert(id);
  if (options.throttling == Throttling::fixed) progress_.throttle = options.rate;
}

void Pace::expect(std::size_t moves, Bytes bytes) {
  progress_.moves += moves;
  progress_.total.count += bytes.count;
}

void Pace::finished(Bytes bytes) {
  ++progress_.moves_done;
  done_.count += bytes.count;
}

void Pace::advanced(Bytes under_way) {
  progress_.moved = std::max(progress_.moved, Bytes{done_.count + under_way.count});
}

// Producers are measured for a second, before anything moves.
Result<void> Pace::measure() {
  round_trip(on_, up_);  // makes the connections
  const auto calm = round_trip(on_, up_);
  for (const bool first : {true, false}) {
    PILOT_TRY(const auto seen, observe(on_.cluster, request()));
    ingest_.look(seen, on_.clock.steady());
    if (first) on_.wait(std::chrono::seconds(1));
  }
  last_adapted_ = on_.clock.steady();
  if (options_.throttling != Throttling::automatic) return ok();
  policy_.emplace(calm, ingest_.total());
  progress_.throttle = policy_->rate();
  return ok();
}

// What leaders send to the followers of moving partitions because producers write: it counts as well.
std::map<int, double> Pace::sent_anyway(const Work& work) const {
  std::map<int, double> by_leader;
  for (const auto& [partition, followers] : work.moving()) {
    const auto leader = ingest_.leaders().find(partition);
    if (followers == 0 || leader == ingest_.leaders().end()) continue;
    by_leader[leader->second] += static_cast<double>(followers) * ingest_.of(partition);
  }
  return by_leader;
}

// A rate is what a broker sends, and what it receives: of several that send to one, each gets its part.  A
// broker that is down gets its rate when it is up again.
Result<void> Pace::set_rates(const Work& work) {
  constexpr double unsteady = 1.2;  // producers
  const auto anyway = sent_anyway(work);
  const auto rate = *progress_.throttle;
  const double senders = std::max<double>(1, static_cast<double>(std::max(anyway.size(), work.lanes())));
  const double part = static_cast<double>(rate) * static_cast<double>(work.lanes()) / senders;
  const Duration between = portions().pause_between(up_.size());
  std::optional<Error> failed;
  for (const int id : up_) {
    const auto more = anyway.find(id);
    const double send = part + (more == anyway.end() ? 0 : unsteady * more->second);
    const BrokerRates wanted{static_cast<Rate>(send), rate};
    auto& set = rates_.try_emplace(id).first->second;
    if (set && near(*set, wanted)) continue;
    const auto done = throttle_broker(on_.cluster, id, wanted, request());
    set = done.has_value() ? std::optional(wanted) : std::nullopt;
    if (done.has_error()) failed = done.error();
    if (between > Duration{0}) on_.wait(between);  // every broker hears of each
  }
  const bool any = std::any_of(rates_.begin(), rates_.end(), [](const auto& entry) { return entry.second; });
  if (failed && !any) return *failed;
  return ok();
}

int Pace::leader_of(const reassign::Move& move) const {
  const auto at = ingest_.leaders().find({move.topic, move.index});
  return at == ingest_.leaders().end() || at->second == -1 ? move.from.front() : at->second;
}

std::set<int> Pace::throttled() const {
  std::set<int> brokers;
  for (const auto& [id, rates] : rates_) brokers.insert(id);
  return brokers;
}

Result<void> Pace::throttle(const Work& work) {
  if (options_.throttling == Throttling::none) return ok();
  if (!last_adapted_) PILOT_TRY_VOID(measure());
  return set_rates(work);
}

Result<void> Pace::watch(Work& work) {
  constexpr Duration often = std::chrono::milliseconds(200);
  constexpr Duration seldom = std::chrono::seconds(1);
  auto last_change = on_.clock.steady();
  for (int looks = 0;; ++looks) {
    PILOT_TRY(const bool more, work.ask_for_more());
    const auto moved = work.look();
    if (moved.has_value() && moved.value()) last_change = on_.clock.steady();
    report();
    if (work.done()) return ok();
    if (policy_) slowest_ = std::max(slowest_, round_trip(on_, up_));
    if (on_.clock.steady() - last_change >= options_.patience) {
      return make_error(ErrorCode::partial,
                        fmt::format("nothing moved for {}: {}{}", format_duration(options_.patience),
                                    work.waiting(), moved.has_value() ? "" : "; " + moved.error().text()));
    }
    if (!on_.wait(more || looks < 10 ? often : seldom))
      return make_error(ErrorCode::partial, "stopped on request");
    adapt(work);
  }
}

void Pace::report() {
  if (!at_start_) at_start_ = progress_.moved;
  const double took = seconds(on_.clock.steady() - start_);
  const auto moved = static_cast<double>(progress_.moved.count - at_start_->count);
  progress_.bytes_per_second = took > 0 ? moved / took : 0;
  progress_.eta.reset();
  if (progress_.bytes_per_second > 0) {
    constexpr double not_worth_saying = 1e8;  // seconds: three years
    const auto left =
        static_cast<double>(progress_.total.count - std::min(progress_.total, progress_.moved).count) /
        progress_.bytes_per_second;
    if (left < not_worth_saying)
      progress_.eta = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(left));
  }
  on_.reporter.progress(progress_);
}

void Pace::adapt(const Work& work) {
  const auto now = on_.clock.steady();
  if (!throttles() || now - *last_adapted_ < std::max(adapt_every, seldom_enough * look_takes_)) return;
  const auto seen = observe(on_.cluster, request());
  look_takes_ = on_.clock.steady() - now;
  if (!seen.has_value()) return;  // watch() tells when that lasts
  const double passed = seconds(now - *last_adapted_);
  ingest_.look(seen.value(), now);
  up_.clear();
  for (const auto& [id, broker] : seen.value().up) up_.insert(id);
  RatePolicy::Look look{std::exchange(slowest_, Duration{0}), fell_behind(work, seen.value())};
  look.bytes_per_second = static_cast<double>(progress_.moved.count - moved_then_.count) / passed /
                          static_cast<double>(work.lanes());
  look.produced = ingest_.total();
  last_adapted_ = now;
  moved_then_ = progress_.moved;
  const auto before = *progress_.throttle;
  if (policy_) progress_.throttle = policy_->next(look);
  if (!set_rates(work).has_value() || *progress_.throttle == before) return;
  on_.reporter.step(
      fmt::format("throttle now {}/s per broker: {}", format_bytes(Bytes{*progress_.throttle}),
                  *progress_.throttle > before ? "the cluster bears it" : "producers or brokers suffer"));
}

// Partitions that don't move and were in sync.
bool Pace::fell_behind(const Work& work, const Observation& seen) const {
  const auto moving = work.moving();
  return std::any_of(seen.out_of_sync.begin(), seen.out_of_sync.end(), [&](const auto& at) {
    return moving.count(at) == 0 && behind_at_start_.count(at) == 0;
  });
}

}  // namespace pilot::adaptors::kafka::rebalance
