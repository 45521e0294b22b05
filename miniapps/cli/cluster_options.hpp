// Which Kafka cluster a verb speaks to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "miniapps/transports/kafka/client_config.hpp"
#include "pilot/base/result.hpp"

namespace CLI {
class App;
}

namespace miniapps::cli {

struct ClusterOptions {
  std::string pilot;                    // --pilot NAME
  std::string bootstrap;                // --bootstrap HOST:PORT
  std::string client_config;            // --client-config FILE
  std::vector<std::string> properties;  // -X key=value
};

// Adds these options to a verb.
void add_cluster_options(CLI::App& verb, ClusterOptions& options);

// The client's configuration: of the pilot, of the file, of the address, else of the environment
// (PILOT_KAFKA_CONFIG, KAFKA_BOOTSTRAP_SERVERS); -X on top.  Errors: usage, not_found (pilot, file),
// unavailable (pilot without a cluster).
pilot::Result<transports::kafka::ClientConfig> client_config(const ClusterOptions& options);

// What `pilot env NAME --json` printed -> configuration.  Errors: usage.
pilot::Result<transports::kafka::ClientConfig> client_config_of_pilot(const std::string& name,
                                                                      const std::string& json);

// The `pilot` beside this program, or the name alone, to be found on PATH.
std::filesystem::path pilot_program();

}  // namespace miniapps::cli
