#include "miniapps/transports/kafka/mock_cluster.hpp"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <cstdlib>
#include <vector>

namespace miniapps::transports::kafka {

struct MockCluster::Impl {
  rd_kafka_t* client = nullptr;
  rd_kafka_mock_cluster_t* cluster = nullptr;
};

MockCluster::MockCluster(int brokers) : impl_(std::make_unique<Impl>()) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set_log_cb(conf, nullptr);
  impl_->client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, nullptr, 0);
  impl_->cluster = rd_kafka_mock_cluster_new(impl_->client, brokers);
  if (impl_->cluster == nullptr) std::abort();
}

MockCluster::~MockCluster() {
  rd_kafka_mock_cluster_destroy(impl_->cluster);
  rd_kafka_destroy(impl_->client);
}

ClientConfig MockCluster::config() const {
  return plain_client_config(rd_kafka_mock_cluster_bootstraps(impl_->cluster));
}

void MockCluster::make_topic(const std::string& name, int partitions) {
  rd_kafka_mock_topic_create(impl_->cluster, name.c_str(), partitions, 1);
}

void MockCluster::fail_produce(int code, int count) {
  constexpr std::int16_t produce_request = 0;
  const std::vector<rd_kafka_resp_err_t> codes(static_cast<std::size_t>(count),
                                               static_cast<rd_kafka_resp_err_t>(code));
  rd_kafka_mock_push_request_errors_array(impl_->cluster, produce_request, codes.size(), codes.data());
}

void MockCluster::deny_topic(const std::string& name, int code) {
  rd_kafka_mock_topic_set_error(impl_->cluster, name.c_str(), static_cast<rd_kafka_resp_err_t>(code));
}

void MockCluster::set_broker_down(int id) {
  rd_kafka_mock_broker_set_down(impl_->cluster, id);
}
void MockCluster::set_broker_up(int id) {
  rd_kafka_mock_broker_set_up(impl_->cluster, id);
}

}  // namespace miniapps::transports::kafka
