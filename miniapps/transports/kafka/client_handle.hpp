// One librdkafka client: its life, its settings, and the last thing it complained about.  Private to
// this folder.
#pragma once

#include <librdkafka/rdkafka.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "miniapps/transports/kafka/client_config.hpp"
#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::transports::kafka {

struct Complaint {
  rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
  std::string reason;
};

// What librdkafka calls back; set before make().  All are called inside polls of the owner's thread.
struct ClientEvents {
  std::function<void(const rd_kafka_message_t&)> on_delivery;
  std::function<void(rd_kafka_resp_err_t, rd_kafka_topic_partition_list_t*)> on_rebalance;
  std::function<void(rd_kafka_resp_err_t, const rd_kafka_topic_partition_list_t*)>
      on_commit;  // list: may be null

  void complain(rd_kafka_resp_err_t told, std::string_view reason);
  std::optional<Complaint> last_complaint() const;

 private:
  mutable std::mutex mutex_;
  std::optional<Complaint> last_;
};

using Properties = std::map<std::string, std::string>;

class ClientHandle {
 public:
  // `ours` are this transport's settings; what `config` says wins, except for `fixed`, which our
  // guarantees rest on: another value there is refused.  Errors: usage.
  static pilot::Result<std::unique_ptr<ClientHandle>> make(rd_kafka_type_t type, const ClientConfig& config,
                                                           const Properties& ours, const Properties& fixed,
                                                           std::unique_ptr<ClientEvents> events);
  ~ClientHandle();
  ClientHandle(const ClientHandle&) = delete;
  ClientHandle& operator=(const ClientHandle&) = delete;

  rd_kafka_t* get() const { return client_; }
  const ClientEvents& events() const { return *events_; }
  const std::string& bootstrap() const { return bootstrap_; }

  // The error for `code`, with the last complaint as its reason where `code` itself says little.
  pilot::Error error(rd_kafka_resp_err_t code, std::string_view doing) const;

  struct MetadataDeleter {
    void operator()(const rd_kafka_metadata_t* metadata) const { rd_kafka_metadata_destroy(metadata); }
  };
  using Metadata = std::unique_ptr<const rd_kafka_metadata_t, MetadataDeleter>;

  // Brokers and all topics.  (Asking for one topic by name would create it on some clusters.)  Waits
  // for a broker, but not when the login was refused.  Errors: unavailable.
  pilot::Result<Metadata> metadata(pilot::Duration limit);

  // The number of a topic's partitions.  Brokers learn of a new topic one after the other, so when one does
  // not know it, another is asked for a moment.  Errors: unavailable, not_found with a suggestion.
  pilot::Result<int> partitions(const std::string& topic, pilot::Duration limit);

 private:
  ClientHandle(rd_kafka_t* client, std::unique_ptr<ClientEvents> events, std::string bootstrap);

  rd_kafka_t* client_;
  std::unique_ptr<ClientEvents> events_;
  std::string bootstrap_;
};

// Milliseconds for librdkafka's calls, at least `least`.
int milliseconds(pilot::Duration duration, int least = 0);

// The topic's number of partitions in `metadata`, or not_found with a suggestion.
pilot::Result<int> partitions_of(const rd_kafka_metadata_t& metadata, const std::string& topic);

}  // namespace miniapps::transports::kafka
