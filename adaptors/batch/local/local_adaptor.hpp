// The resource `local`: nodes that this machine plays, for laptops, tests and single-node jobs.
#pragma once

#include "pilot/plugin/batch_adaptor.hpp"

namespace pilot::adaptors::local {

class LocalAdaptor final : public plugin::BatchAdaptor {
 public:
  std::string_view name() const override { return "local"; }
  std::string_view summary() const override {
    return "nodes on this machine, each with a loopback address of its own";
  }
  std::vector<plugin::OptionDoc> options() const override { return {}; }
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
  Result<void> launch_agent(const plugin::AllocationRequest& request, const std::string& job_id,
                            int rank) override;
};

}  // namespace pilot::adaptors::local
