// Loopback addresses of the nodes that this machine plays: each node has its own of 127/8, and no two
// pilots, of one user or of several, share one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/base/result.hpp"

namespace pilot::adaptors::local {

// An address is held by a socket that is bound to (address, this port) and never listened on.  The node
// agent inherits it; it goes with the agent.
inline constexpr std::uint16_t reservation_port = 47077;

struct Subnet {
  std::uint32_t first = 0;  // host byte order
  std::uint32_t size = 0;

  // "127.77.0.0/16".  Errors: usage, when it is not within 127.0.0.0/8.
  static Result<Subnet> parse(std::string_view cidr);

  // All usable addresses (no .0, no .255, not 127.0.0.1), in order, beginning at a place that follows
  // from `seed`.
  std::vector<std::string> candidates(std::string_view seed) const;
};

// A reservation: closes its socket when it is not taken.
class Reservation {
 public:
  // Errors: unavailable, when somebody else holds the address or listens on it.
  static Result<Reservation> take(const std::string& address);
  // Holds it although something listens there already: the services of an agent that died.
  static Result<Reservation> take_again(const std::string& address);
  Reservation(Reservation&& other) noexcept
      : address_(std::move(other.address_)), fd_(std::exchange(other.fd_, -1)) {}
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation();

  int fd() const { return fd_; }
  const std::string& address() const { return address_; }

 private:
  Reservation(std::string address, int fd) : address_(std::move(address)), fd_(fd) {}
  std::string address_;
  int fd_ = -1;
};

// The first `count` free addresses of the subnet, reserved.  Errors: unavailable, with the numbers.
Result<std::vector<Reservation>> reserve_addresses(const Subnet& subnet, std::string_view seed, int count);

// The addresses on which something listens, from the text of /proc/net/tcp.
std::vector<std::string> listening_addresses(std::string_view proc_net_tcp);

}  // namespace pilot::adaptors::local
