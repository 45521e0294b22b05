#include "pilot/net/ports.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

namespace pilot::net {
namespace {

bool is_free(const in_addr& address, std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  // As servers do: a port whose last connection is only waiting out its time can be listened on.
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr = address;
  where.sin_port = htons(port);
  // Binding alone succeeds beside another socket with SO_REUSEADDR that does not listen yet.
  const bool free =
      ::bind(fd, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0 && ::listen(fd, 1) == 0;
  ::close(fd);
  return free;
}

}  // namespace

Result<std::vector<std::uint16_t>> find_free_ports(const std::string& address, std::uint16_t first,
                                                   std::uint16_t last, int count, const std::string& seed) {
  in_addr numeric{};
  if (::inet_pton(AF_INET, address.c_str(), &numeric) != 1)
    return make_error(ErrorCode::usage, fmt::format("'{}' is no IPv4 address", address));
  if (first == 0 || last < first)
    return make_error(ErrorCode::usage, fmt::format("{}-{} is no range of ports", first, last));
  const std::size_t range = static_cast<std::size_t>(last - first) + 1;
  const std::size_t start = std::hash<std::string>{}(seed) % range;
  std::vector<std::uint16_t> found;
  for (std::size_t i = 0; i < range && found.size() < static_cast<std::size_t>(count); ++i) {
    const auto port = static_cast<std::uint16_t>(first + (start + i) % range);
    if (is_free(numeric, port)) found.push_back(port);
  }
  if (found.size() == static_cast<std::size_t>(count)) return found;
  return make_error(
      ErrorCode::failed,
      fmt::format("only {} of {} ports are free in {}-{} on {}", found.size(), count, first, last, address),
      "give a larger range: network.ports");
}

}  // namespace pilot::net
