#include "miniapps/processors/processor.hpp"

#include <fmt/format.h>
#include <time.h>

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

pilot::Duration thread_cpu() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

pilot::WallTime wall_time(std::uint64_t ns) {
  return pilot::WallTime(pilot::Duration(static_cast<std::int64_t>(ns)));
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
      queue_(2 * static_cast<std::size_t>(options_.parallelism)),
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
  for (const auto& message : queue_.take_if(ours)) in_flight_.remove(message.position().partition);
  if (!in_flight_.wait_drained(partitions, drain_limit))
    pilot::log::warning(
        "blocks of partitions that go to another processor are still being worked on; they are "
        "done twice");
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
  while (!stop_) {
    auto received = consumer_->receive(receive_wait);
    if (!received) return fail(received.error());
    lag_ = consumer_->lag();
    auto& message = received.value();
    if (!message) {
      metrics_.quiet(consumer_->at_end());
      continue;
    }
    metrics_.received();
    in_flight_.add(message->position().partition);
    if (!queue_.push(std::move(*message))) return;
  }
}

// On the receiver's thread: lets the work run out, from the source's side to the disk's.
void Processor::shut_down() {
  queue_.close();
  for (auto& worker : workers_) worker.join();
  done_.close();
  committer_.join();
  if (auto closed = consumer_->close(); !closed) fail(closed.error());
  finished_ = true;
}

void Processor::work(std::size_t index) {
  const auto reconstructor = options_.algorithm->make_reconstructor();
  while (auto message = queue_.pop()) {
    const auto begin = options_.clock->steady();
    const auto cpu_begin = thread_cpu();
    auto done = handle(*message, *reconstructor);
    if (!done) return fail(done.error());
    auto& handled = done.value().handled;
    handled.worker = index;
    handled.bytes = message->payload().size();
    handled.busy = options_.clock->steady() - begin;
    handled.cpu = thread_cpu() - cpu_begin;
    done.value().position = message->position();
    const auto weight = handled.result_bytes;
    message.reset();
    done_.push(std::move(done).value(), weight);
  }
}

Result<Processor::Done> Processor::handle(const Message& message, Reconstructor& reconstructor) {
  const auto frame = formats::decode_frame(message.payload());
  if (!frame) return set_aside(message, frame.error().message);
  PILOT_TRY(auto done, handle_frame(frame.value(), message, reconstructor));
  done.handled.source_time = wall_time(frame.value().header.source_time_ns);
  return done;
}

Result<Processor::Done> Processor::handle_frame(const formats::FrameView& frame, const Message& message,
                                                Reconstructor& reconstructor) {
  const auto& header = frame.header;
  const auto wanted = options_.algorithm->volume_of(header);
  Done done;
  done.range = {header.slice_begin, header.slice_count};
  PILOT_TRY(auto place, store_->place(wanted, done.range));
  if (!place.volume) return set_aside(message, place.refusal);
  done.handled.run_id = wanted.run_id;
  done.volume = std::move(place.volume);
  PILOT_TRY(const bool there, done.volume->has(done.range));
  if (there) return done;  // the committer syncs and acknowledges it, and sees that it is a repeat
  const auto slices = reconstructor.run(frame);
  if (!slices && slices.error().code == ErrorCode::usage) return set_aside(message, slices.error().message);
  if (!slices) return slices.error();
  PILOT_TRY_VOID(done.volume->write(done.range, slices.value()));
  done.handled.result_bytes = slices.value().size_bytes();
  return done;
}

Result<Processor::Done> Processor::set_aside(const Message& message, const std::string& reason) {
  PILOT_TRY(const bool kept, dead_letters_.keep(message.position(), message.payload(), reason));
  Done done;
  done.handled.outcome = kept ? Outcome::dead_letter : Outcome::dead_letter_not_kept;
  return done;
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
    for (auto i : members) ranges.push_back(batch[i].range);
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
  (void)queue_.take_if([](const Message&) { return true; });
  in_flight_.abandon();
}

}  // namespace miniapps::processors
