#include "pilot/agent/client_requests.hpp"

#include <algorithm>

namespace pilot::agent {

namespace {
constexpr std::size_t remembered = 64;
constexpr std::size_t most_open = 4096;
}  // namespace

bool ClientRequests::is_new(const std::string& id, const std::string& peer) {
  const auto [found, is_first] = requests_.try_emplace(id);
  found->second.peers.push_back(peer);
  if (!is_first) return false;
  order_.push_back(id);
  if (order_.size() <= remembered) return true;
  // Those that have their answer; who waits may wait for long, while others ask for this and that.
  const auto done = std::find_if(order_.begin(), order_.end(), [&](const std::string& old) {
    return requests_.at(old).answer.has_value();
  });
  const auto oldest = done == order_.end() && order_.size() > most_open ? order_.begin() : done;
  if (oldest == order_.end()) return true;
  requests_.erase(*oldest);
  order_.erase(oldest);
  return true;
}

std::optional<std::string> ClientRequests::answer_to(const std::string& id) const {
  const auto found = requests_.find(id);
  return found == requests_.end() ? std::nullopt : found->second.answer;
}

std::vector<std::string> ClientRequests::answered(const std::string& id, const std::string& answer) {
  const auto found = requests_.find(id);
  if (found == requests_.end()) return {};
  found->second.answer = answer;
  return found->second.peers;
}

}  // namespace pilot::agent
