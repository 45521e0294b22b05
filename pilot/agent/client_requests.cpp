#include "pilot/agent/client_requests.hpp"

namespace pilot::agent {

namespace {
constexpr std::size_t remembered = 64;
}

bool ClientRequests::is_new(const std::string& id, const std::string& peer) {
  const auto [found, is_first] = requests_.try_emplace(id);
  found->second.peers.push_back(peer);
  if (!is_first) return false;
  order_.push_back(id);
  if (order_.size() > remembered) {
    requests_.erase(order_.front());
    order_.pop_front();
  }
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
