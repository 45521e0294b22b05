// How to reach a cluster and log in to it, from the settings that librdkafka takes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pilot/base/result.hpp"

namespace pilot::adaptors::kafka::protocol {

struct Endpoint {
  std::string host;  // without brackets
  int port = 0;
  std::string text() const;  // "10.0.0.1:9092", "[::1]:9092"
};

struct Access {
  std::vector<Endpoint> bootstrap;
  bool tls = false;
  std::string ca;          // PEM file or folder; empty: the system's
  bool check_host = true;  // the certificate is the host's
  bool login = false;      // SASL PLAIN
  std::string user;
  std::string password;
};

// Knows bootstrap.servers (or metadata.broker.list), security.protocol, sasl.mechanisms (sasl.mechanism),
// sasl.username, sasl.password, ssl.ca.location, ssl.endpoint.identification.algorithm; others are of no
// concern here.  Errors: usage, naming the setting and never a password.
Result<Access> access_from(const std::vector<std::pair<std::string, std::string>>& settings);

// "host:port", "[::1]:9092", "SASL_SSL://host:port".  Errors: usage.
Result<Endpoint> parse_endpoint(const std::string& text);

}  // namespace pilot::adaptors::kafka::protocol
