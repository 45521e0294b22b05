// The texts that servers and clients read.  Secrets stand in them as placeholders.
#pragma once

#include <string>
#include <vector>

#include "adaptors/framework/kafka/options.hpp"
#include "adaptors/framework/kafka/placement.hpp"
#include "pilot/model/service_spec.hpp"

namespace pilot::adaptors::kafka {

struct Cluster {
  Options options;
  Placement placement;
  bool encrypt = false;
  std::string id;       // Kafka's cluster id
  std::string version;  // of Kafka: "4.3.1"

  // "10.0.0.1:20001,10.0.0.2:20001"
  std::string bootstrap_servers() const;
  bool is_at_least(int major, int minor) const;  // its version; no, when it is unknown
};

// Where a server's logs are; the first is also that of the cluster's metadata.
std::vector<std::string> data_folders(const Cluster& cluster, const Server& server);

// server.properties of a controller or a broker.
std::string controller_properties(const Cluster& cluster, const Server& server);
std::string broker_properties(const Cluster& cluster, const Server& server);

// With TLS: the server's key with its certificate, and the CA's certificate.
std::vector<model::FileSpec> tls_files(const Cluster& cluster, const Server& server);

// A client's settings for Java and for librdkafka; `ca` is the path of the CA's certificate.
std::string java_client_properties(const Cluster& cluster, const std::string& ca);
std::string librdkafka_properties(const Cluster& cluster, const std::string& ca);

// The configuration of the servers' log: share/log4j2.properties.
std::string_view log4j2_properties();

}  // namespace pilot::adaptors::kafka
