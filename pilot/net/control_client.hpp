// A node agent's or a command's end of the control plane: a ZeroMQ DEALER with CURVE, which connects
// again by itself after the head was restarted at the same endpoint.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pilot/base/event_loop.hpp"
#include "pilot/base/result.hpp"
#include "pilot/net/curve.hpp"

namespace pilot::net {

class ZmqContext;

class ControlClient {
 public:
  using Handler = std::function<void(std::string message)>;

  // Connects in the background; `server_key` is the public key that the server must prove to hold.  A process
  // with many clients gives them a context to share (about a thousand each).
  ControlClient(EventLoop& loop, const std::string& endpoint, const std::string& server_key,
                const CurveKeyPair& keys, Handler handler, std::shared_ptr<ZmqContext> context = nullptr);
  ~ControlClient();

  // Queues a message (at most 10,000 while not connected, then the newest are dropped).
  void send(const std::string& message);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One request, one answer, for commands: sends `message` and waits for the first answer.
// Errors: unavailable, when none came within `timeout`.
Result<std::string> ask(const std::string& endpoint, const std::string& server_key, const CurveKeyPair& keys,
                        const std::string& message, Duration timeout);

}  // namespace pilot::net
