// How to reach a Kafka cluster: librdkafka's properties, and where they came from.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "pilot/base/result.hpp"

namespace miniapps::transports::kafka {

struct ClientConfig {
  std::map<std::string, std::string> properties;  // "bootstrap.servers", "sasl.password", ...
  std::string origin;                             // for messages: "pilot 'demo'", "/x/librdkafka.conf"

  // "127.0.0.1:9092", or "(no bootstrap.servers)".
  std::string bootstrap() const;
};

// A file of `key=value` lines; '#' begins a comment.  Errors: not_found; usage with file:line.
pilot::Result<ClientConfig> read_client_config(const std::filesystem::path& path);

// The same from text; `origin` stands for the file's name in messages.
pilot::Result<ClientConfig> parse_client_config(const std::string& text, const std::string& origin);

// A cluster without login: `bootstrap` is "host:port[,host:port ...]".
ClientConfig plain_client_config(const std::string& bootstrap);

// Sets one "key=value" on top.  Errors: usage.
pilot::Result<void> set_property(ClientConfig& config, const std::string& key_value);

}  // namespace miniapps::transports::kafka
