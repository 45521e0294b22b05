// Several processor processes as one: children that report through pipes, restarted when a signal kills
// them, and never left behind.
//
// fork() without exec: make a ProcessGroup before the program has threads.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "miniapps/processors/process_report.hpp"
#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::processors {

class ProcessGroup {
 public:
  using Publish = std::function<void(const ProcessReport&)>;
  // What a child does: works until SIGTERM or SIGINT, publishes its report now and then and at its end.
  using Child = std::function<pilot::Result<void>(int index, const Publish& publish)>;

  struct Options {
    int processes = 2;
    int max_restarts = 5;  // of all children together
  };
  ProcessGroup(Options options, Child child);
  // Kills what is left.
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  // Starts the children.  Errors: failed.
  pilot::Result<void> start();

  // Takes in what children say for at most `limit`; restarts one that a signal killed.  A child's own error
  // stops the group.
  void wait(pilot::Duration limit);

  // Asks the children to finish (SIGTERM).
  void request_stop();

  bool finished() const { return members_.empty(); }
  // The first error.  A child that a signal killed is one once there are no restarts left.
  pilot::Result<void> result() const;

  // The sum of all, also of those that are gone.
  ProcessReport report() const;

  // For messages and tests.
  std::vector<pid_t> pids() const;

 private:
  struct Member {
    int index;
    pid_t pid;
    int pipe;
    std::string unread;  // the beginning of a line
    std::optional<ProcessReport> report;
  };
  pilot::Result<void> start_member(int index);
  [[noreturn]] void run_child(int index, int pipe) const;
  void read_from(Member& member);
  void reap(std::size_t position);

  const Options options_;
  const Child child_;
  std::vector<Member> members_;
  std::vector<std::pair<int, ProcessReport>> gone_;
  std::uint64_t restarts_ = 0;
  bool stopping_ = false;
  std::optional<pilot::Error> failure_;
};

}  // namespace miniapps::processors
