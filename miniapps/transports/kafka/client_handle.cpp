#include "miniapps/transports/kafka/client_handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "miniapps/transports/kafka/kafka_error.hpp"
#include "pilot/base/log.hpp"
#include "pilot/base/suggest.hpp"
#include "pilot/base/units.hpp"

namespace miniapps::transports::kafka {
namespace {

using ErrorText = std::array<char, 512>;

// Deleted unless a client took it over.
using Conf = std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)>;

ClientEvents& events_of(void* opaque) {
  return *static_cast<ClientEvents*>(opaque);
}

void log_line(const rd_kafka_t*, int, const char* facility, const char* text) {
  pilot::log::debug("librdkafka {}: {}", facility, text);
}

void set_callbacks(rd_kafka_conf_t* conf, ClientEvents& events) {
  rd_kafka_conf_set_opaque(conf, &events);
  rd_kafka_conf_set_log_cb(conf, log_line);
  rd_kafka_conf_set_error_cb(conf, [](rd_kafka_t*, int code, const char* reason, void* opaque) {
    events_of(opaque).complain(static_cast<rd_kafka_resp_err_t>(code), reason);
  });
  if (events.on_delivery)
    rd_kafka_conf_set_dr_msg_cb(conf, [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
      events_of(opaque).on_delivery(*message);
    });
  if (events.on_rebalance)
    rd_kafka_conf_set_rebalance_cb(
        conf, [](rd_kafka_t*, rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t* partitions,
                 void* opaque) { events_of(opaque).on_rebalance(code, partitions); });
  if (events.on_commit)
    rd_kafka_conf_set_offset_commit_cb(
        conf, [](rd_kafka_t*, rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t* offsets,
                 void* opaque) { events_of(opaque).on_commit(code, offsets); });
}

pilot::Error refused(const ClientConfig& config, const std::string& key, std::string_view why) {
  std::string hint = "the properties are librdkafka's: CONFIGURATION.md of its documentation lists them";
  if (key.find("jaas") != std::string::npos || key.find("keystore.type") != std::string::npos)
    hint =
        "this looks like a Java client's file; librdkafka wants sasl.username and sasl.password "
        "(the file in PILOT_KAFKA_CONFIG of 'pilot env')";
  return pilot::make_error(pilot::ErrorCode::usage, fmt::format("{}: '{}': {}", config.origin, key, why),
                           std::move(hint));
}

pilot::Result<void> set_properties(rd_kafka_conf_t* conf, const Properties& properties,
                                   const ClientConfig& config) {
  ErrorText text{};
  for (const auto& [key, value] : properties)
    if (rd_kafka_conf_set(conf, key.c_str(), value.c_str(), text.data(), text.size()) != RD_KAFKA_CONF_OK)
      return refused(config, key, text.data());
  return pilot::ok();
}

pilot::Result<void> check_fixed(const ClientConfig& config, const Properties& fixed) {
  for (const auto& [key, value] : fixed) {
    const auto found = config.properties.find(key);
    if (found != config.properties.end() && found->second != value)
      return refused(config, key,
                     fmt::format("has to be '{}', not '{}': counting only what was "
                                 "acknowledged once rests on it",
                                 value, found->second));
  }
  return pilot::ok();
}

}  // namespace

void ClientEvents::complain(rd_kafka_resp_err_t told, std::string_view reason) {
  const auto code = cause(told, reason);
  pilot::log::debug("kafka: {}: {}", rd_kafka_err2name(code), reason);
  const std::lock_guard lock(mutex_);
  // "all brokers are down" follows the real reason, and a refused login stays the reason.
  if (last_ && (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || is_final(last_->code))) return;
  last_ = Complaint{code, std::string(reason)};
}

std::optional<Complaint> ClientEvents::last_complaint() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

pilot::Result<std::unique_ptr<ClientHandle>> ClientHandle::make(rd_kafka_type_t type,
                                                                const ClientConfig& config,
                                                                const Properties& ours,
                                                                const Properties& fixed,
                                                                std::unique_ptr<ClientEvents> events) {
  if (!config.properties.contains("bootstrap.servers"))
    return pilot::make_error(pilot::ErrorCode::usage,
                             fmt::format("{} says no bootstrap.servers", config.origin),
                             "give --pilot NAME, --bootstrap HOST:PORT or --client-config FILE");
  PILOT_TRY_VOID(check_fixed(config, fixed));
  Conf conf(rd_kafka_conf_new(), rd_kafka_conf_destroy);
  PILOT_TRY_VOID(set_properties(conf.get(), ours, config));
  PILOT_TRY_VOID(set_properties(conf.get(), config.properties, config));
  PILOT_TRY_VOID(set_properties(conf.get(), fixed, config));
  set_callbacks(conf.get(), *events);

  ErrorText text{};
  rd_kafka_t* client = rd_kafka_new(type, conf.get(), text.data(), text.size());
  if (client == nullptr)
    return pilot::make_error(pilot::ErrorCode::usage, fmt::format("{}: {}", config.origin, text.data()));
  (void)conf.release();  // the client owns it now
  return std::unique_ptr<ClientHandle>(new ClientHandle(client, std::move(events), config.bootstrap()));
}

ClientHandle::ClientHandle(rd_kafka_t* client, std::unique_ptr<ClientEvents> events, std::string bootstrap)
    : client_(client), events_(std::move(events)), bootstrap_(std::move(bootstrap)) {}

ClientHandle::~ClientHandle() {
  rd_kafka_destroy(client_);
}

pilot::Error ClientHandle::error(rd_kafka_resp_err_t code, std::string_view doing) const {
  const auto complaint = events_->last_complaint();
  const bool vague = code == RD_KAFKA_RESP_ERR__TIMED_OUT || code == RD_KAFKA_RESP_ERR__TRANSPORT ||
                     code == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT || code == RD_KAFKA_RESP_ERR__FATAL ||
                     code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
  if (!vague) return kafka_error(code, doing, {});
  if (!complaint) return kafka_error(RD_KAFKA_RESP_ERR__TIMED_OUT, doing, "no broker answered in time");
  return kafka_error(complaint->code, doing, complaint->reason);
}

pilot::Result<ClientHandle::Metadata> ClientHandle::metadata(pilot::Duration limit) {
  const std::string doing = fmt::format("connecting to Kafka at {}", bootstrap_);
  const pilot::Deadline deadline(pilot::system_clock(), limit);
  const pilot::Deadline patience(pilot::system_clock(), std::chrono::seconds(2));
  bool told = false;
  while (true) {
    const rd_kafka_metadata_t* found = nullptr;
    const int wait_ms = std::min(milliseconds(deadline.left(), 1), 250);
    const auto code = rd_kafka_metadata(client_, 1, nullptr, &found, wait_ms);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return Metadata(found);
    rd_kafka_poll(client_, 0);  // hands over the complaints
    const auto complaint = events_->last_complaint();
    if (complaint && is_final(complaint->code)) return kafka_error(complaint->code, doing, complaint->reason);
    if (deadline.passed()) return error(code, doing);
    if (patience.passed() && !std::exchange(told, true))
      pilot::log::warning("{}; waiting up to {}", error(code, doing).message, pilot::format_duration(limit));
    // A refused connection is answered at once: librdkafka tries again in its own time.
    rd_kafka_poll(client_, std::min(milliseconds(deadline.left()), 50));
  }
}

pilot::Result<int> ClientHandle::partitions(const std::string& topic, pilot::Duration limit) {
  const pilot::Deadline deadline(pilot::system_clock(), limit);
  PILOT_TRY(auto all, metadata(limit));
  const pilot::Deadline settled(pilot::system_clock(), std::chrono::seconds(2));
  while (true) {
    auto found = partitions_of(*all, topic);
    if (found || settled.passed() || deadline.passed()) return found;
    rd_kafka_poll(client_, 100);
    PILOT_TRY(all, metadata(deadline.left()));
  }
}

int milliseconds(pilot::Duration duration, int least) {
  const auto count = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  return static_cast<int>(std::clamp<std::int64_t>(count, least, 24LL * 3600 * 1000));
}

pilot::Result<int> partitions_of(const rd_kafka_metadata_t& metadata, const std::string& topic) {
  std::vector<std::string> names;
  for (int i = 0; i < metadata.topic_cnt; ++i) {
    const auto& found = metadata.topics[i];
    if (topic == found.topic && found.partition_cnt > 0) return found.partition_cnt;
    if (std::string_view(found.topic).substr(0, 2) != "__") names.emplace_back(found.topic);
  }
  return pilot::make_error(pilot::ErrorCode::not_found, fmt::format("there is no topic '{}'", topic),
                           names.empty() ? "the cluster has no topics yet; a source makes its topic"
                                         : pilot::suggestion(topic, names));
}

}  // namespace miniapps::transports::kafka
