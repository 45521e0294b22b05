#include "adaptors/framework/kafka/tool/client.hpp"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <functional>
#include <mutex>

#include "adaptors/framework/kafka/tool/properties.hpp"

namespace pilot::adaptors::kafka {

struct Client::Causes {
  mutable std::mutex mutex;
  std::string last;
  bool final = false;  // trying again will not help
};

namespace {

struct Free {
  void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
  void operator()(const rd_kafka_metadata_t* metadata) const { rd_kafka_metadata_destroy(metadata); }
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
  void operator()(rd_kafka_NewTopic_t* topic) const { rd_kafka_NewTopic_destroy(topic); }
  void operator()(rd_kafka_NewPartitions_t* partitions) const { rd_kafka_NewPartitions_destroy(partitions); }
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
  void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
  void operator()(rd_kafka_AdminOptions_t* options) const { rd_kafka_AdminOptions_destroy(options); }
};

template <typename T>
using Owned = std::unique_ptr<T, Free>;

int milliseconds(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

// "sasl_plaintext://10.0.0.1:9092/bootstrap: Connect to ... failed: Connection refused (after 0ms in state
// CONNECT)": the part between the broker's name and the parenthesis.
std::string plain_reason(const std::string& text) {
  auto reason = text.substr(0, text.find(" (after "));
  const auto slash = reason.find('/', reason.find("://") == std::string::npos ? 0 : reason.find("://") + 3);
  const auto colon = reason.find(": ");
  if (slash != std::string::npos && colon != std::string::npos && slash < colon)
    reason = reason.substr(colon + 2);
  return reason;
}

Error setting_error(const std::string& file, const char* why) {
  return make_error(ErrorCode::usage, fmt::format("librdkafka refuses a setting of '{}': {}", file, why));
}

// A broker's refusal, with what may be done about it.
Error refusal(rd_kafka_resp_err_t error, std::string message) {
  while (!message.empty() && message.back() == '.') message.pop_back();
  switch (error) {
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
      return make_error(ErrorCode::usage, std::move(message),
                        "--replicas takes at most the number of brokers; 'pilot extend' brings more");
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
      return make_error(ErrorCode::usage, std::move(message),
                        "names have up to 249 letters, digits, '.', '_' and '-'");
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
      return make_error(ErrorCode::usage, std::move(message), "--partitions takes a number from 1");
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
      return make_error(ErrorCode::usage, std::move(message),
                        "--set takes settings of topics: retention.ms=60000");
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
      return make_error(ErrorCode::usage, std::move(message));
    case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
      return make_error(ErrorCode::failed, std::move(message),
                        "--if-absent takes one that is there for success");
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
      return make_error(ErrorCode::not_found, std::move(message));
    default:
      return make_error(ErrorCode::failed, std::move(message));
  }
}

TopicInfo topic_info(const rd_kafka_metadata_topic_t& from) {
  TopicInfo topic;
  topic.name = from.topic;
  topic.missing = from.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
  if (from.err != RD_KAFKA_RESP_ERR_NO_ERROR) topic.error = rd_kafka_err2str(from.err);
  for (int i = 0; i < from.partition_cnt; ++i) {
    const auto& p = from.partitions[i];
    topic.partitions.push_back(
        {p.id, p.leader, {p.replicas, p.replicas + p.replica_cnt}, {p.isrs, p.isrs + p.isr_cnt}});
  }
  std::sort(topic.partitions.begin(), topic.partitions.end(), [](auto& a, auto& b) { return a.id < b.id; });
  return topic;
}

Metadata metadata_info(const rd_kafka_metadata_t& from) {
  Metadata metadata;
  // "sasl_plaintext://10.0.0.1:9092/bootstrap" -> "10.0.0.1:9092"
  std::string name = from.orig_broker_name == nullptr ? "" : from.orig_broker_name;
  if (const auto scheme = name.find("://"); scheme != std::string::npos) name = name.substr(scheme + 3);
  metadata.answered_by = name.substr(0, name.find('/'));
  for (int i = 0; i < from.broker_cnt; ++i) {
    metadata.brokers.push_back({from.brokers[i].id, from.brokers[i].host, from.brokers[i].port});
  }
  std::sort(metadata.brokers.begin(), metadata.brokers.end(), [](auto& a, auto& b) { return a.id < b.id; });
  for (int i = 0; i < from.topic_cnt; ++i) metadata.topics.push_back(topic_info(from.topics[i]));
  return metadata;
}

}  // namespace

Client::Client(Client&& other) noexcept
    : causes_(std::move(other.causes_)), handle_(std::exchange(other.handle_, nullptr)) {}

Client& Client::operator=(Client&& other) noexcept {
  std::swap(causes_, other.causes_);
  std::swap(handle_, other.handle_);
  return *this;
}

Client::~Client() {
  if (handle_ != nullptr) rd_kafka_destroy(handle_);
}

Result<Client> Client::open(const std::string& config,
                            const std::vector<std::pair<std::string, std::string>>& overrides) {
  PILOT_TRY(auto settings, read_properties(config));
  settings.insert(settings.end(), overrides.begin(), overrides.end());
  Owned<rd_kafka_conf_t> conf(rd_kafka_conf_new());
  char why[512];
  for (const auto& [key, value] : settings) {
    if (rd_kafka_conf_set(conf.get(), key.c_str(), value.c_str(), why, sizeof why) != RD_KAFKA_CONF_OK) {
      return setting_error(config, why);
    }
  }
  Client client;
  client.causes_ = std::make_unique<Causes>();
  rd_kafka_conf_set_opaque(conf.get(), client.causes_.get());
  rd_kafka_conf_set_log_cb(conf.get(), nullptr);
  rd_kafka_conf_set_error_cb(conf.get(), [](rd_kafka_t*, int code, const char* reason, void* opaque) {
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) return;  // says nothing that the one before did not
    auto& causes = *static_cast<Causes*>(opaque);
    const std::lock_guard lock(causes.mutex);
    causes.last = plain_reason(reason);
    causes.final = causes.final || code == RD_KAFKA_RESP_ERR__AUTHENTICATION;
  });
  client.handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf.get(), why, sizeof why);
  if (client.handle_ == nullptr) return setting_error(config, why);
  (void)conf.release();  // now the handle's
  return client;
}

void Client::poll(Duration limit) {
  rd_kafka_poll(handle_, milliseconds(limit));
}

std::string Client::last_cause() const {
  const std::lock_guard lock(causes_->mutex);
  return causes_->last;
}

Error Client::time_out(const std::string& what) const {
  const auto cause = last_cause();
  return make_error(ErrorCode::timed_out, cause.empty() ? what : fmt::format("{}: {}", what, cause));
}

Result<Metadata> Client::metadata(const std::string& name, const Deadline& deadline) {
  Owned<rd_kafka_topic_t> topic;
  if (!name.empty() && name != "*") topic.reset(rd_kafka_topic_new(handle_, name.c_str(), nullptr));
  // In slices, because a refused password does not end the call.
  constexpr Duration slice = std::chrono::milliseconds(100);
  while (true) {
    const rd_kafka_metadata_t* raw = nullptr;
    const auto error = rd_kafka_metadata(handle_, name == "*", topic.get(), &raw,
                                         std::max(1, milliseconds(std::min(slice, deadline.left()))));
    const Owned<const rd_kafka_metadata_t> metadata(raw);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return metadata_info(*metadata);
    poll(Duration{0});
    if (causes_->final) return make_error(ErrorCode::failed, last_cause());
    if (error != RD_KAFKA_RESP_ERR__TIMED_OUT && error != RD_KAFKA_RESP_ERR__TRANSPORT) {
      return make_error(ErrorCode::failed, rd_kafka_err2str(error));
    }
    if (deadline.passed()) return time_out("no answer to a request for metadata");
  }
}

// One of librdkafka's requests for one topic: how it is sent, and where in the answer its result stands.
struct Client::TopicChange {
  std::string what;  // "creating topic 'x'"
  rd_kafka_admin_op_t operation;
  std::function<void(rd_kafka_AdminOptions_t*, rd_kafka_queue_t*)> send;
  std::function<const rd_kafka_topic_result_t**(rd_kafka_event_t*, std::size_t*)> results;
};

Result<void> Client::change_topic(const TopicChange& change, const Deadline& deadline, bool& exists) {
  exists = false;
  char why[512];
  const Owned<rd_kafka_AdminOptions_t> options(rd_kafka_AdminOptions_new(handle_, change.operation));
  rd_kafka_AdminOptions_set_request_timeout(options.get(), std::max(1, milliseconds(deadline.left())), why,
                                            sizeof why);
  const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(handle_));
  change.send(options.get(), queue.get());
  const Owned<rd_kafka_event_t> event(
      rd_kafka_queue_poll(queue.get(), std::max(1, milliseconds(deadline.left())) + 100));
  poll(Duration{0});
  if (!event) return time_out(change.what + ": no answer in time");
  if (const auto error = rd_kafka_event_error(event.get()); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (error == RD_KAFKA_RESP_ERR__TIMED_OUT) return time_out(change.what + ": no answer in time");
    return make_error(ErrorCode::failed,
                      fmt::format("{}: {}", change.what, rd_kafka_event_error_string(event.get())));
  }
  std::size_t count = 0;
  const auto* const* results = change.results(event.get(), &count);
  if (count != 1) {
    return make_error(ErrorCode::failed,
                      fmt::format("{}: the broker answered for {} topics", change.what, count));
  }
  const auto error = rd_kafka_topic_result_error(results[0]);
  exists = error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS;
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return ok();
  const char* text = rd_kafka_topic_result_error_string(results[0]);
  return refusal(error, fmt::format("{}: {}", change.what, text != nullptr ? text : rd_kafka_err2str(error)));
}

Result<void> Client::create(const NewTopic& wish, const Deadline& deadline, bool& exists) {
  char why[512];
  const Owned<rd_kafka_NewTopic_t> topic(
      rd_kafka_NewTopic_new(wish.name.c_str(), wish.partitions, wish.replicas, why, sizeof why));
  if (!topic) return make_error(ErrorCode::usage, why);
  for (const auto& [key, value] : wish.config)
    rd_kafka_NewTopic_set_config(topic.get(), key.c_str(), value.c_str());
  auto* list = topic.get();
  return change_topic(
      {fmt::format("creating topic '{}'", wish.name), RD_KAFKA_ADMIN_OP_CREATETOPICS,
       [&](auto* options, auto* queue) { rd_kafka_CreateTopics(handle_, &list, 1, options, queue); },
       [](auto* event, auto* count) {
         return rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), count);
       }},
      deadline, exists);
}

Result<void> Client::grow(const std::string& name, int partitions, const Deadline& deadline) {
  char why[512];
  const Owned<rd_kafka_NewPartitions_t> wish(
      rd_kafka_NewPartitions_new(name.c_str(), static_cast<std::size_t>(partitions), why, sizeof why));
  if (!wish) return make_error(ErrorCode::usage, why);
  auto* list = wish.get();
  bool exists = false;
  return change_topic(
      {fmt::format("growing topic '{}'", name), RD_KAFKA_ADMIN_OP_CREATEPARTITIONS,
       [&](auto* options, auto* queue) { rd_kafka_CreatePartitions(handle_, &list, 1, options, queue); },
       [](auto* event, auto* count) {
         return rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event), count);
       }},
      deadline, exists);
}

}  // namespace pilot::adaptors::kafka
