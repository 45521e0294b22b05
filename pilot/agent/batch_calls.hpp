// What the head has the batch system do: it may take minutes to answer, so it is asked on threads of their
// own.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pilot/agent/background.hpp"
#include "pilot/agent/head_output.hpp"
#include "pilot/base/result.hpp"
#include "pilot/model/pilot_state.hpp"
#include "pilot/plugin/allocation_request.hpp"
#include "pilot/plugin/registry.hpp"

namespace pilot::agent {

struct BatchJob {
  plugin::AllocationRequest request;
  std::string id;
};

class BatchCalls {
 public:
  BatchCalls(EventLoop& loop, plugin::Registry& registry, std::filesystem::path pilot_dir,
             std::filesystem::path agent_program);

  // Calls `answer`, on the loop, with what `work(BatchAdaptor&, const BatchJob&)` makes of an allocation's
  // job.
  template <typename Work, typename Answer>
  void call(const model::PilotState& state, const std::string& allocation, const Work& work, Answer answer) {
    background_.run(
        [this, job = job_of(state, allocation), work, answer = std::move(answer)]() -> std::function<void()> {
          return [answer, result = ask(job, work)] { answer(result); };
        });
  }

  // Asks whether these can be given back; `answer` gets the allocations that can't, with the reason.
  void check_release(const model::PilotState& state, const std::vector<PartOfAllocation>& parts,
                     std::function<void(const std::map<std::string, Error>&)> answer);

 private:
  BatchJob job_of(const model::PilotState& state, const std::string& allocation) const;

  template <typename Work>
  std::invoke_result_t<Work, plugin::BatchAdaptor&, const BatchJob&> ask(const BatchJob& job,
                                                                         const Work& work) const {
    PILOT_TRY(auto* const system, registry_.batch(job.request.spec.resource));
    return work(*system, job);
  }

  plugin::Registry& registry_;
  std::filesystem::path pilot_dir_, agent_program_;
  Background background_;
};

}  // namespace pilot::agent
