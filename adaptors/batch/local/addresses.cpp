#include "adaptors/batch/local/addresses.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <sstream>

#include "pilot/base/file.hpp"

namespace pilot::adaptors::local {
namespace {

std::string to_text(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, (address >> 16) & 255, (address >> 8) & 255,
                     address & 255);
}

bool usable(std::uint32_t address) {
  const std::uint32_t last = address & 255;
  return last != 0 && last != 255 && address != INADDR_LOOPBACK;
}

// FNV-1a.
std::uint32_t hash(std::string_view text) {
  std::uint32_t value = 2166136261u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 16777619u;
  return value;
}

bool something_listens(const std::string& address) {
  const auto table = read_file("/proc/net/tcp");
  if (!table.has_value()) return false;
  const auto listening = listening_addresses(table.value());
  return std::find(listening.begin(), listening.end(), address) != listening.end();
}

}  // namespace

Result<Subnet> Subnet::parse(std::string_view cidr) {
  const auto slash = cidr.find('/');
  const std::string address(cidr.substr(0, slash));
  int bits = -1;
  if (slash != std::string_view::npos)
    std::from_chars(cidr.data() + slash + 1, cidr.data() + cidr.size(), bits);
  in_addr parsed{};
  const bool readable = inet_pton(AF_INET, address.c_str(), &parsed) == 1 && bits >= 0 && bits <= 32;
  const std::uint32_t host = ntohl(parsed.s_addr);
  if (!readable || bits < 8 || host >> 24 != 127)
    return make_error(ErrorCode::usage, fmt::format("network.subnet '{}' is not within 127.0.0.0/8", cidr),
                      "nodes of the resource 'local' have loopback addresses, for example 127.77.0.0/16");
  const std::uint32_t size = bits == 32 ? 1u : 1u << (32 - bits);
  return Subnet{host & ~(size - 1), size};
}

std::vector<std::string> Subnet::candidates(std::string_view seed) const {
  std::vector<std::string> found;
  const std::uint32_t start = hash(seed) % size;
  const std::uint32_t most = std::min<std::uint32_t>(size, 1u << 12);  // enough to find some free ones
  for (std::uint32_t i = 0; i < most; ++i) {
    const std::uint32_t address = first + (start + i) % size;
    if (usable(address)) found.push_back(to_text(address));
  }
  return found;
}

Result<Reservation> Reservation::take_again(const std::string& address) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno_error("cannot make a socket", errno);
  Reservation reservation(address, fd);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(reservation_port);
  inet_pton(AF_INET, address.c_str(), &where.sin_addr);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0) return reservation;
  Error error = errno_error(fmt::format("cannot reserve {}:{}", address, reservation_port), errno);
  error.code = ErrorCode::unavailable;
  return error;
}

Result<Reservation> Reservation::take(const std::string& address) {
  if (something_listens(address))
    return make_error(ErrorCode::unavailable, fmt::format("something listens on {} already", address));
  return take_again(address);
}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(fd_, other.fd_);
  return *this;
}

Reservation::~Reservation() {
  if (fd_ >= 0) close(fd_);
}

Result<std::vector<Reservation>> reserve_addresses(const Subnet& subnet, std::string_view seed, int count) {
  std::vector<Reservation> reservations;
  std::string last_problem = "the subnet is too small";
  for (const std::string& address : subnet.candidates(seed)) {
    if (static_cast<int>(reservations.size()) == count) break;
    auto reservation = Reservation::take(address);
    if (reservation.has_value()) {
      reservations.push_back(std::move(reservation).value());
    } else {
      last_problem = reservation.error().message;
    }
  }
  if (static_cast<int>(reservations.size()) < count)
    return make_error(
        ErrorCode::unavailable,
        fmt::format("only {} of {} node addresses are free: {}", reservations.size(), count, last_problem),
        "network.subnet gives another range");
  return reservations;
}

std::vector<std::string> listening_addresses(std::string_view proc_net_tcp) {
  std::vector<std::string> addresses;
  std::istringstream lines{std::string(proc_net_tcp)};
  std::string line;
  std::getline(lines, line);  // the header
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string number, local, remote, state;
    if (!(fields >> number >> local >> remote >> state) || state != "0A" || local.size() < 8) continue;
    std::uint32_t raw = 0;  // the address as it lies in memory, read as one number
    std::from_chars(local.data(), local.data() + 8, raw, 16);
    addresses.push_back(to_text(ntohl(raw)));
  }
  return addresses;
}

}  // namespace pilot::adaptors::local
