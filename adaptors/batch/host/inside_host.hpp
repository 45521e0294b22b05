// The resource `allocation`: the nodes of the job that we are in.  A batch script holds them and runs
// 'pilot start' there; what starts the agents is the same script that would be submitted, run in place.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adaptors/batch/host/batch_host.hpp"

namespace pilot::adaptors::host {

class InsideHost final : public plugin::BatchAdaptor {
 public:
  // The first of the dialects whose job we are in is used; `variables` is the environment.
  InsideHost(const std::vector<std::shared_ptr<const BatchDialect>>& dialects,
             BatchDialect::Variables variables, HostTiming timing = {}, const Clock& clock = system_clock());

  std::string_view name() const override { return "allocation"; }
  std::string_view summary() const override { return "nodes of the Slurm or PBS job that this runs in"; }
  std::vector<plugin::OptionDoc> options() const override;
  Result<void> check(const model::PilotSpec& spec) const override;
  Result<std::vector<std::string>> validate(const plugin::AllocationRequest& request) override;
  Result<std::string> render(const plugin::AllocationRequest& request) const override;
  Result<std::string> submit(const plugin::AllocationRequest& request) override;
  Result<std::vector<plugin::AllocationStatus>> poll(const plugin::AllocationRequest& request,
                                                     const std::vector<std::string>& job_ids) override;
  // Ends the agents.  The job is its owner's and goes on.
  Result<void> cancel(const plugin::AllocationRequest& request, const std::string& job_id) override;
  Result<void> can_release(const plugin::AllocationRequest& request, const std::string& job_id,
                           const std::vector<int>& ranks, bool again) override;
  Result<void> release(const plugin::AllocationRequest& request, const std::string& job_id,
                       const std::vector<int>& ranks) override;
  Result<void> can_grow(const plugin::AllocationRequest& request) override;
  Result<void> launch_agent(const plugin::AllocationRequest& request, const std::string& job_id,
                            int rank) override;

 private:
  struct System {
    std::shared_ptr<const BatchDialect> dialect;
    std::unique_ptr<BatchHost> host;
  };
  const System* here() const;                                                // null: not in a job
  Result<const System*> of(const plugin::AllocationRequest& request) const;  // that of a pilot
  bool has_ended(const plugin::AllocationRequest& request, const std::string& job_id, Duration within) const;

  std::vector<System> systems_;
  BatchDialect::Variables variables_;
  HostTiming timing_;
  const Clock* clock_;
};

// The environment of this process.
std::string environment_variable(const std::string& name);

}  // namespace pilot::adaptors::host
