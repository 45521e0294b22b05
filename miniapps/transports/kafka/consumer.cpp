#include "miniapps/transports/kafka/consumer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "miniapps/transports/kafka/client_handle.hpp"
#include "miniapps/transports/kafka/kafka_error.hpp"
#include "miniapps/transports/kafka/offset_tracker.hpp"
#include "pilot/base/log.hpp"

namespace miniapps::transports::kafka {
namespace {

constexpr std::uint64_t mebi = 1ULL << 20;
constexpr std::size_t payload_alignment = 16;

struct MessageDeleter {
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
};
using RawMessage = std::unique_ptr<rd_kafka_message_t, MessageDeleter>;

struct ListDeleter {
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
};
struct QueueDeleter {
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
};
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t, ListDeleter>;

struct FetchedStorage final : Message::Storage {
  explicit FetchedStorage(RawMessage fetched) : raw(std::move(fetched)) {}
  RawMessage raw;
};

// A copy in aligned memory.  Kafka packs records at any byte, and the payload is read as floats.
struct AlignedStorage final : Message::Storage {
  AlignedStorage(RawMessage fetched, std::size_t size) : raw(std::move(fetched)), bytes(size) {}
  RawMessage raw;  // still owns the key
  std::vector<std::byte> bytes;
};

Message to_message(RawMessage raw) {
  const Position position{raw->partition, raw->offset};
  const std::string_view key(static_cast<const char*>(raw->key), raw->key_len);
  const std::span payload(static_cast<const std::byte*>(raw->payload), raw->len);
  if (reinterpret_cast<std::uintptr_t>(payload.data()) % payload_alignment == 0)
    return {std::make_unique<FetchedStorage>(std::move(raw)), payload, key, position};
  auto storage = std::make_unique<AlignedStorage>(std::move(raw), payload.size());
  if (!payload.empty()) std::memcpy(storage->bytes.data(), payload.data(), payload.size());
  const std::span<const std::byte> aligned(storage->bytes);
  return {std::move(storage), aligned, key, position};
}

Properties consumer_settings(const ConsumerOptions& options) {
  // Fetched ahead: up to queued.max.messages.kbytes over all partitions, and one fetch of each broker.
  const std::uint64_t prefetch = options.prefetch.count;
  Properties settings{
      {"client.id", "miniapp-process"},
      {"group.id", options.group},
      {"auto.offset.reset", options.from_beginning ? "earliest" : "latest"},
      {"partition.assignment.strategy", "cooperative-sticky"},
      {"session.timeout.ms", std::to_string(milliseconds(options.session_timeout, 1))},
      {"heartbeat.interval.ms", std::to_string(milliseconds(options.session_timeout / 4, 1))},
      {"fetch.message.max.bytes", std::to_string(prefetch / 4)},  // larger messages still come, singly
      {"fetch.max.bytes", std::to_string(prefetch / 2)},
      {"receive.message.max.bytes", std::to_string(std::max(2 * prefetch, 128 * mebi))},
      {"queued.max.messages.kbytes", std::to_string(prefetch / 1024)},
      {"fetch.wait.max.ms", "100"},
      {"reconnect.backoff.max.ms", "1000"},
      {"allow.auto.create.topics", "false"},
  };
  if (!options.instance.empty()) settings["group.instance.id"] = options.instance;
  return settings;
}

class KafkaConsumer final : public Consumer {
 public:
  explicit KafkaConsumer(ConsumerOptions options) : options_(std::move(options)) {
    options_.prefetch.count = std::max(options_.prefetch.count, 8 * mebi);
  }

  ~KafkaConsumer() override {
    if (client_ && !closed_) (void)close();
  }

  pilot::Result<void> open(const ClientConfig& config);

  pilot::Result<std::optional<Message>> receive(pilot::Duration limit) override;
  void acknowledge(Position position) override;
  pilot::Result<void> commit() override { return commit_now(false); }
  bool at_end() const override;
  bool resumed_at_end() const override;
  std::int64_t lag() const override;
  pilot::Result<void> close() override;

 private:
  struct Partition {
    OffsetTracker offsets;
    bool at_end = false;
    bool resumed = false;  // its end came first, and that is not the beginning
  };

  void rebalance(rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t* partitions);
  void assign(rd_kafka_topic_partition_list_t* partitions);
  void revoke(rd_kafka_topic_partition_list_t* partitions, bool lost);
  pilot::Result<void> subscribe();
  PartitionList committable(const std::vector<std::int32_t>* only) const;
  pilot::Result<void> commit_now(bool async, const std::vector<std::int32_t>* only = nullptr);
  void committed(rd_kafka_resp_err_t code, const rd_kafka_topic_partition_list_t* offsets);
  pilot::Result<std::optional<Message>> take(RawMessage raw);
  void keep_fetching();

  ConsumerOptions options_;
  std::unique_ptr<ClientHandle> client_;
  mutable std::mutex mutex_;  // guards partitions_
  std::map<std::int32_t, Partition> partitions_;
  bool assigned_once_ = false;
  bool closed_ = false;
  pilot::SteadyTime last_commit_{};
  std::unique_ptr<rd_kafka_queue_t, QueueDeleter> queue_;  // where fetched messages wait
  std::size_t last_bytes_ = 0;                             // of the last message received
  bool was_full_ = false;
};

// Once librdkafka's queue was full, its broker threads sleep for up to a second before they look again,
// however fast the queue is emptied (librdkafka#2879; 2.2 has fetch.queue.backoff.ms).  A request wakes
// them: asking for offsets sends one to every leader.
void KafkaConsumer::keep_fetching() {
  const std::uint64_t waiting = rd_kafka_queue_length(queue_.get()) * last_bytes_;
  if (waiting > options_.prefetch.count / 4 * 3) was_full_ = true;
  if (!was_full_ || waiting > options_.prefetch.count / 2) return;
  was_full_ = false;
  constexpr std::int64_t far_future_ms = 4'102'444'800'000;  // 2100: no message is that young
  const PartitionList list = [this] {
    const std::lock_guard lock(mutex_);
    PartitionList all(rd_kafka_topic_partition_list_new(static_cast<int>(partitions_.size())));
    for (const auto& [partition, state] : partitions_)
      rd_kafka_topic_partition_list_add(all.get(), options_.topic.c_str(), partition)->offset = far_future_ms;
    return all;
  }();
  if (list->cnt > 0) rd_kafka_offsets_for_times(client_->get(), list.get(), 5);  // the answer is not used
}

pilot::Result<void> KafkaConsumer::open(const ClientConfig& config) {
  auto events = std::make_unique<ClientEvents>();
  events->on_rebalance = [this](rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t* partitions) {
    rebalance(code, partitions);
  };
  events->on_commit = [this](rd_kafka_resp_err_t code, const rd_kafka_topic_partition_list_t* offsets) {
    committed(code, offsets);
  };
  const Properties fixed{{"enable.auto.commit", "false"},
                         {"enable.auto.offset.store", "false"},
                         {"enable.partition.eof", "true"}};
  PILOT_TRY(client_, ClientHandle::make(RD_KAFKA_CONSUMER, config, consumer_settings(options_), fixed,
                                        std::move(events)));
  PILOT_TRY_VOID(client_->partitions(options_.topic, options_.connect_timeout));
  return subscribe();
}

pilot::Result<void> KafkaConsumer::subscribe() {
  // From here on all events come through rd_kafka_consumer_poll.
  rd_kafka_poll_set_consumer(client_->get());
  const PartitionList topics(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(topics.get(), options_.topic.c_str(), RD_KAFKA_PARTITION_UA);
  const auto code = rd_kafka_subscribe(client_->get(), topics.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return client_->error(code, fmt::format("subscribing to topic '{}'", options_.topic));
  queue_.reset(rd_kafka_queue_get_consumer(client_->get()));
  last_commit_ = pilot::system_clock().steady();
  return pilot::ok();
}

pilot::Result<std::optional<Message>> KafkaConsumer::receive(pilot::Duration limit) {
  const pilot::Deadline deadline(pilot::system_clock(), limit);
  while (true) {
    const auto now = pilot::system_clock().steady();
    if (now - last_commit_ >= options_.commit_interval) {
      last_commit_ = now;
      if (const auto committed = commit_now(true); !committed)
        pilot::log::info("{}; it is repeated", committed.error().message);
    }
    keep_fetching();
    const auto wait = std::min<pilot::Duration>(deadline.left(), options_.commit_interval);
    RawMessage raw(rd_kafka_consumer_poll(client_->get(), milliseconds(wait)));
    if (raw) {
      PILOT_TRY(auto message, take(std::move(raw)));
      if (message) return std::optional<Message>(std::move(message));
    }
    const auto complaint = client_->events().last_complaint();
    if (complaint && is_final(complaint->code))
      return kafka_error(complaint->code, fmt::format("receiving from topic '{}'", options_.topic),
                         complaint->reason);
    if (deadline.passed()) return std::optional<Message>();
  }
}

pilot::Result<std::optional<Message>> KafkaConsumer::take(RawMessage raw) {
  if (raw->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    const std::lock_guard lock(mutex_);
    // A message of a partition that was revoked meanwhile belongs to somebody else.
    const auto found = partitions_.find(raw->partition);
    if (found == partitions_.end()) return std::optional<Message>();
    found->second.offsets.received(raw->offset);
    last_bytes_ = raw->len;
    found->second.at_end = false;
    return std::optional<Message>(to_message(std::move(raw)));
  }
  if (raw->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    const std::lock_guard lock(mutex_);
    if (const auto found = partitions_.find(raw->partition); found != partitions_.end()) {
      found->second.at_end = true;
      found->second.resumed = raw->offset > 0 && !found->second.offsets.next();
    }
    return std::optional<Message>();
  }
  const bool gone =
      raw->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || raw->err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
  const char* reason = rd_kafka_message_errstr(raw.get());
  if (gone || is_final(cause(raw->err, reason)))
    return kafka_error(raw->err, fmt::format("receiving from topic '{}'", options_.topic), reason);
  pilot::log::info("kafka: {}; it is tried again", reason);
  return std::optional<Message>();
}

void KafkaConsumer::acknowledge(Position position) {
  const std::lock_guard lock(mutex_);
  if (const auto found = partitions_.find(position.partition); found != partitions_.end())
    found->second.offsets.done(position.offset);
}

PartitionList KafkaConsumer::committable(const std::vector<std::int32_t>* only) const {
  const std::lock_guard lock(mutex_);
  PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions_.size())));
  for (const auto& [partition, state] : partitions_) {
    if (only != nullptr && std::ranges::find(*only, partition) == only->end()) continue;
    if (const auto offset = state.offsets.committable())
      rd_kafka_topic_partition_list_add(list.get(), options_.topic.c_str(), partition)->offset = *offset;
  }
  return list;
}

pilot::Result<void> KafkaConsumer::commit_now(bool async, const std::vector<std::int32_t>* only) {
  const PartitionList list = committable(only);
  if (list->cnt == 0) return pilot::ok();
  const auto code = rd_kafka_commit(client_->get(), list.get(), async ? 1 : 0);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return client_->error(code, fmt::format("committing offsets of group '{}'", options_.group));
  if (!async) committed(code, list.get());
  return pilot::ok();
}

void KafkaConsumer::committed(rd_kafka_resp_err_t code, const rd_kafka_topic_partition_list_t* offsets) {
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR && code != RD_KAFKA_RESP_ERR__NO_OFFSET)
    pilot::log::info("kafka: a commit was refused: {}; it is repeated", rd_kafka_err2str(code));
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR || offsets == nullptr) return;
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < offsets->cnt; ++i)
    if (const auto found = partitions_.find(offsets->elems[i].partition); found != partitions_.end())
      found->second.offsets.committed(offsets->elems[i].offset);
}

void KafkaConsumer::rebalance(rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t* partitions) {
  if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) return assign(partitions);
  revoke(partitions, rd_kafka_assignment_lost(client_->get()) != 0);
}

std::vector<std::int32_t> numbers_of(const rd_kafka_topic_partition_list_t& list) {
  std::vector<std::int32_t> numbers;
  for (int i = 0; i < list.cnt; ++i) numbers.push_back(list.elems[i].partition);
  return numbers;
}

bool cooperative(rd_kafka_t* client) {
  const char* protocol = rd_kafka_rebalance_protocol(client);
  return protocol != nullptr && std::strcmp(protocol, "COOPERATIVE") == 0;
}

void log_and_free(rd_kafka_error_t* error) {
  if (error == nullptr) return;
  pilot::log::warning("kafka: {}", rd_kafka_error_string(error));
  rd_kafka_error_destroy(error);
}

void KafkaConsumer::assign(rd_kafka_topic_partition_list_t* partitions) {
  const auto numbers = numbers_of(*partitions);
  {
    const std::lock_guard lock(mutex_);
    for (const auto number : numbers) partitions_.insert_or_assign(number, Partition{});
    assigned_once_ = true;
  }
  if (options_.on_assigned) options_.on_assigned(numbers);
  if (cooperative(client_->get()))
    log_and_free(rd_kafka_incremental_assign(client_->get(), partitions));
  else
    rd_kafka_assign(client_->get(), partitions);
}

void KafkaConsumer::revoke(rd_kafka_topic_partition_list_t* partitions, bool lost) {
  const auto numbers = numbers_of(*partitions);
  if (options_.on_revoked) options_.on_revoked(numbers);
  if (!lost)
    if (const auto committed = commit_now(false, &numbers); !committed)
      pilot::log::info("{}; the next owner repeats that work", committed.error().message);
  {
    const std::lock_guard lock(mutex_);
    for (const auto number : numbers) partitions_.erase(number);
  }
  if (cooperative(client_->get()))
    log_and_free(rd_kafka_incremental_unassign(client_->get(), partitions));
  else
    rd_kafka_assign(client_->get(), nullptr);
}

bool KafkaConsumer::at_end() const {
  const std::lock_guard lock(mutex_);
  return assigned_once_ &&
         std::ranges::all_of(partitions_, [](const auto& entry) { return entry.second.at_end; });
}

bool KafkaConsumer::resumed_at_end() const {
  if (!at_end() || !options_.from_beginning) return false;
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(partitions_, [](const auto& entry) { return entry.second.resumed; });
}

std::int64_t KafkaConsumer::lag() const {
  const std::lock_guard lock(mutex_);
  std::int64_t sum = 0;
  for (const auto& [partition, state] : partitions_) {
    std::int64_t low = 0, high = 0;  // as of the last fetch; no request is made
    const auto code =
        rd_kafka_get_watermark_offsets(client_->get(), options_.topic.c_str(), partition, &low, &high);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 && state.offsets.next())
      sum += std::max<std::int64_t>(0, high - *state.offsets.next());
  }
  return sum;
}

pilot::Result<void> KafkaConsumer::close() {
  if (closed_) return pilot::ok();
  closed_ = true;
  const auto committed = commit_now(false);
  queue_.reset();
  const auto code = rd_kafka_consumer_close(client_->get());  // revokes, so on_revoked is called
  if (!committed) return committed.error();
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return client_->error(code, fmt::format("leaving group '{}'", options_.group));
  return pilot::ok();
}

}  // namespace

pilot::Result<std::unique_ptr<Consumer>> make_consumer(const ClientConfig& config, ConsumerOptions options) {
  auto consumer = std::make_unique<KafkaConsumer>(std::move(options));
  PILOT_TRY_VOID(consumer->open(config));
  return std::unique_ptr<Consumer>(std::move(consumer));
}

}  // namespace miniapps::transports::kafka
