#include "adaptors/framework/kafka/protocol/stream.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pilot::adaptors::kafka::protocol {

namespace {

Error unavailable(const char* what, int error) {
  return make_error(ErrorCode::unavailable, fmt::format("{}: {}", what, std::strerror(error)));
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

class PlainStream final : public Stream {
 public:
  explicit PlainStream(int socket) : socket_(socket) {}

  Result<void> write(std::string_view bytes, const Deadline& deadline) override {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN) {
        PILOT_TRY_VOID(wait_for(socket_.get(), POLLOUT, deadline));
      } else if (errno != EINTR) {
        return unavailable("sending", errno);
      }
    }
    return ok();
  }

  Result<std::string> read(std::size_t bytes, const Deadline& deadline) override {
    std::string data(bytes, '\0');
    for (std::size_t have = 0; have < bytes;) {
      const auto got = ::recv(socket_.get(), data.data() + have, bytes - have, 0);
      if (got > 0) {
        have += static_cast<std::size_t>(got);
      } else if (got == 0) {
        return make_error(ErrorCode::unavailable, "the broker closed the connection");
      } else if (errno == EAGAIN) {
        PILOT_TRY_VOID(wait_for(socket_.get(), POLLIN, deadline));
      } else if (errno != EINTR) {
        return unavailable("receiving", errno);
      }
    }
    return data;
  }

 private:
  Socket socket_;
};

Result<int> connect_to(const addrinfo& address, const Deadline& deadline) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return errno_error("cannot make a socket", errno);
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0 && errno != EINPROGRESS)
    return unavailable("connecting", errno);
  PILOT_TRY_VOID(wait_for(socket.get(), POLLOUT, deadline));
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return unavailable("connecting", error);
  return socket.release();
}

}  // namespace

Result<void> wait_for(int socket, short events, const Deadline& deadline) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline.left()).count();
    pollfd wanted{socket, events, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::clamp<long long>(left, 0, 60000)));
    if (ready > 0) return ok();
    if (ready < 0 && errno != EINTR) return errno_error("waiting for a broker", errno);
    if (deadline.passed()) return make_error(ErrorCode::timed_out, "no answer in time");
  }
}

Result<std::unique_ptr<Stream>> Stream::open(const Endpoint& endpoint, const Access& access,
                                             const Deadline& deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error =
          ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
      error != 0) {
    return make_error(ErrorCode::unavailable,
                      fmt::format("looking up '{}': {}", endpoint.host, gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
  Error last = make_error(ErrorCode::unavailable, fmt::format("'{}' has no address", endpoint.host));
  for (const auto* address = found; address != nullptr; address = address->ai_next) {
    auto socket = connect_to(*address, deadline);
    if (!socket.has_value()) {
      last = socket.error();
      continue;
    }
    if (access.tls) return open_tls(socket.value(), endpoint, access, deadline);
    return std::unique_ptr<Stream>(std::make_unique<PlainStream>(socket.value()));
  }
  return last;
}

}  // namespace pilot::adaptors::kafka::protocol
