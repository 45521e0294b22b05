// How a job of Slurm gets more nodes: another job, which depends on it by `expand`, asks for them and is then
// made smaller by all it has.  That job must have no step, so it is salloc's and has no script; Slurm wants
// it in the same partition and QOS, and both without generic resources.  The recipe's third step, an update
// of the job that has grown with NumNodes=ALL, writes a file for that job's own shell and is left out:
// without slurmdbd it is refused, as any other resizing of a job that has grown is.
#pragma once

#include "adaptors/batch/host/batch_dialect.hpp"

namespace pilot::adaptors::slurm {

class SlurmGrowth final : public host::GrowthDialect {
 public:
  model::Command ask_for_permission() const override;
  Result<void> permitted(const proc::CommandResult& answer) const override;
  model::Command ask(const plugin::AllocationRequest& request, const std::string& held,
                     std::optional<Duration> left) const override;
  std::string_view said() const override { return "job allocation [0-9]"; }
  Result<std::string> asked(const proc::CommandResult& answer) const override;
  model::Command hand_over(const std::string& job_id) const override;
  Result<void> handed_over(const proc::CommandResult& answer) const override;
};

}  // namespace pilot::adaptors::slurm
