#include "pilot/agent/batch_calls.hpp"

#include <utility>

namespace pilot::agent {

BatchCalls::BatchCalls(EventLoop& loop, plugin::Registry& registry, std::filesystem::path pilot_dir,
                       std::filesystem::path agent_program)
    : registry_(registry),
      pilot_dir_(std::move(pilot_dir)),
      agent_program_(std::move(agent_program)),
      background_(loop) {}

void BatchCalls::check_release(const model::PilotState& state, const std::vector<PartOfAllocation>& parts,
                               std::function<void(const std::map<std::string, Error>&)> answer) {
  std::vector<std::pair<BatchJob, PartOfAllocation>> questions;
  for (const auto& part : parts) questions.emplace_back(job_of(state, part.allocation), part);
  background_.run(
      [this, questions = std::move(questions), answer = std::move(answer)]() -> std::function<void()> {
        std::map<std::string, Error> refused;
        for (const auto& question : questions) {
          const PartOfAllocation& part = question.second;
          const auto result = ask(question.first, [&](plugin::BatchAdaptor& system, const BatchJob& job) {
            return system.can_release(job.request, job.id, part.ranks, part.again);
          });
          if (result.has_error()) refused.emplace(part.allocation, result.error());
        }
        return [answer, refused] { answer(refused); };
      });
}

BatchJob BatchCalls::job_of(const model::PilotState& state, const std::string& allocation) const {
  const auto found = state.allocations.find(allocation);
  return {plugin::request_for(state, allocation, pilot_dir_, agent_program_),
          found == state.allocations.end() ? std::string() : found->second.job_id};
}

}  // namespace pilot::agent
