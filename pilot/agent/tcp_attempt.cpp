#include "pilot/agent/tcp_attempt.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace pilot::agent {

namespace {

constexpr Duration look_interval = std::chrono::milliseconds(5);
constexpr int most_looks = 200;  // a second

struct Target {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Target target_of(const std::string& address, std::uint16_t port) {
  Target target;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&target.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&target.storage);
  if (::inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    target.size = sizeof *v4;
  } else if (::inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    target.size = sizeof *v6;
  }
  return target;
}

}  // namespace

struct TcpAttempt::Impl {
  EventLoop& loop;
  std::string address;
  std::uint16_t port;
  std::function<void(Result<void>)> on_end;
  int fd = -1;
  int looks = 0;
  EventLoop::Handle timer;

  ~Impl() {
    if (fd >= 0) ::close(fd);
  }

  void begin() {
    const Target target = target_of(address, port);
    if (target.size == 0)
      return end(make_error(ErrorCode::usage, fmt::format("'{}' is not a numeric address", address)));
    fd = ::socket(target.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return refused(errno);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&target.storage), target.size) == 0) return end(ok());
    if (errno != EINPROGRESS) return refused(errno);
    look();
  }

  // The loop waits for readable only; a port that answers does so at once, so looking is good enough.
  void look() {
    pollfd connection{fd, POLLOUT, 0};
    if (::poll(&connection, 1, 0) == 0) {
      if (++looks > most_looks) return refused(ETIMEDOUT);
      timer = loop.after(look_interval, [this] { look(); });
      return;
    }
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return refused(error);
    end(ok());
  }

  void refused(int error) {
    end(make_error(ErrorCode::unavailable,
                   fmt::format("cannot connect to {}:{}: {}", address, port, std::strerror(error))));
  }

  void end(Result<void> result) { std::exchange(on_end, nullptr)(std::move(result)); }  // may destroy this
};

TcpAttempt::TcpAttempt(EventLoop& loop, const std::string& address, std::uint16_t port,
                       std::function<void(Result<void>)> on_end)
    : impl_(new Impl{loop, address, port, std::move(on_end), -1, 0, {}}) {
  impl_->timer = loop.after(Duration{0}, [impl = impl_.get()] { impl->begin(); });
}

TcpAttempt::~TcpAttempt() = default;

}  // namespace pilot::agent
