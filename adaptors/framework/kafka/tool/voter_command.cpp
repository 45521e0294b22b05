#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <thread>

#include "adaptors/framework/kafka/tool/commands.hpp"
#include "adaptors/framework/kafka/tool/open_cluster.hpp"
#include "pilot/base/contains.hpp"

namespace pilot::adaptors::kafka {

Result<std::string> run_voter(const std::vector<std::string>& words) {
  PILOT_TRY(const auto arguments, Arguments::parse(words, {"--config", "--id", "--timeout"}));
  PILOT_TRY(const int id, arguments.id("--id"));
  PILOT_TRY(const auto timeout, arguments.duration("--timeout", std::chrono::seconds(5)));
  PILOT_TRY(auto cluster, open_cluster(arguments));
  const Deadline deadline(system_clock(), timeout);
  while (true) {
    PILOT_TRY(const auto there, cluster.voters(deadline));
    std::vector<int> voters;
    for (const auto& voter : there) voters.push_back(voter.id);
    if (contains(voters, id))
      return fmt::format(R"({{"schema": "pilot-kafka.voter/1", "id": {}, "voters": [{}]}})", id,
                         fmt::join(voters, ", "));
    if (deadline.passed())
      return make_error(ErrorCode::timed_out,
                        fmt::format("controller {} does not vote yet, {} do", id, fmt::join(voters, ", ")));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::string quorum_problem(const std::vector<protocol::Voter>& voters, const std::vector<int>& leave) {
  std::vector<int> all, going, silent;
  for (const auto& voter : voters) {
    all.push_back(voter.id);
    if (contains(leave, voter.id))
      going.push_back(voter.id);
    else if (!voter.active)
      silent.push_back(voter.id);
  }
  const auto stay = all.size() - going.size() - silent.size();
  if (going.empty() || 2 * stay > all.size()) return {};
  return fmt::format("controller {} can't leave the quorum: {} vote{}, and most of them have to stay",
                     fmt::join(going, ", "), fmt::join(all, ", "),
                     silent.empty() ? "" : fmt::format(", {} is silent", fmt::join(silent, ", ")));
}

}  // namespace pilot::adaptors::kafka
