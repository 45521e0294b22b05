#include "miniapps/transports/kafka/producer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "miniapps/transports/kafka/client_handle.hpp"
#include "miniapps/transports/kafka/kafka_error.hpp"

namespace miniapps::transports::kafka {
namespace {

// The largest message: beyond a broker's usual limits, so that the broker's own answer is what counts.
constexpr auto largest_message = "67108864";

Properties producer_settings(const ProducerOptions& options) {
  const auto queue_kib = std::clamp<std::uint64_t>(options.queue.count / 1024, 1, 2'097'151);
  return {
      {"client.id", "miniapp-source"},
      {"message.max.bytes", largest_message},
      {"queue.buffering.max.kbytes", std::to_string(queue_kib)},
      {"message.timeout.ms", std::to_string(milliseconds(options.delivery_timeout, 1))},
      {"compression.type", "none"},  // raw detector counts hardly shrink
      {"socket.nagle.disable", "true"},
      {"linger.ms", "0"},
      {"reconnect.backoff.max.ms", "1000"},
  };
}

// Nothing was sent, for the topic is not there.
bool is_unknown(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION || code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
         code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

class KafkaProducer final : public Producer {
 public:
  KafkaProducer(std::string topic, std::unique_ptr<ClientHandle> client, rd_kafka_topic_t* handle,
                int partitions, pilot::Duration delivery_timeout)
      : topic_(std::move(topic)),
        client_(std::move(client)),
        handle_(handle),
        partitions_(partitions),
        delivery_timeout_(delivery_timeout) {}

  ~KafkaProducer() override {
    counts_.queued -= unsent_.size();
    unsent_.clear();
    // Every message gets its report, so every reference to a buffer is given back.
    rd_kafka_purge(client_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    for (int round = 0; counts_.queued > 0 && round < 100; ++round) rd_kafka_poll(client_->get(), 100);
    rd_kafka_topic_destroy(handle_);
  }

  pilot::Result<bool> send(SharedBuffer message, std::string_view key, std::uint64_t spread) override {
    poll(pilot::Duration{0});
    if (failure_ && fatal_) return *failure_;
    if (!unsent_.empty()) return false;
    const auto size = message->size();
    const auto partition = static_cast<std::int32_t>(spread % static_cast<std::uint64_t>(partitions_));
    const auto code = produce({std::move(message), std::string(key), partition});
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++counts_.queued;
      return true;
    }
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL || may_be_late(code)) return false;
    return client_->error(code, fmt::format("sending {} bytes to topic '{}'", size, topic_));
  }

  void poll(pilot::Duration limit) override {
    rd_kafka_poll(client_->get(), milliseconds(limit));
    if (unknown_since_) look_again();
  }

  pilot::Result<void> flush(pilot::Duration limit) override {
    const pilot::Deadline deadline(pilot::system_clock(), limit);
    auto code = rd_kafka_flush(client_->get(), milliseconds(limit));
    while (!unsent_.empty() && !deadline.passed()) {
      poll(std::chrono::milliseconds(50));
      code = rd_kafka_flush(client_->get(), milliseconds(deadline.left()));
    }
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && counts_.queued == 0) return pilot::ok();
    auto error = client_->error(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT,
                                fmt::format("{} messages were not acknowledged", counts_.queued));
    error.code = pilot::ErrorCode::timed_out;
    return error;
  }

  DeliveryCounts counts() const override { return counts_; }
  std::optional<pilot::Error> failure() const override { return failure_; }

  void delivered(const rd_kafka_message_t& message) {
    const std::unique_ptr<SharedBuffer> reference(static_cast<SharedBuffer*>(message._private));
    const bool sent = rd_kafka_message_status(&message) != RD_KAFKA_MSG_STATUS_NOT_PERSISTED;
    if (!sent && may_be_late(message.err)) {
      unsent_.push_back({std::move(*reference),
                         std::string(static_cast<const char*>(message.key), message.key_len),
                         message.partition});
      return;
    }
    --counts_.queued;
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (unsent_.empty()) unknown_since_.reset();  // else look_again() still has to send them
      ++counts_.acked;
      counts_.acked_bytes += message.len;
      return;
    }
    ++counts_.failed;
    if (!failure_)
      failure_ =
          client_->error(message.err, fmt::format("sending {} bytes to topic '{}'", message.len, topic_));
    fatal_ = fatal_ || is_final(message.err);
  }

 private:
  struct Message {
    SharedBuffer bytes;
    std::string key;
    std::int32_t partition;
  };

  rd_kafka_resp_err_t produce(Message message) {
    auto reference = std::make_unique<SharedBuffer>(std::move(message.bytes));
    const Buffer& bytes = **reference;
    // librdkafka sends from this memory (no F_COPY) and gives it back in the delivery report.
    const int refused =
        rd_kafka_produce(handle_, message.partition, 0, const_cast<std::byte*>(bytes.data()), bytes.size(),
                         message.key.data(), message.key.size(), reference.get());
    if (refused != 0) return rd_kafka_last_error();
    (void)reference.release();
    return RD_KAFKA_RESP_ERR_NO_ERROR;
  }

  // The topic was there when we began.  A broker that has not heard of a new one yet says that there is none,
  // and librdkafka believes whom it asked last: it fails all of the topic's messages.
  bool may_be_late(rd_kafka_resp_err_t code) {
    if (!is_unknown(code)) return false;
    const auto now = pilot::system_clock().steady();
    if (!unknown_since_) unknown_since_ = now;
    return now - *unknown_since_ < delivery_timeout_;
  }

  void look_again() {
    const auto now = pilot::system_clock().steady();
    if (now < look_at_) return;
    const auto since = *unknown_since_;  // reports that come meanwhile may end it
    look_at_ = now + std::chrono::milliseconds(100);
    if (!client_->partitions(topic_, std::chrono::seconds(1))) return;
    auto unsent = std::exchange(unsent_, {});
    for (auto& message : unsent)
      if (produce(message) != RD_KAFKA_RESP_ERR_NO_ERROR) unsent_.push_back(std::move(message));
    if (unsent_.empty() || now - since < delivery_timeout_) return;
    counts_.queued -= unsent_.size();
    counts_.failed += std::exchange(unsent_, {}).size();
    if (!failure_)
      failure_ =
          client_->error(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, fmt::format("sending to topic '{}'", topic_));
  }

  std::string topic_;
  std::unique_ptr<ClientHandle> client_;
  rd_kafka_topic_t* handle_;
  int partitions_;
  pilot::Duration delivery_timeout_;
  std::vector<Message> unsent_;  // counted as queued
  std::optional<pilot::SteadyTime> unknown_since_;
  pilot::SteadyTime look_at_{};
  DeliveryCounts counts_;
  std::optional<pilot::Error> failure_;
  bool fatal_ = false;
};

}  // namespace

pilot::Result<std::unique_ptr<Producer>> make_producer(const ClientConfig& config, ProducerOptions options) {
  auto events = std::make_unique<ClientEvents>();
  auto target = std::make_shared<KafkaProducer*>(nullptr);
  events->on_delivery = [target](const rd_kafka_message_t& message) { (*target)->delivered(message); };
  const Properties fixed{{"enable.idempotence", "true"}, {"acks", "all"}};
  PILOT_TRY(auto client, ClientHandle::make(RD_KAFKA_PRODUCER, config, producer_settings(options), fixed,
                                            std::move(events)));
  PILOT_TRY(const int partitions, client->partitions(options.topic, options.connect_timeout));
  rd_kafka_topic_t* handle = rd_kafka_topic_new(client->get(), options.topic.c_str(), nullptr);
  if (handle == nullptr) return client->error(rd_kafka_last_error(), "opening topic '" + options.topic + "'");
  auto producer = std::make_unique<KafkaProducer>(std::move(options.topic), std::move(client), handle,
                                                  partitions, options.delivery_timeout);
  *target = producer.get();
  return std::unique_ptr<Producer>(std::move(producer));
}

}  // namespace miniapps::transports::kafka
