// For tests of what runs dialects: a batch system whose answers are written down.
#pragma once

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "adaptors/batch/host/batch_dialect.hpp"
#include "pilot/base/file.hpp"

namespace pilot::adaptors::host {

inline Error play_complaint(const proc::CommandResult& answer) {
  return make_error(answer.status.code == 5 ? ErrorCode::unavailable : ErrorCode::usage,
                    answer.complaint("tool"));
}

// The part that makes jobs bigger: verbs permission, ask, give.
class PlayGrowth final : public GrowthDialect {
 public:
  explicit PlayGrowth(std::string folder) : folder_(std::move(folder)) {}
  model::Command ask_for_permission() const override { return tool({"permission"}); }
  Result<void> permitted(const proc::CommandResult& answer) const override { return handed_over(answer); }
  model::Command ask(const plugin::AllocationRequest& request, const std::string& held,
                     std::optional<Duration> left) const override {
    return tool({"ask", request.joins_job, held, left ? "timed" : "endless"});
  }
  std::string_view said() const override { return "^job [0-9]"; }
  Result<std::string> asked(const proc::CommandResult& answer) const override {
    if (!answer.succeeded()) return play_complaint(answer);
    return answer.out.substr(4, answer.out.find('\n') - 4);
  }
  model::Command hand_over(const std::string& id) const override { return tool({"give", id}); }
  Result<void> handed_over(const proc::CommandResult& answer) const override {
    return answer.succeeded() ? ok() : Result<void>(play_complaint(answer));
  }

 private:
  model::Command tool(std::vector<std::string> arguments) const {
    model::Command command;
    command.argv = {folder_ + "/tool"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.directory = "/";
    return command;
  }
  std::string folder_;
};

// Its tools are one script, FOLDER/tool, made by make_play_tool(): each verb (submit, poll ...) runs
// FOLDER/VERB, lines of shell in which $n is how often the verb was called; FOLDER/calls has all calls.
class PlayDialect final : public BatchDialect {
 public:
  explicit PlayDialect(std::string folder) : folder_(std::move(folder)), growth_(folder_) {}
  std::string_view name() const override { return "play"; }
  std::string_view system() const override { return "Play"; }
  std::string_view summary() const override { return "for tests"; }
  std::vector<plugin::OptionDoc> options() const override { return {}; }
  Result<void> check(const model::PilotSpec&) const override { return ok(); }
  std::string current_job(const Variables& variable) const override { return variable("PLAY_JOB"); }
  JobScript script(const plugin::AllocationRequest&) const override { return parts; }

  std::vector<model::Command> ask_for_sizes() const override { return {tool({"sizes"})}; }
  Result<void> fits(const plugin::AllocationRequest& request,
                    const std::vector<proc::CommandResult>& answers) const override {
    if (!answers[0].succeeded() || answers[0].out.empty()) return ok();
    const int most = std::stoi(answers[0].out);
    if (request.nodes <= most) return ok();
    return make_error(ErrorCode::usage, "there are only " + std::to_string(most) + " nodes");
  }
  model::Command judge(const plugin::AllocationRequest&, const std::filesystem::path& script) const override {
    return tool({"judge", script.string()});
  }
  Result<std::string> judged(const proc::CommandResult& answer) const override {
    if (!answer.succeeded()) return complaint(answer);
    return answer.out;
  }
  model::Command submit(const plugin::AllocationRequest&, const std::filesystem::path&) const override {
    return tool({"submit"});
  }
  Result<std::string> submitted(const proc::CommandResult& answer) const override {
    if (!answer.succeeded()) return complaint(answer);
    return answer.out.substr(0, answer.out.find('\n'));
  }
  model::Command find(const plugin::AllocationRequest&) const override { return tool({"find"}); }
  Result<std::vector<std::string>> found(const plugin::AllocationRequest&,
                                         const proc::CommandResult& answer) const override {
    if (!answer.succeeded()) return complaint(answer);
    return words(answer.out);
  }
  model::Command poll(const std::vector<std::string>& ids) const override { return tool({"poll"}, ids); }
  Result<std::vector<JobStatus>> polled(const proc::CommandResult& answer) const override {
    if (!answer.succeeded()) return complaint(answer);
    return jobs(answer.out);
  }
  model::Command history(const std::vector<std::string>& ids) const override {
    return tool({"history"}, ids);
  }
  Result<std::vector<JobStatus>> remembered(const proc::CommandResult& answer) const override {
    if (!answer.succeeded()) return complaint(answer);
    return jobs(answer.out);
  }
  model::Command cancel(const std::string& id) const override { return tool({"cancel", id}); }
  Result<void> cancelled(const proc::CommandResult& answer) const override {
    return answer.succeeded() ? ok() : Result<void>(complaint(answer));
  }
  model::Command ask_for_limits() const override { return tool({"limits"}); }
  Result<void> may_release_again(const proc::CommandResult& answer) const override {
    return answer.succeeded() ? ok() : Result<void>(complaint(answer));
  }
  model::Command release(const std::string& id, const std::vector<std::string>& kept,
                         const std::vector<std::string>& dropped) const override {
    return tool({"release", id, "keep"}, kept, dropped);
  }
  Result<void> released(const proc::CommandResult& answer) const override {
    return answer.succeeded() ? ok() : Result<void>(complaint(answer));
  }
  model::Command run_on(const std::string& id, const std::string& node,
                        const std::vector<std::string>&) const override {
    return tool({"run", id, node});
  }

  const GrowthDialect* growth() const override { return &growth_; }

  JobScript parts;  // of script()

 private:
  model::Command tool(std::vector<std::string> arguments, const std::vector<std::string>& more = {},
                      const std::vector<std::string>& dropped = {}) const {
    model::Command command;
    command.argv = {folder_ + "/tool"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.argv.insert(command.argv.end(), more.begin(), more.end());
    if (!dropped.empty()) command.argv.emplace_back("drop");
    command.argv.insert(command.argv.end(), dropped.begin(), dropped.end());
    command.directory = "/";
    return command;
  }
  static std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
  }
  // "ID pending|running|ended|never|ending|suspended NODES"
  static std::vector<JobStatus> jobs(const std::string& text) {
    std::vector<JobStatus> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto parts = words(line);
      JobStatus job;
      job.job_id = parts.at(0);
      job.reason = parts.at(1);
      job.can_never_run = parts[1] == "never";
      job.ending = parts[1] == "ending";
      job.phase = parts[1] == "running" || job.ending          ? model::AllocationPhase::running
                  : parts[1] == "suspended"                    ? model::AllocationPhase::suspended
                  : parts[1] == "pending" || job.can_never_run ? model::AllocationPhase::pending
                                                               : model::AllocationPhase::ended;
      if (parts.size() > 2) job.hosts = parts[2];
      all.push_back(job);
    }
    return all;
  }
  static Error complaint(const proc::CommandResult& answer) { return play_complaint(answer); }
  std::string folder_;
  PlayGrowth growth_;
};

inline void make_play_tool(const std::filesystem::path& folder) {
  (void)write_file(folder / "tool",
                   "#!/bin/bash\ncd \"${0%/*}\"\necho \"$*\" >>calls\nverb=$1; shift\n"
                   "n=$(grep -c \"^$verb\" calls)\n[ ! -f $verb ] || . ./$verb\n",
                   0700);
}

}  // namespace pilot::adaptors::host
