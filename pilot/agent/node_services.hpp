// All services of one node: their runners, their record on disk, and the reports of what happened.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pilot/agent/node_record.hpp"
#include "pilot/agent/service_runner.hpp"

namespace pilot::agent {

class NodeServices {
 public:
  using ContextOf = std::function<ServiceContext(const std::string& service)>;
  using OnReport = std::function<void(const model::ServiceReport&)>;

  // `record` is written to `path` at each change, before anything acts on the change.
  NodeServices(EventLoop& loop, const Clock& clock, std::filesystem::path path, std::string node,
               NodeRecord record, ContextOf context_of, OnReport on_report);

  // Takes up what the record says was running.
  void resume();

  // Starts those that do not run already; one that was stopped or has failed starts anew, as specified now.
  void start(const std::vector<model::ServiceSpec>& specs);
  // Those that are not known, or stopped, are done already.
  void stop(const std::vector<std::string>& ids);
  void stop_all_but(const std::vector<std::string>& ids);
  // By descending stage, each stage when the one above has stopped; then calls `on_end`.
  void stop_all(std::function<void()> on_end);
  // The same in a hurry, also when the above goes on: all at once, and soon with force.
  void end_all(std::function<void()> on_end);

  // The head agent, which is supervised here but is no service of a cluster: not reported, and not
  // touched by the functions above.  Makes or takes up its runner.
  ServiceRunner& run_head(const model::ServiceSpec& spec, ServiceContext context,
                          std::function<void()> on_change);
  ServiceRunner* head() { return head_.get(); }

  // What runs now, for registering.
  std::vector<model::ServiceChanged> changes() const;
  const std::vector<model::ServiceReport>& unacknowledged() const { return record_.unacknowledged; }
  void acknowledge(std::uint64_t number);

  const std::vector<std::uint16_t>& free_ports() const { return record_.free_ports; }
  const std::string& pilot_id() const { return record_.pilot_id; }
  // For how long the node has been the pilot's; none: it was booted since.
  std::optional<Duration> age() const;

  // After this nothing is written any more, and the file is gone.
  void remove_record();

 private:
  ServiceRunner& make_runner(ServiceRecord record);
  void changed(const std::string& id);
  void go_on_stopping();
  void save();

  EventLoop& loop_;
  const Clock* clock_;
  std::filesystem::path path_;
  std::string node_;
  NodeRecord record_;  // its services and head are the runners' records, put in when it is written
  ContextOf context_of_;
  OnReport on_report_;
  std::map<std::string, std::unique_ptr<ServiceRunner>> runners_;
  std::unique_ptr<ServiceRunner> head_;
  std::function<void()> on_stopped_;
  bool removed_ = false;
};

}  // namespace pilot::agent
