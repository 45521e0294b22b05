// pilot topic create, grow, list, describe
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "pilot/base/units.hpp"
#include "pilot/cli/output.hpp"
#include "pilot/cli/verbs/verbs.hpp"
#include "pilot/core/topics.hpp"

namespace pilot::cli {
namespace {

using nlohmann::ordered_json;
using Verb = plugin::TopicRequest::Verb;

struct TopicFlags {
  std::string pilot, topic, partitions, replicas, timeout, framework;
  std::vector<std::string> settings;
  bool if_absent = false, all = false;
};

Result<int> topic_count(const std::string& text, const char* flag) {
  if (text.empty()) return 0;
  int number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec == std::errc{} && end.ptr == text.data() + text.size() && number > 0) return number;
  return make_error(ErrorCode::usage, fmt::format("{} can't be '{}'", flag, text), "a whole number from 1");
}

Result<plugin::TopicRequest> topic_request(Verb verb, const TopicFlags& flags) {
  plugin::TopicRequest request;
  request.verb = verb;
  request.topic = flags.topic;
  PILOT_TRY(request.partitions, topic_count(flags.partitions, "--partitions"));
  PILOT_TRY(request.replicas, topic_count(flags.replicas, "--replicas"));
  for (const std::string& setting : flags.settings) {
    const auto equals = setting.find('=');
    if (equals == 0 || equals == std::string::npos)
      return make_error(ErrorCode::usage, fmt::format("--set '{}' is not of the form KEY=VALUE", setting));
    request.settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  request.if_absent = flags.if_absent;
  if (!flags.timeout.empty()) {
    PILOT_TRY(request.timeout, parse_duration(flags.timeout));
  }
  return request;
}

ordered_json topic_json(const core::Topic& topic) {
  ordered_json partitions = ordered_json::array();
  for (const auto& one : topic.partitions)
    partitions.push_back({{"id", one.id},
                          {"leader", one.leader < 0 ? ordered_json() : ordered_json(one.leader)},
                          {"replicas", one.replicas},
                          {"in_sync", one.in_sync}});
  ordered_json bytes;
  if (topic.bytes_by_broker) bytes = *topic.bytes_by_broker;
  return {{"name", topic.name},
          {"internal", topic.internal},
          {"partitions", std::move(partitions)},
          {"replicas", topic.replicas()},
          {"under_replicated", topic.under_replicated()},
          {"leaderless", topic.leaderless()},
          {"bytes_by_broker", std::move(bytes)}};
}

std::string bytes_text(std::int64_t bytes) {
  return bytes < 0 ? "-" : format_bytes(Bytes{static_cast<std::uint64_t>(bytes)});
}

void print_topics(Session& session, const core::TopicAnswer& answer, const std::string& pilot, bool all) {
  if (session.json) {
    ordered_json topics = ordered_json::array();
    for (const auto& topic : answer.topics) topics.push_back(topic_json(topic));
    const ordered_json document{{"schema", "pilot.topics/1"},
                                {"pilot", pilot},
                                {"framework", answer.framework},
                                {"topics", std::move(topics)}};
    return print(document.dump(2) + "\n");
  }
  Table table({"TOPIC", "PARTITIONS", "REPLICAS", "BYTES", "STATE"});
  std::size_t hidden = 0;
  for (const auto& topic : answer.topics) {
    if (topic.internal && !all) {
      ++hidden;
      continue;
    }
    std::string state = "in sync";
    if (topic.under_replicated() > 0)
      state = fmt::format("{} lack a replica in sync", topic.under_replicated());
    if (topic.leaderless() > 0) state += fmt::format(", {} can't be read or written", topic.leaderless());
    table.add({topic.name, std::to_string(topic.partitions.size()), std::to_string(topic.replicas()),
               bytes_text(topic.bytes()), state});
  }
  if (!table.empty()) print(table.text(true, session.colour_on_stdout()));
  if (hidden > 0 && !session.quiet)
    say(fmt::format("{} of the cluster's own {} not shown; --all shows them", hidden,
                    hidden == 1 ? "is" : "are"));
}

void print_topic(Session& session, const core::TopicAnswer& answer, const std::string& pilot) {
  const core::Topic& topic = answer.topics.front();
  if (session.json) {
    const ordered_json document{
        {"schema", "pilot.topic/1"},
        {"pilot", pilot},
        {"framework", answer.framework},
        {"created", answer.created},
        {"grown_from", answer.grown_from ? ordered_json(*answer.grown_from) : ordered_json()},
        {"caution", answer.caution},
        {"topic", topic_json(topic)}};
    return print(document.dump(2) + "\n");
  }
  Table table({"PARTITION", "LEADER", "REPLICAS", "IN SYNC"});
  for (const auto& one : topic.partitions)
    table.add({std::to_string(one.id), one.leader < 0 ? "none" : std::to_string(one.leader),
               fmt::format("{}", fmt::join(one.replicas, " ")),
               fmt::format("{}", fmt::join(one.in_sync, " "))});
  print(table.text(true, session.colour_on_stdout()));
  if (!topic.bytes_by_broker) return;
  Table brokers({"BROKER", "BYTES"});
  for (const auto& [broker, bytes] : *topic.bytes_by_broker) brokers.add({broker, bytes_text(bytes)});
  print("\n" + brokers.text(true, session.colour_on_stdout()));
}

void say_what_changed(Verb verb, const core::TopicAnswer& answer) {
  const core::Topic& topic = answer.topics.front();
  const auto count = topic.partitions.size();
  const auto partitions = fmt::format("{} partition{}", count, count == 1 ? "" : "s");
  if (verb == Verb::create)
    say(answer.created ? fmt::format("topic '{}' has {} with {} replica{}", topic.name, partitions,
                                     topic.replicas(), topic.replicas() == 1 ? "" : "s")
                       : fmt::format("topic '{}' was there already, with {}", topic.name, partitions));
  if (verb == Verb::grow)
    say(fmt::format("topic '{}' has {}, before {}", topic.name, partitions, answer.grown_from.value_or(0)));
}

Result<int> run_topic(Session& session, Verb verb, const TopicFlags& flags) {
  PILOT_TRY(const auto request, topic_request(verb, flags));
  PILOT_TRY(const std::string name, pilot_name(flags.pilot));
  core::Observer nobody;
  const core::Context context = session.context(nobody);
  PILOT_TRY(const core::RunningPilot pilot, core::RunningPilot::open(context, name));
  PILOT_TRY(const auto answer, core::ask_topics(context, pilot, flags.framework, request));
  if (verb == Verb::list) {
    print_topics(session, answer, name, flags.all);
    return 0;
  }
  if (!session.quiet) say_what_changed(verb, answer);
  if (!answer.caution.empty()) say("note: " + answer.caution);
  if (session.json || verb == Verb::describe) print_topic(session, answer, name);
  return 0;
}

Command topic_verb(Session& session, Verb verb, std::string name, std::string summary,
                   std::vector<Option> (*more)(TopicFlags&)) {
  auto flags = std::make_shared<TopicFlags>();
  Command command{std::move(name), std::move(summary)};
  command.arguments = {pilot_argument(flags->pilot, verb != Verb::list)};
  if (verb != Verb::list) command.arguments.push_back({"TOPIC", "its name", &flags->topic, true});
  command.options = more(*flags);
  command.options.push_back({"--framework",
                             "NAME",
                             "of this cluster, if several have topics",
                             &flags->framework,
                             {},
                             Completes::frameworks});
  command.options.push_back(
      {"--timeout", "TIME", "wait no longer than that for the brokers [10s]", &flags->timeout});
  command.run = [&session, flags, verb] { return run_topic(session, verb, *flags); };
  return command;
}

Command create_of(Session& session) {
  Command command =
      topic_verb(session, Verb::create, "create", "Make a topic, and wait until each partition has a leader",
                 [](TopicFlags& flags) {
                   return std::vector<Option>{
                       {"--partitions", "N", "how many: as many consumers can share it, choose amply [1]",
                        &flags.partitions},
                       {"--replicas", "N", "copies on different brokers [3, or as many as there are brokers]",
                        &flags.replicas},
                       {"--set", "KEY=VALUE", "a setting of the topic: retention.ms=3600000; may be repeated",
                        &flags.settings},
                       {"--if-absent", "", "success when it is there already", &flags.if_absent}};
                 });
  command.description =
      "Messages are in order within a partition, not across them. Partitions can be added later ('pilot "
      "topic grow') "
      "but then a key's messages change their partition, and they can never be taken away: so make enough at "
      "the "
      "beginning, two or three for each consumer that you may want.";
  command.examples = {
      "pilot topic create demo frames --partitions 12",
      "pilot topic create demo frames --partitions 12 --replicas 2 --set retention.ms=3600000 "
      "--if-absent"};
  return command;
}

Command grow_of(Session& session) {
  Command command =
      topic_verb(session, Verb::grow, "grow", "Add partitions to a topic", [](TopicFlags& flags) {
        return std::vector<Option>{{"--partitions", "N", "how many altogether", &flags.partitions}};
      });
  command.description =
      "For more consumers than there are partitions. Caution: messages with a key go to a partition by the "
      "key and "
      "the number of partitions. After growing, a key's new messages go to another partition than its old "
      "ones, and "
      "are in no order with them; let consumers read all that is there first, if order matters. Consumers "
      "that begin "
      "at the latest message miss what comes before they learn of a new partition. Partitions can't be taken "
      "away.";
  command.examples = {"pilot topic grow demo frames --partitions 24"};
  return command;
}

Command describe_of(Session& session) {
  Command command =
      topic_verb(session, Verb::describe, "describe", "Show a topic's partitions, and bytes by broker",
                 [](TopicFlags&) { return std::vector<Option>(); });
  command.description =
      "The first of a partition's replicas leads it when it can. A replica that is not in sync is behind, or "
      "its "
      "broker is down.";
  command.examples = {"pilot topic describe demo frames",
                      "pilot topic describe demo frames --json | jq .topic.bytes_by_broker"};
  return command;
}

Command list_of(Session& session) {
  Command command = topic_verb(session, Verb::list, "list", "List a pilot's topics", [](TopicFlags& flags) {
    return std::vector<Option>{{"--all", "", "also the cluster's own", &flags.all}};
  });
  command.examples = {"pilot topic list", "pilot topic list demo --json"};
  return command;
}

}  // namespace

Command topic_command(Session& session) {
  Command command{"topic", "Make, grow and show the topics of a pilot's cluster"};
  command.description = "A program's own client can do the same; 'pilot env' tells it where the cluster is.";
  command.examples = {"pilot topic create demo frames --partitions 12", "pilot topic list demo"};
  command.commands = {create_of(session), grow_of(session), list_of(session), describe_of(session)};
  return command;
}

}  // namespace pilot::cli
