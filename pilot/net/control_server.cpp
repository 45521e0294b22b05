#include "pilot/net/control_server.hpp"

#include <fmt/format.h>
#include <zmq.h>

#include <utility>

#include "pilot/base/log.hpp"
#include "pilot/net/socket.hpp"

namespace pilot::net {
namespace {

// A thread of ZeroMQ's that is busy takes one new connection for each 256 messages, and thousands may come.
constexpr int io_threads = 3;
constexpr int last_answers_linger_ms = 1000;
constexpr std::int64_t largest_message = 64 << 20;
constexpr int most_waiting = 4096;  // connections that are not accepted yet; the kernel may allow less

std::string z85(const std::string& key) {
  char text[41];
  if (key.size() != 32 ||
      zmq_z85_encode(text, reinterpret_cast<const std::uint8_t*>(key.data()), 32) == nullptr)
    return {};
  return std::string(text, 40);
}

}  // namespace

struct ControlServer::Impl {
  explicit Impl(std::set<std::string> keys)
      : context(std::make_shared<ZmqContext>(io_threads)),
        allowed(std::move(keys)),
        zap(context, ZMQ_REP),
        router(context, ZMQ_ROUTER) {}

  // ZAP (RFC 27): libzmq asks here whether a public key may come in.
  void decide(const ZmqSocket::Frames& request) {
    if (request.size() < 6) return;
    const bool known = request[5] == "CURVE" && request.size() == 7 && allowed.contains(z85(request[6]));
    if (!known) log::warning("refused a connection from {}: its key is not of this pilot", request[3]);
    zap.send({request[0], request[1], known ? "200" : "400", known ? "" : "unknown key", "", ""});
  }

  std::shared_ptr<ZmqContext> context;
  std::set<std::string> allowed;
  ZmqSocket zap;
  ZmqSocket router;
  std::string endpoint;
};

ControlServer::ControlServer() = default;
ControlServer::~ControlServer() = default;

Result<std::unique_ptr<ControlServer>> ControlServer::listen(EventLoop& loop, const std::string& address,
                                                             std::uint16_t first_port,
                                                             std::uint16_t last_port,
                                                             const CurveKeyPair& keys,
                                                             std::set<std::string> allowed, Handler handler) {
  std::unique_ptr<ControlServer> server(new ControlServer);
  server->impl_ = std::make_unique<Impl>(std::move(allowed));
  Impl& impl = *server->impl_;
  impl.zap.set(ZMQ_LINGER, 0);
  if (impl.zap.bind("inproc://zeromq.zap.01") != 0)
    return make_error(ErrorCode::internal, "cannot listen for authentication requests");
  impl.zap.receive(loop, [&impl](const ZmqSocket::Frames& request) { impl.decide(request); });

  impl.router.set(ZMQ_CURVE_SERVER, 1);
  impl.router.set(ZMQ_CURVE_SECRETKEY, keys.secret_key);
  impl.router.miss_silent_peers();
  impl.router.set(ZMQ_LINGER, last_answers_linger_ms);
  impl.router.set(ZMQ_SNDHWM, 10000);
  impl.router.set(ZMQ_RCVHWM, 10000);
  impl.router.set(ZMQ_BACKLOG, most_waiting);  // nodes of a job come all at once
  zmq_setsockopt(impl.router.get(), ZMQ_MAXMSGSIZE, &largest_message, sizeof largest_message);

  int why = 0;
  for (std::uint32_t port = first_port; port <= last_port; ++port) {
    why = impl.router.bind(fmt::format("tcp://{}:{}", address, port == 0 ? "*" : std::to_string(port)));
    if (why != EADDRINUSE) break;
  }
  if (why != 0)
    return make_error(ErrorCode::failed, fmt::format("cannot listen on {}, ports {} to {}: {}", address,
                                                     first_port, last_port, zmq_strerror(why)));
  impl.endpoint = impl.router.get_string(ZMQ_LAST_ENDPOINT);
  impl.router.receive(loop, [handler = std::move(handler)](ZmqSocket::Frames frames) {
    if (frames.size() == 2) handler(frames[0], std::move(frames[1]));
  });
  return server;
}

void ControlServer::allow(std::set<std::string> public_keys) {
  impl_->allowed = std::move(public_keys);
}

const std::string& ControlServer::endpoint() const {
  return impl_->endpoint;
}

void ControlServer::send(const PeerId& peer, const std::string& message) {
  impl_->router.send({peer, message});
}

}  // namespace pilot::net
