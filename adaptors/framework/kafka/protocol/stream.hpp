// A TCP connection, in TLS when asked for, whose every step ends at a deadline.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "adaptors/framework/kafka/protocol/access.hpp"
#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"

namespace pilot::adaptors::kafka::protocol {

class Stream {
 public:
  // Errors: unavailable (refused, unreachable, closed), timed_out, failed (TLS: in OpenSSL's words).
  static Result<std::unique_ptr<Stream>> open(const Endpoint& endpoint, const Access& access,
                                              const Deadline& deadline);
  virtual ~Stream() = default;

  virtual Result<void> write(std::string_view bytes, const Deadline& deadline) = 0;
  virtual Result<std::string> read(std::size_t bytes, const Deadline& deadline) = 0;  // exactly so many
};

// TLS over a connected, non-blocking socket, which it owns from now on.
Result<std::unique_ptr<Stream>> open_tls(int socket, const Endpoint& endpoint, const Access& access,
                                         const Deadline& deadline);

// Waits until the socket is ready for poll()'s `events`.  Errors: timed_out; failed.
Result<void> wait_for(int socket, short events, const Deadline& deadline);

}  // namespace pilot::adaptors::kafka::protocol
