// Where the head agent is spoken to: over the network, and by files in the pilot's folder for clients that
// the network does not lead to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "pilot/agent/client_requests.hpp"
#include "pilot/agent/head_output.hpp"
#include "pilot/base/event_loop.hpp"
#include "pilot/base/result.hpp"
#include "pilot/model/pilot_spec.hpp"
#include "pilot/net/control_server.hpp"
#include "pilot/store/mailbox.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot::agent {

class HeadServer {
 public:
  using Handler = std::function<void(const std::string& peer, model::Message message)>;

  // `handler` is called, from the loop, for each message; for one that was asked before it is not, as its
  // answer, if there is one, is sent again.
  HeadServer(EventLoop& loop, const store::PilotFolder& folder, Handler handler);

  // At `address` (empty: where the last head was, or 127.0.0.1): at the last one's port, since its nodes look
  // there, else at `port` (0: none), else at one of the network's.
  Result<void> listen(std::string address, std::uint16_t port, const model::NetworkSpec& network);
  const std::string& endpoint() const { return server_->endpoint(); }

  void begin_mail(Duration look_each);
  void end_mail() { mail_timer_.cancel(); }

  // Makes keys for these nodes and lets them in.
  Result<void> admit_nodes(int first, int nodes);

  void send(const Outgoing& outgoing);

 private:
  void receive(const std::string& peer, const std::string& text);
  void send(const std::string& peer, const std::string& text);

  EventLoop& loop_;
  store::PilotFolder folder_;
  store::Mailbox mailbox_;
  Handler handler_;
  ClientRequests requests_;
  std::unique_ptr<net::ControlServer> server_;
  EventLoop::Handle mail_timer_;
};

}  // namespace pilot::agent
