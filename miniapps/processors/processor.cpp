#include "miniapps/processors/processor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "pilot/base/log.hpp"

namespace miniapps::processors {

using pilot::ErrorCode;
using pilot::Result;
using transports::Message;

namespace {

constexpr auto receive_wait = std::chrono::milliseconds(100);
// Longer than any block takes, shorter than the five minutes after which the group gives us up.
constexpr auto drain_limit = std::chrono::minutes(2);

constexpr std::size_t queued_messages_per_worker = 8;
// Results that wait for the disk, however small: each may keep a volume of its own open.
constexpr std::size_t most_unsynced = 32;

std::size_t queue_bytes(const ProcessorOptions& o) {
  return o.queue.count * static_cast<std::size_t>(o.parallelism);
}

ProcessReport base_report(const ProcessorOptions& o) {
  ProcessReport report;
  report.topic = o.topic;
  report.group = o.group;
  report.output = o.store.folder.string();
  report.algorithm = o.algorithm->parameters();
  report.isa = o.isa;
  report.processes = o.processes;
  report.parallelism = o.parallelism;
  return report;
}

}  // namespace

Result<std::unique_ptr<Processor>> Processor::open(ProcessorOptions options) {
  PILOT_TRY(auto store, VolumeStore::open(options.store));
  return std::unique_ptr<Processor>(new Processor(std::move(options), std::move(store)));
}

Processor::Processor(ProcessorOptions options, std::unique_ptr<VolumeStore> store)
    : options_(std::move(options)),
      store_(std::move(store)),
      dead_letters_(options_.store.folder / "dead-letters", options_.topic, options_.dead_letter_limit,
                    *options_.clock),
      metrics_(base_report(options_), static_cast<std::size_t>(options_.parallelism), *options_.clock),
      undecided_(*options_.clock, {queue_bytes(options_)}),
      queue_(queue_bytes(options_)),
      done_(options_.unsynced.count) {}

Processor::~Processor() {
  request_stop();
  (void)join();
}

void Processor::assigned() {
  metrics_.joined();
}

void Processor::revoked(const std::vector<std::int32_t>& partitions) {
  const auto ours = [&](const Message& m) {
    return std::find(partitions.begin(), partitions.end(), m.position().partition) != partitions.end();
  };
  const pilot::Deadline deadline(*options_.clock, drain_limit);
  bool drained = false;
  do give_up(ours);  // again and again: a worker may just be laying one down to wait
  while (!(drained = in_flight_.wait_drained(partitions, receive_wait)) && !deadline.passed());
  if (!drained)
    pilot::log::warning(
        "blocks of partitions that go to another processor are still being worked on; they are "
        "done twice");
}

// What only waits will come again.
void Processor::give_up(const std::function<bool(const Message&)>& unwanted) {
  for (const auto& message : queue_.take_if(unwanted)) in_flight_.remove(message.position().partition);
  for (const auto& message : undecided_.take_if(unwanted)) in_flight_.remove(message.position().partition);
}

void Processor::start(std::unique_ptr<transports::Consumer> consumer) {
  consumer_ = std::move(consumer);
  for (std::size_t i = 0; i < static_cast<std::size_t>(options_.parallelism); ++i)
    workers_.emplace_back([this, i] { work(i); });
  committer_ = std::thread([this] { make_permanent(); });
  receiver_ = std::thread([this] {
    receive_all();
    shut_down();
  });
}

void Processor::wait_finished(pilot::Duration limit) {
  std::unique_lock lock(finished_mutex_);
  finished_changed_.wait_for(lock, limit, [this] { return finished_.load(); });
}

void Processor::request_stop() {
  stop_ = true;
}

Result<void> Processor::join() {
  if (receiver_.joinable()) receiver_.join();
  const std::lock_guard lock(failure_mutex_);
  if (failure_) return *failure_;
  return pilot::ok();
}

ProcessReport Processor::report() const {
  return metrics_.report(in_flight_.total(), lag_);
}

void Processor::receive_all() {
  const auto weight_of =
      [&](const Message& message) {  // bounded by bytes, and by number where they are small
        return std::max(message.payload().size(), options_.queue.count / queued_messages_per_worker);
      };
  while (!stop_) {
    for (auto& message : undecided_.take_due()) {
      const auto weight = weight_of(message);
      if (!queue_.push(std::move(message), weight)) return;
    }
    auto received = consumer_->receive(receive_wait);
    if (!received) return fail(received.error());
    lag_ = consumer_->lag();
    auto& message = received.value();
    if (!message) {
      metrics_.quiet(consumer_->at_end(), consumer_->resumed_at_end());
      continue;
    }
    metrics_.received();
    in_flight_.add(message->position().partition);
    const auto weight = weight_of(*message);
    if (!queue_.push(std::move(*message), weight)) return;
  }
}

// On the receiver's thread: lets the work run out, from the source's side to the disk's.
void Processor::shut_down() {
  queue_.close();
  for (auto& worker : workers_) worker.join();
  BlockWorker last(*options_.algorithm, *store_, dead_letters_, undecided_, buffers_, *options_.clock, 0);
  handle(last, undecided_.close());
  done_.close();
  committer_.join();
  if (auto closed = consumer_->close(); !closed) fail(closed.error());
  const std::lock_guard lock(finished_mutex_);
  finished_ = true;
  finished_changed_.notify_all();
}

void Processor::work(std::size_t index) {
  BlockWorker worker(*options_.algorithm, *store_, dead_letters_, undecided_, buffers_, *options_.clock,
                     index);
  const auto workers = static_cast<std::size_t>(options_.parallelism);
  while (true) {
    auto messages = queue_.pop_some(worker.messages_per_call(), workers);
    if (messages.empty() || !handle(worker, std::move(messages))) return;
  }
}

// And the blocks that waited for these.  False when it failed.
bool Processor::handle(BlockWorker& worker, std::vector<Message> messages) {
  while (!messages.empty()) {
    auto all = worker.handle(messages);
    if (!all) return fail(all.error()), false;
    for (auto& done : all.value()) {
      const auto weight =
          std::max<std::uint64_t>(done.handled.result_bytes, options_.unsynced.count / most_unsynced);
      done_.push(std::move(done), weight);
    }
    auto ready = worker.take_ready();
    if (!ready) return fail(ready.error()), false;
    messages = std::move(ready).value();
  }
  return true;
}

// Takes all that has come to be finished while the last sync ran: the slower the disk, the larger the
// groups.  After an error it goes on emptying the queue, so that no worker waits for it.
void Processor::make_permanent() {
  bool failed = false;
  for (auto batch = done_.pop_all(); !batch.empty(); batch = done_.pop_all()) {
    if (failed) continue;
    if (auto committed = commit(batch); !committed) {
      fail(committed.error());
      failed = true;
    }
  }
}

Result<void> Processor::commit(std::vector<Done>& batch) {
  std::map<Volume*, std::vector<std::size_t>> of_volume;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (batch[i].volume) of_volume[batch[i].volume.get()].push_back(i);
  for (const auto& [volume, members] : of_volume) {
    std::vector<SliceRange> ranges;
    for (auto i : members) {
      auto& done = batch[i];
      ranges.push_back(done.range);
      if (!done.buffer) continue;
      PILOT_TRY_VOID(volume->write(done.range, done.slices));
      done.buffer.reset();
    }
    PILOT_TRY(const auto marked, store_->commit(*volume, ranges));
    for (std::size_t k = 0; k < members.size(); ++k)
      batch[members[k]].handled.outcome = marked.was_new[k] ? Outcome::stored : Outcome::duplicate;
  }
  for (const auto& done : batch) {
    consumer_->acknowledge(done.position);
    metrics_.handled(done.handled);
    in_flight_.remove(done.position.partition);
  }
  return pilot::ok();
}

void Processor::fail(pilot::Error error) {
  {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::move(error);
  }
  stop_ = true;
  queue_.close();
  const auto all = [](const Message&) { return true; };
  (void)queue_.take_if(all);
  (void)undecided_.take_if(all);
  in_flight_.abandon();
}

}  // namespace miniapps::processors
