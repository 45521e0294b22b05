#include "pilot/net/socket.hpp"

#include <zmq.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <utility>

namespace pilot::net {
namespace {

// A burst is handled in pieces, so that timers and other descriptors of the loop get their turn.
constexpr int messages_per_turn = 256;

void check(int result, const char* what) {
  if (result != 0) throw std::logic_error(std::string(what) + ": " + zmq_strerror(zmq_errno()));
}

}  // namespace

ZmqContext::ZmqContext(int io_threads) : context_(zmq_ctx_new()) {
  if (context_ == nullptr) throw std::bad_alloc();
  check(zmq_ctx_set(context_, ZMQ_IO_THREADS, io_threads), "zmq_ctx_set");
}

ZmqContext::~ZmqContext() {
  while (zmq_ctx_term(context_) != 0 && zmq_errno() == EINTR) {
  }
}

ZmqSocket::ZmqSocket(std::shared_ptr<ZmqContext> context, int type)
    : context_(std::move(context)), socket_(zmq_socket(context_->get(), type)) {
  if (socket_ == nullptr) throw std::runtime_error(std::string("zmq_socket: ") + zmq_strerror(zmq_errno()));
}

ZmqSocket::~ZmqSocket() {
  readable_.cancel();
  again_.cancel();
  zmq_close(socket_);
}

void ZmqSocket::set(int option, int value) {
  check(zmq_setsockopt(socket_, option, &value, sizeof value), "zmq_setsockopt");
}

void ZmqSocket::set(int option, const std::string& value) {
  check(zmq_setsockopt(socket_, option, value.data(), value.size()), "zmq_setsockopt");
}

// By the kernel and not by ZeroMQ's heartbeats: those are messages, and whatever answers them cancels a
// timer, which ZeroMQ looks for among the timers of all connections.
void ZmqSocket::miss_silent_peers() {
  set(ZMQ_TCP_KEEPALIVE, 1);
  set(ZMQ_TCP_KEEPALIVE_IDLE, 4);   // seconds
  set(ZMQ_TCP_KEEPALIVE_INTVL, 2);  // seconds
  set(ZMQ_TCP_KEEPALIVE_CNT, 3);
}

std::string ZmqSocket::get_string(int option) const {
  char text[256];
  std::size_t length = sizeof text;
  check(zmq_getsockopt(socket_, option, text, &length), "zmq_getsockopt");
  return std::string(text, length > 0 ? length - 1 : 0);
}

int ZmqSocket::bind(const std::string& endpoint) {
  return zmq_bind(socket_, endpoint.c_str()) == 0 ? 0 : zmq_errno();
}

int ZmqSocket::connect(const std::string& endpoint) {
  return zmq_connect(socket_, endpoint.c_str()) == 0 ? 0 : zmq_errno();
}

void ZmqSocket::receive(EventLoop& loop, std::function<void(Frames)> handler) {
  loop_ = &loop;
  handler_ = std::move(handler);
  int fd = -1;
  std::size_t length = sizeof fd;
  check(zmq_getsockopt(socket_, ZMQ_FD, &fd, &length), "zmq_getsockopt");
  readable_ = loop.on_readable(fd, [this] { drain(); });
  look_again();  // for what came before the first wake-up
}

bool ZmqSocket::receive_one(Frames& frames) {
  frames.clear();
  for (;;) {
    zmq_msg_t part;
    zmq_msg_init(&part);
    if (zmq_msg_recv(&part, socket_, ZMQ_DONTWAIT) < 0) {
      zmq_msg_close(&part);
      return false;
    }
    frames.emplace_back(static_cast<const char*>(zmq_msg_data(&part)), zmq_msg_size(&part));
    const bool more = zmq_msg_more(&part) != 0;
    zmq_msg_close(&part);
    if (!more) return true;
  }
}

void ZmqSocket::look_again() {
  if (std::exchange(looks_again_, true)) return;
  again_ = loop_->after(Duration{0}, [this] {
    looks_again_ = false;
    drain();
  });
}

void ZmqSocket::drain() {
  if (draining_ || !handler_) return;
  draining_ = true;
  Frames frames;
  int handled = 0;
  while (handled < messages_per_turn && receive_one(frames)) {
    ++handled;
    handler_(std::move(frames));
  }
  draining_ = false;
  if (handled == messages_per_turn) look_again();
}

bool ZmqSocket::send(const Frames& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const int flags = ZMQ_DONTWAIT | (i + 1 < frames.size() ? ZMQ_SNDMORE : 0);
    if (zmq_send(socket_, frames[i].data(), frames[i].size(), flags) < 0) return false;
  }
  // Sending may have taken the edge of a message that arrived meanwhile.
  if (handler_ && !draining_) look_again();
  return true;
}

}  // namespace pilot::net
