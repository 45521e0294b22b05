// What clients asked lately.  A client that gets no answer over the network asks again through the pilot's
// folder, with the same id: what has been done already must not be done twice.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pilot::agent {

class ClientRequests {
 public:
  // Notes that `peer` waits for the answer to `id`.  True when nobody has asked that before.
  bool is_new(const std::string& id, const std::string& peer);

  // The answer that was given, if it was.
  std::optional<std::string> answer_to(const std::string& id) const;

  // Notes the answer; returns who waits for it.
  std::vector<std::string> answered(const std::string& id, const std::string& answer);

 private:
  struct Request {
    std::vector<std::string> peers;
    std::optional<std::string> answer;
  };
  std::map<std::string, Request> requests_;
  std::deque<std::string> order_;  // oldest first; so many are remembered
};

}  // namespace pilot::agent
