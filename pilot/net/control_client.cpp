#include "pilot/net/control_client.hpp"

#include <fmt/format.h>
#include <zmq.h>

#include <optional>
#include <utility>

#include "pilot/base/units.hpp"
#include "pilot/net/socket.hpp"

namespace pilot::net {
namespace {

constexpr int first_reconnect_ms = 100;
constexpr int longest_reconnect_ms = 1000;
constexpr int last_message_linger_ms = 500;

}  // namespace

struct ControlClient::Impl {
  explicit Impl(std::shared_ptr<ZmqContext> context)
      : socket(context ? std::move(context) : std::make_shared<ZmqContext>(), ZMQ_DEALER) {}
  ZmqSocket socket;
};

ControlClient::ControlClient(EventLoop& loop, const std::string& endpoint, const std::string& server_key,
                             const CurveKeyPair& keys, Handler handler, std::shared_ptr<ZmqContext> context)
    : impl_(std::make_unique<Impl>(std::move(context))) {
  ZmqSocket& socket = impl_->socket;
  socket.set(ZMQ_CURVE_SERVERKEY, server_key);
  socket.set(ZMQ_CURVE_PUBLICKEY, keys.public_key);
  socket.set(ZMQ_CURVE_SECRETKEY, keys.secret_key);
  socket.miss_silent_peers();
  socket.set(ZMQ_RECONNECT_IVL, first_reconnect_ms);
  socket.set(ZMQ_RECONNECT_IVL_MAX, longest_reconnect_ms);
  socket.set(ZMQ_LINGER, last_message_linger_ms);
  socket.set(ZMQ_SNDHWM, 10000);
  socket.set(ZMQ_RCVHWM, 10000);
  socket.connect(endpoint);
  socket.receive(loop, [handler = std::move(handler)](ZmqSocket::Frames frames) {
    if (frames.size() == 1) handler(std::move(frames[0]));
  });
}

ControlClient::~ControlClient() = default;

void ControlClient::send(const std::string& message) {
  impl_->socket.send({message});
}

Result<std::string> ask(const std::string& endpoint, const std::string& server_key, const CurveKeyPair& keys,
                        const std::string& message, Duration timeout) {
  EventLoop loop;
  std::optional<std::string> answer;
  ControlClient client(loop, endpoint, server_key, keys, [&](std::string text) {
    answer = std::move(text);
    loop.stop();
  });
  client.send(message);
  loop.run_for(timeout);
  if (answer) return *std::move(answer);
  return make_error(
      ErrorCode::unavailable,
      fmt::format("the head agent at {} did not answer within {}", endpoint, format_duration(timeout)),
      "its log is logs/head.log in the pilot's folder; 'pilot status' starts it again if it died");
}

}  // namespace pilot::net
