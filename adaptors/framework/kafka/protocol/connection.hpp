// A logged-in connection to one broker: one request, one answer, each within its deadline.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "adaptors/framework/kafka/protocol/messages.hpp"
#include "adaptors/framework/kafka/protocol/stream.hpp"

namespace pilot::adaptors::kafka::protocol {

class Connection {
 public:
  // Connects, asks for the versions that the broker speaks, logs in.  Errors: those of Stream::open;
  // failed (wrong password, in the broker's words).  All name the endpoint.
  static Result<Connection> open(const Endpoint& endpoint, const Access& access, const Deadline& deadline);

  // The body of the answer.  After any error but a refused version the connection is of no use any more.
  // Errors: timed_out, unavailable; failed, when the broker does not speak the version or the answer is
  // malformed.
  Result<std::string> call(const Api& api, const std::string& body, const Deadline& deadline);

 private:
  Connection(std::unique_ptr<Stream> stream, std::string name)
      : stream_(std::move(stream)), name_(std::move(name)) {}
  Result<void> log_in(const Access& access, const Deadline& deadline);
  Result<std::string> exchange(const Api& api, const std::string& body, const Deadline& deadline);

  std::unique_ptr<Stream> stream_;
  std::string name_;
  std::map<std::int16_t, VersionRange> versions_;
  std::int32_t correlation_ = 0;
};

}  // namespace pilot::adaptors::kafka::protocol
