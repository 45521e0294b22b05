#include "pilot/core/topics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pilot/core/programs.hpp"
#include "pilot/proc/command_run.hpp"

namespace pilot::core {
namespace {

using Json = nlohmann::json;

constexpr auto margin = std::chrono::seconds(10);  // the command has the deadline itself

Topic read_topic(const Json& json) {
  Topic topic;
  topic.name = json.at("name").get<std::string>();
  topic.internal = json.value("internal", false);
  for (const Json& one : json.at("partitions"))
    topic.partitions.push_back({one.at("id").get<int>(), one.at("leader").get<int>(),
                                one.at("replicas").get<std::vector<int>>(),
                                one.at("in_sync").get<std::vector<int>>()});
  if (const auto bytes = json.find("bytes_by_broker"); bytes != json.end() && bytes->is_object())
    topic.bytes_by_broker = bytes->get<std::map<std::string, std::int64_t>>();
  return topic;
}

ErrorCode code_of_exit(int code) {
  for (const auto candidate : {ErrorCode::failed, ErrorCode::usage, ErrorCode::not_found,
                               ErrorCode::timed_out, ErrorCode::unavailable, ErrorCode::partial})
    if (exit_code(candidate) == code) return candidate;
  return ErrorCode::failed;
}

// "pilot-kafka: there is no topic 'x'; did you mean 'y'?": the cause, and after the last "; " the remedy.
Error error_of(const proc::CommandResult& ran, const std::string& tool) {
  if (ran.timed_out) return make_error(ErrorCode::timed_out, fmt::format("{} did not end in time", tool));
  std::string text = ran.err;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (const auto line = text.rfind('\n'); line != std::string::npos) text = text.substr(line + 1);
  if (text.empty()) return make_error(ErrorCode::failed, ran.complaint(tool));
  if (text.starts_with(tool + ": ")) text = text.substr(tool.size() + 2);
  const auto remedy = text.rfind("; ");
  return make_error(code_of_exit(ran.status.code), text.substr(0, remedy),
                    remedy == std::string::npos ? "" : text.substr(remedy + 2));
}

struct Chosen {
  std::string framework;
  model::Command command;
};

Result<Chosen> choose(const Context& context, const RunningPilot& pilot, const std::string& framework,
                      const plugin::TopicRequest& request) {
  const std::string& name = pilot.folder().name();
  for (const auto& [candidate, cluster] : pilot.state().clusters) {
    if (!framework.empty() && candidate != framework) continue;
    PILOT_TRY(const auto* adaptor, std::as_const(*context.registry).framework(candidate));
    auto command = adaptor->topic_command(request, cluster.plan, program_folder());
    if (!command) continue;
    if (!cluster.ready)
      return make_error(ErrorCode::unavailable, fmt::format("{} of '{}' is not ready yet", candidate, name),
                        fmt::format("'pilot wait {} --for ready' waits for it", name));
    return Chosen{candidate, std::move(*command)};
  }
  const bool coming = pilot.state().clusters.empty() && !pilot.state().spec.frameworks.empty();
  if (coming)
    return make_error(ErrorCode::unavailable,
                      fmt::format("pilot '{}' is {}", name, model::to_string(pilot.state().phase)),
                      fmt::format("'pilot wait {} --for ready' waits for it", name));
  return make_error(ErrorCode::not_found,
                    framework.empty() ? fmt::format("no cluster of '{}' has topics", name)
                                      : fmt::format("'{}' has no cluster '{}' with topics", name, framework),
                    "'pilot frameworks list' says what can run");
}

}  // namespace

int Topic::replicas() const {
  std::size_t most = 0;
  for (const auto& partition : partitions) most = std::max(most, partition.replicas.size());
  return static_cast<int>(most);
}

int Topic::under_replicated() const {
  return static_cast<int>(std::ranges::count_if(
      partitions, [](const auto& one) { return one.in_sync.size() < one.replicas.size(); }));
}

int Topic::leaderless() const {
  return static_cast<int>(std::ranges::count_if(partitions, [](const auto& one) { return one.leader < 0; }));
}

std::int64_t Topic::bytes() const {
  if (!bytes_by_broker) return -1;
  std::int64_t sum = 0;
  for (const auto& [broker, bytes] : *bytes_by_broker) sum += bytes;
  return sum;
}

Result<TopicAnswer> parse_topic_answer(std::string_view printed) {
  const auto nonsense = [&](const std::string& why) {
    return make_error(ErrorCode::internal, fmt::format("an answer about topics can't be read: {}", why));
  };
  const Json json = Json::parse(printed, nullptr, false);
  if (!json.is_object()) return nonsense(std::string(printed.substr(0, 200)));
  try {
    TopicAnswer answer;
    if (const auto topics = json.find("topics"); topics != json.end()) {
      for (const Json& one : *topics) answer.topics.push_back(read_topic(one));
    } else {
      answer.topics.push_back(read_topic(json.at("topic")));
    }
    answer.created = json.value("created", false);
    if (const auto before = json.find("grown_from"); before != json.end() && before->is_number())
      answer.grown_from = before->get<int>();
    if (const auto caution = json.find("caution"); caution != json.end() && caution->is_string())
      answer.caution = caution->get<std::string>();
    return answer;
  } catch (const Json::exception& error) {
    return nonsense(error.what());
  }
}

Result<TopicAnswer> ask_topics(const Context& context, const RunningPilot& pilot,
                               const std::string& framework, const plugin::TopicRequest& request) {
  const std::string& name = pilot.folder().name();
  if (model::is_final(pilot.state().phase))
    return make_error(ErrorCode::unavailable,
                      fmt::format("pilot '{}' is {}", name, model::to_string(pilot.state().phase)));
  if (const std::string over = pilot.over_because(); !over.empty())
    return make_error(ErrorCode::unavailable, fmt::format("pilot '{}' does not run any more: {}", name, over),
                      fmt::format("'pilot stop {}' cleans up", name));
  PILOT_TRY(const Chosen chosen, choose(context, pilot, framework, request));
  PILOT_TRY(const auto ran, proc::run_command(chosen.command, request.timeout + margin));
  if (!ran.succeeded())
    return error_of(ran, std::filesystem::path(chosen.command.argv.front()).filename().string());
  PILOT_TRY(auto answer, parse_topic_answer(ran.out));
  answer.framework = chosen.framework;
  return answer;
}

}  // namespace pilot::core
