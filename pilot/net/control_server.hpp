// The head agent's end of the control plane: a ZeroMQ ROUTER with CURVE.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "pilot/base/event_loop.hpp"
#include "pilot/base/result.hpp"
#include "pilot/net/curve.hpp"

namespace pilot::net {

// Whom a message came from; answers go back to it.  Opaque.
using PeerId = std::string;

class ControlServer {
 public:
  using Handler = std::function<void(const PeerId& peer, std::string message)>;

  // Listens on "tcp://ADDRESS:PORT" (port 0: one of the range first..last).  Peers whose public key is not in
  // `allowed` are refused in the handshake (ZAP).  Errors: failed ("address in use" ...).
  static Result<std::unique_ptr<ControlServer>> listen(EventLoop& loop, const std::string& address,
                                                       std::uint16_t first_port, std::uint16_t last_port,
                                                       const CurveKeyPair& keys,
                                                       std::set<std::string> allowed, Handler handler);
  ~ControlServer();

  // Whom to let in from now on, instead of those before.
  void allow(std::set<std::string> public_keys);

  const std::string& endpoint() const;  // "tcp://127.77.1.2:20011"

  // Queues a message; to a peer that is gone it is dropped, as on any network.
  void send(const PeerId& peer, const std::string& message);

 private:
  ControlServer();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pilot::net
