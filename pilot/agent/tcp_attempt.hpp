// One try to connect to a TCP port, to learn whether somebody listens.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "pilot/base/event_loop.hpp"
#include "pilot/base/result.hpp"

namespace pilot::agent {

class TcpAttempt {
 public:
  // Calls `on_end` once, from the loop, within about a second.  `address` is numeric, IPv4 or IPv6.
  // Errors: unavailable ("cannot connect to 127.0.0.1:9092: Connection refused"), usage (the address).
  TcpAttempt(EventLoop& loop, const std::string& address, std::uint16_t port,
             std::function<void(Result<void>)> on_end);
  ~TcpAttempt();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pilot::agent
