// Slurm, as of 20.11 and later; tried with 22.05.
#pragma once

#include "adaptors/batch/host/batch_dialect.hpp"
#include "adaptors/batch/slurm/directives.hpp"
#include "adaptors/batch/slurm/growth.hpp"

namespace pilot::adaptors::slurm {

class SlurmDialect final : public host::BatchDialect {
 public:
  std::string_view name() const override { return "slurm"; }
  std::string_view system() const override { return "Slurm"; }
  std::string_view summary() const override { return "nodes of a Slurm cluster, by one batch job"; }
  std::vector<plugin::OptionDoc> options() const override { return directive_options(); }
  Result<void> check(const model::PilotSpec& spec) const override { return check_directives(spec); }
  std::string current_job(const Variables& variable) const override { return variable("SLURM_JOB_ID"); }
  host::JobScript script(const plugin::AllocationRequest& request) const override;

  std::vector<model::Command> ask_for_sizes() const override;
  Result<void> fits(const plugin::AllocationRequest& request,
                    const std::vector<proc::CommandResult>& answers) const override;
  model::Command judge(const plugin::AllocationRequest& request,
                       const std::filesystem::path& script) const override;
  Result<std::string> judged(const proc::CommandResult& answer) const override;
  model::Command submit(const plugin::AllocationRequest& request,
                        const std::filesystem::path& script) const override;
  Result<std::string> submitted(const proc::CommandResult& answer) const override;
  model::Command find(const plugin::AllocationRequest& request) const override;
  Result<std::vector<std::string>> found(const plugin::AllocationRequest& request,
                                         const proc::CommandResult& answer) const override;
  model::Command poll(const std::vector<std::string>& job_ids) const override;
  Result<std::vector<host::JobStatus>> polled(const proc::CommandResult& answer) const override;
  model::Command history(const std::vector<std::string>& job_ids) const override;
  Result<std::vector<host::JobStatus>> remembered(const proc::CommandResult& answer) const override;
  model::Command cancel(const std::string& job_id) const override;
  Result<void> cancelled(const proc::CommandResult& answer) const override;
  model::Command ask_for_limits() const override;
  Result<void> may_release_again(const proc::CommandResult& answer) const override;
  model::Command release(const std::string& job_id, const std::vector<std::string>& kept,
                         const std::vector<std::string>& dropped) const override;
  Result<void> released(const proc::CommandResult& answer) const override;
  const host::GrowthDialect* growth() const override { return &growth_; }
  model::Command run_on(const std::string& job_id, const std::string& node,
                        const std::vector<std::string>& argv) const override;

 private:
  SlurmGrowth growth_;
};

}  // namespace pilot::adaptors::slurm
