#include "adaptors/framework/kafka/rebalance/pace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace pilot::adaptors::kafka::rebalance {

namespace {

constexpr Duration adapt_every = std::chrono::seconds(5);

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// The median of how long brokers take to answer; what does not answer counts as very long.
Duration round_trip(const Surroundings& on, const std::set<int>& brokers) {
  std::vector<Duration> all;
  for (const int id : brokers) {
    if (all.size() == 15) break;  // a sample will do
    const auto took = on.cluster.round_trip(id, Deadline(on.clock, std::chrono::seconds(2)));
    all.push_back(took.has_value() ? took.value() : Duration(std::chrono::seconds(2)));
  }
  if (all.empty()) return Duration{0};
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

// Bytes of all partitions, each counted once.
double stored(const Observation& seen) {
  double bytes = 0;
  for (const auto& partition : seen.partitions) bytes += static_cast<double>(partition.size.count);
  return bytes;
}

}  // namespace

Pace::Pace(const Surroundings& surroundings, const Options& options, const Observation& start)
    : on_(surroundings),
      options_(options),
      behind_at_start_(start.out_of_sync),
      start_(on_.clock.steady()),
      last_adapted_(start_) {
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

bool Pace::advanced(Bytes under_way) {
  const Bytes moved{done_.count + under_way.count};
  const bool grew = moved > progress_.moved;
  progress_.moved = std::max(progress_.moved, moved);
  return grew;
}

// Producers are measured for a second, before anything moves.
Result<void> Pace::choose_rate() {
  round_trip(on_, up_);  // makes the connections
  const auto calm = round_trip(on_, up_);
  PILOT_TRY(const auto before, observe(on_.cluster, request()));
  const auto begin = on_.clock.steady();
  on_.wait(std::chrono::seconds(1));
  PILOT_TRY(const auto after, observe(on_.cluster, request()));
  last_adapted_ = on_.clock.steady();
  stored_then_ = stored(after);
  policy_.emplace(calm, std::max(0.0, (stored_then_ - stored(before)) / seconds(last_adapted_ - begin)));
  progress_.throttle = policy_->rate();
  return ok();
}

Result<void> Pace::set_rate(Rate rate) {
  for (const int id : up_) {
    throttled_.insert(id);
    PILOT_TRY_VOID(throttle_broker(on_.cluster, id, rate, request()));
  }
  return ok();
}

Result<void> Pace::throttle() {
  if (options_.throttling == Throttling::automatic && !policy_) PILOT_TRY_VOID(choose_rate());
  return throttles() ? set_rate(*progress_.throttle) : ok();
}

Result<void> Pace::watch(Work& work) {
  constexpr Duration often = std::chrono::milliseconds(200);
  constexpr Duration seldom = std::chrono::seconds(1);
  auto last_change = on_.clock.steady();
  for (int looks = 0;; ++looks) {
    const auto moved = work.look();
    if (moved.has_value() && moved.value()) last_change = on_.clock.steady();
    report();
    if (work.done()) return ok();
    if (on_.clock.steady() - last_change >= options_.patience) {
      return make_error(ErrorCode::partial,
                        fmt::format("nothing moved for {}: {}{}", format_duration(options_.patience),
                                    work.waiting(), moved.has_value() ? "" : "; " + moved.error().text()));
    }
    if (!on_.wait(looks < 10 ? often : seldom)) return make_error(ErrorCode::partial, "stopped on request");
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
    const auto left =
        static_cast<double>(progress_.total.count - std::min(progress_.total, progress_.moved).count);
    progress_.eta = std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(left / progress_.bytes_per_second));
  }
  on_.reporter.progress(progress_);
}

void Pace::adapt(const Work& work) {
  const auto now = on_.clock.steady();
  if (!policy_ || now - last_adapted_ < adapt_every) return;
  const double passed = seconds(now - last_adapted_);
  RatePolicy::Look look{round_trip(on_, up_), false};
  look.bytes_per_second = static_cast<double>(progress_.moved.count - moved_then_.count) / passed /
                          static_cast<double>(work.lanes());
  const auto seen = observe(on_.cluster, request());
  if (!seen.has_value()) return;  // watch() tells when that lasts
  const auto moving = work.moving();
  for (const auto& at : seen.value().out_of_sync)
    look.others_fell_behind =
        look.others_fell_behind || (moving.count(at) == 0 && behind_at_start_.count(at) == 0);
  look.produced = (stored(seen.value()) - stored_then_) / passed;
  stored_then_ = stored(seen.value());
  last_adapted_ = now;
  moved_then_ = progress_.moved;
  const auto before = policy_->rate();
  const auto rate = policy_->next(look);
  if (rate == before || !set_rate(rate).has_value()) return;
  progress_.throttle = rate;
  on_.reporter.step(fmt::format("throttle now {}/s per broker: {}", format_bytes(Bytes{rate}),
                                rate > before ? "the cluster bears it" : "producers or brokers suffer"));
}

}  // namespace pilot::adaptors::kafka::rebalance
