// Runs any batch dialect: calls the tools with deadlines, tries again with back-off where that helps,
// shares answers among all commands of a user, and decides what silence means (nothing).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adaptors/batch/host/batch_dialect.hpp"
#include "adaptors/batch/host/known_jobs.hpp"
#include "pilot/base/clock.hpp"

namespace pilot::adaptors::host {

struct HostTiming {
  Duration tool = std::chrono::seconds(30);        // for one call; Slurm itself gives up after 9 s
  Duration patience = std::chrono::seconds(60);    // with a system that does not answer
  Duration first_delay = std::chrono::seconds(1);  // between tries; doubled, with jitter
  Duration longest_delay = std::chrono::seconds(15);
  Duration poll_interval = std::chrono::seconds(10);  // unless batch.poll_interval says otherwise
  Duration settle = std::chrono::seconds(2);          // until a new job's reason to wait is known
  Duration settle_look = std::chrono::milliseconds(250);
  Duration cancel = std::chrono::seconds(60);  // until a cancelled job is gone
  Duration ending = std::chrono::seconds(15);  // for it to be gone while the system says that it is ending
  Duration cancel_look = std::chrono::milliseconds(300);
  Duration longest_cancel_look = std::chrono::seconds(2);
  Duration launch = std::chrono::seconds(3);  // a launcher that lives so long has launched
  Duration leave = std::chrono::seconds(5);   // for agents that were released to end by themselves
  Duration leave_look = std::chrono::milliseconds(20);
  Duration leave_job = std::chrono::seconds(1);  // and for their job's script
};

class BatchHost final : public plugin::BatchAdaptor {
 public:
  explicit BatchHost(std::shared_ptr<const BatchDialect> dialect, HostTiming timing = {},
                     const Clock& clock = system_clock());

  std::string_view name() const override { return dialect_->name(); }
  std::string_view summary() const override { return dialect_->summary(); }
  std::vector<plugin::OptionDoc> options() const override;
  Result<void> check(const model::PilotSpec& spec) const override;
  Result<std::vector<std::string>> validate(const plugin::AllocationRequest& request) override;
  Result<std::string> render(const plugin::AllocationRequest& request) const override;
  Result<std::string> submit(const plugin::AllocationRequest& request) override;
  Result<std::string> job_of(const plugin::AllocationRequest& request) override;
  Result<std::vector<plugin::AllocationStatus>> poll(const plugin::AllocationRequest& request,
                                                     const std::vector<std::string>& job_ids) override;
  Result<void> cancel(const plugin::AllocationRequest& request, const std::string& job_id) override;
  Result<void> can_release(const plugin::AllocationRequest& request, const std::string& job_id,
                           const std::vector<int>& ranks, bool again) override;
  Result<void> release(const plugin::AllocationRequest& request, const std::string& job_id,
                       const std::vector<int>& ranks) override;
  Result<void> can_grow(const plugin::AllocationRequest& request) override;
  Result<std::string> ask_to_grow(const plugin::AllocationRequest& request) override;
  Result<plugin::AllocationStatus> grow(const plugin::AllocationRequest& request,
                                        const std::string& asked) override;
  Result<void> launch_agent(const plugin::AllocationRequest& request, const std::string& job_id,
                            int rank) override;

 private:
  Result<proc::CommandResult> call(const model::Command& command) const;
  // Calls `once` until it answers anything but `unavailable`.
  template <typename T>
  Result<T> insist(const std::function<Result<T>()>& once) const;

  Result<std::string> submit_once(const plugin::AllocationRequest& request, bool again) const;
  Result<void> write_script(const plugin::AllocationRequest& request) const;
  Result<std::vector<std::string>> find(const plugin::AllocationRequest& request) const;
  Result<void> may_resize_again(const std::string& job_id) const;
  Result<std::string> ask_to_grow_once(const plugin::AllocationRequest& request, bool again) const;
  Result<void> take_over(const plugin::AllocationRequest& request, const JobStatus& base,
                         const std::string& asked) const;
  Result<bool> refuse_what_never_fits(const plugin::AllocationRequest& request) const;
  Result<void> refuse_what_never_runs(const std::string& job_id) const;
  Result<std::vector<JobStatus>> ask(const std::vector<std::string>& job_ids) const;
  Result<JobStatus> ask_one(const std::string& job_id) const;
  Result<void> cancel_job(const std::string& job_id) const;
  void let_it_end(const plugin::AllocationRequest& request, const std::string& job_id) const;
  Result<void> cancel_found(const plugin::AllocationRequest& request);
  Result<void> remember(const plugin::AllocationRequest& request, const std::string& job_id,
                        const Result<JobStatus>& last) const;
  void refresh(KnownJobs& known, const std::vector<std::string>& job_ids,
               const std::filesystem::path& path) const;
  plugin::AllocationStatus conclude(const plugin::AllocationRequest& request, const JobStatus& heard) const;

  std::shared_ptr<const BatchDialect> dialect_;
  HostTiming timing_;
  const Clock* clock_;
};

// Names are compared without their domains: systems write them with and without.
bool is_same_host(std::string_view one, std::string_view other);
bool holds(const JobStatus& job, const std::string& node);

// The nodes that the job had when it began, by their ranks.  Errors: not_found.
Result<std::vector<std::string>> nodes_of(const plugin::AllocationRequest& request);

}  // namespace pilot::adaptors::host
