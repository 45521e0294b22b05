#include "miniapps/transports/kafka/admin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "miniapps/transports/kafka/client_handle.hpp"
#include "miniapps/transports/kafka/kafka_error.hpp"
#include "pilot/base/log.hpp"

namespace miniapps::transports::kafka {
namespace {

template <auto destroy>
struct Destroy {
  template <typename T>
  void operator()(T* object) const {
    destroy(object);
  }
};

using NewTopic = std::unique_ptr<rd_kafka_NewTopic_t, Destroy<rd_kafka_NewTopic_destroy>>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_destroy>>;
using Event = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_destroy>>;
using AdminOptions = std::unique_ptr<rd_kafka_AdminOptions_t, Destroy<rd_kafka_AdminOptions_destroy>>;

pilot::Result<NewTopic> new_topic(const TopicSpec& spec) {
  std::array<char, 512> text{};
  NewTopic topic(
      rd_kafka_NewTopic_new(spec.name.c_str(), spec.partitions, spec.replication, text.data(), text.size()));
  if (!topic)
    return pilot::make_error(pilot::ErrorCode::usage, fmt::format("topic '{}': {}", spec.name, text.data()));
  for (const auto& [key, value] : spec.config)
    rd_kafka_NewTopic_set_config(topic.get(), key.c_str(), value.c_str());
  return topic;
}

// Sends the request and reads its one answer; a topic that exists already is as good as made.
pilot::Result<void> request_topic(const ClientHandle& client, const TopicSpec& spec, pilot::Duration limit) {
  PILOT_TRY(const NewTopic topic, new_topic(spec));
  const std::string doing = fmt::format("making topic '{}'", spec.name);
  const AdminOptions options(rd_kafka_AdminOptions_new(client.get(), RD_KAFKA_ADMIN_OP_CREATETOPICS));
  std::array<char, 512> text{};
  rd_kafka_AdminOptions_set_request_timeout(options.get(), milliseconds(limit, 1), text.data(), text.size());
  const Queue queue(rd_kafka_queue_new(client.get()));
  rd_kafka_NewTopic_t* raw = topic.get();
  rd_kafka_CreateTopics(client.get(), &raw, 1, options.get(), queue.get());
  const Event event(rd_kafka_queue_poll(queue.get(), milliseconds(limit, 1) + 1000));
  if (!event) return client.error(RD_KAFKA_RESP_ERR__TIMED_OUT, doing);
  if (const auto code = rd_kafka_event_error(event.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return kafka_error(code, doing, rd_kafka_event_error_string(event.get()));
  std::size_t count = 0;
  const auto* results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto code = rd_kafka_topic_result_error(results[i]);
    const char* why = rd_kafka_topic_result_error_string(results[i]);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR && code != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
      return kafka_error(code, doing, why != nullptr ? why : "");
  }
  return pilot::ok();
}

ClusterStatus status_from(const rd_kafka_metadata_t& metadata) {
  ClusterStatus status;
  for (int i = 0; i < metadata.broker_cnt; ++i) {
    const auto& broker = metadata.brokers[i];
    status.brokers.push_back({broker.id, fmt::format("{}:{}", broker.host, broker.port)});
  }
  for (int i = 0; i < metadata.topic_cnt; ++i)
    status.topics.push_back({metadata.topics[i].topic, metadata.topics[i].partition_cnt});
  std::ranges::sort(status.brokers, {}, &BrokerStatus::id);
  std::ranges::sort(status.topics, {}, &TopicStatus::name);
  return status;
}

// A broker that goes down while the request is under way breaks it, whether it was carried out or not.
pilot::Result<void> request_topic_until(const ClientHandle& client, const TopicSpec& spec,
                                        const pilot::Deadline& deadline) {
  while (true) {
    auto made = request_topic(client, spec, deadline.left());
    if (made || made.error().code != pilot::ErrorCode::unavailable || deadline.passed()) return made;
    pilot::log::info("{}; it is tried again", made.error().message);
    rd_kafka_poll(client.get(), 100);
  }
}

// Has every partition a leader?  A new topic's partitions get theirs one by one.
bool is_complete(const rd_kafka_metadata_t& metadata, const std::string& topic, int partitions) {
  for (int i = 0; i < metadata.topic_cnt; ++i) {
    const auto& found = metadata.topics[i];
    if (topic != found.topic) continue;
    const std::span all(found.partitions, static_cast<std::size_t>(found.partition_cnt));
    return found.partition_cnt >= partitions &&
           std::ranges::all_of(all, [](const auto& partition) { return partition.leader >= 0; });
  }
  return false;
}

}  // namespace

const TopicStatus* ClusterStatus::find_topic(const std::string& name) const {
  const auto found = std::ranges::find(topics, name, &TopicStatus::name);
  return found == topics.end() ? nullptr : &*found;
}

struct Admin::Impl {
  std::unique_ptr<ClientHandle> client;
};

Admin::Admin(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Admin::~Admin() = default;
Admin::Admin(Admin&&) noexcept = default;
Admin& Admin::operator=(Admin&&) noexcept = default;

pilot::Result<Admin> Admin::make(const ClientConfig& config) {
  const Properties ours{{"client.id", "miniapp-admin"}, {"reconnect.backoff.max.ms", "1000"}};
  PILOT_TRY(auto client,
            ClientHandle::make(RD_KAFKA_PRODUCER, config, ours, {}, std::make_unique<ClientEvents>()));
  return Admin(std::make_unique<Impl>(Impl{std::move(client)}));
}

pilot::Result<ClusterStatus> Admin::describe(pilot::Duration limit) {
  PILOT_TRY(const auto metadata, impl_->client->metadata(limit));
  return status_from(*metadata);
}

pilot::Result<TopicStatus> Admin::describe_topic(const std::string& name, pilot::Duration limit) {
  PILOT_TRY(const int partitions, impl_->client->partitions(name, limit));
  return TopicStatus{name, partitions};
}

pilot::Result<TopicStatus> Admin::create_topic(const TopicSpec& spec, pilot::Duration limit) {
  const pilot::Deadline deadline(pilot::system_clock(), limit);
  PILOT_TRY_VOID(impl_->client->metadata(deadline.left()));  // says why when no broker answers
  PILOT_TRY_VOID(request_topic_until(*impl_->client, spec, deadline));
  const int least = spec.exact ? spec.partitions : 1;
  while (true) {
    PILOT_TRY(const auto metadata, impl_->client->metadata(deadline.left()));
    if (is_complete(*metadata, spec.name, least)) break;
    const auto seen = partitions_of(*metadata, spec.name);
    if (seen && seen.value() < least)
      return pilot::make_error(pilot::ErrorCode::usage,
                               fmt::format("topic '{}' exists with {} partitions, not {}", spec.name,
                                           seen.value(), spec.partitions),
                               "give another --topic, or leave --partitions away");
    if (deadline.passed())
      return pilot::make_error(
          pilot::ErrorCode::timed_out,
          fmt::format("topic '{}' was made, but not all partitions have a leader", spec.name));
    rd_kafka_poll(impl_->client->get(), 20);
  }
  return describe_topic(spec.name, deadline.left());
}

}  // namespace miniapps::transports::kafka
