#include "pilot/net/interfaces.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <array>

namespace pilot::net {

std::string interfaces_text() {
  std::string text;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return text;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    std::array<char, INET_ADDRSTRLEN> address{};
    const auto* ip = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (::inet_ntop(AF_INET, &ip->sin_addr, address.data(), address.size()) == nullptr) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one->ifa_name, address.data());
  }
  ::freeifaddrs(all);
  return text;
}

}  // namespace pilot::net
