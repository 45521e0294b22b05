// One ZeroMQ socket on an event loop.  Its file descriptor is edge-triggered: it tells that something
// changed, not that there is something, so after each wake-up, and after each send, the socket is read
// until nothing is left.  This wrapper is the one place that knows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pilot/base/event_loop.hpp"

namespace pilot::net {

// The threads that do the sockets' work, ended by the destructor.  Sockets keep them alive.
class ZmqContext {
 public:
  explicit ZmqContext(int io_threads = 1);
  ~ZmqContext();
  ZmqContext(const ZmqContext&) = delete;
  ZmqContext& operator=(const ZmqContext&) = delete;
  void* get() const { return context_; }

 private:
  void* context_;
};

class ZmqSocket {
 public:
  using Frames = std::vector<std::string>;

  ZmqSocket(std::shared_ptr<ZmqContext> context, int type);
  ~ZmqSocket();
  ZmqSocket(const ZmqSocket&) = delete;
  ZmqSocket& operator=(const ZmqSocket&) = delete;

  void set(int option, int value);
  void set(int option, const std::string& value);
  std::string get_string(int option) const;
  // The connection of a peer whose machine is gone is dropped: after ten seconds, if nothing is under way on
  // it.
  void miss_silent_peers();

  // 0, or errno of ZeroMQ.
  int bind(const std::string& endpoint);
  int connect(const std::string& endpoint);

  // Calls `handler` on the loop for each message that arrives.
  void receive(EventLoop& loop, std::function<void(Frames)> handler);

  // Never waits: false when the queue is full or the peer is unknown.
  bool send(const Frames& frames);

  void* get() const { return socket_; }

 private:
  void look_again();
  void drain();
  bool receive_one(Frames& frames);

  std::shared_ptr<ZmqContext> context_;
  void* socket_;
  EventLoop* loop_ = nullptr;
  std::function<void(Frames)> handler_;
  EventLoop::Handle readable_, again_;
  bool draining_ = false;
  bool looks_again_ = false;
};

}  // namespace pilot::net
