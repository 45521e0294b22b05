#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "adaptors/framework/kafka/protocol/error_codes.hpp"
#include "adaptors/framework/kafka/protocol/messages.hpp"
#include "adaptors/framework/kafka/protocol/wire.hpp"

namespace pilot::adaptors::kafka::protocol {

namespace {

Error malformed(const Api& api) {
  return make_error(ErrorCode::failed,
                    fmt::format("the answer to {} version {} is malformed", api.name, api.version));
}

// The last step of every parser: nothing cut off, nothing left over, no error for the whole request.
Result<void> finish(Reader& in, const Api& api, std::int16_t error = 0, const std::string& said = {}) {
  if (in.failed() || !in.at_end()) return malformed(api);
  if (error != no_error)
    return make_error(passes(error) ? ErrorCode::unavailable : ErrorCode::failed, sentence(error, said));
  return ok();
}

// Calls `element` for each; the structures of flexible versions end with tagged fields.
template <typename Element>
void each(Reader& in, Element element) {
  for (auto left = in.array(); left > 0 && !in.failed(); --left) {
    element();
    in.tags();
  }
}

PartitionState partition_state(Reader& in) {
  PartitionState partition;
  in.int16();  // its error: no leader, which shows
  partition.index = in.int32();
  partition.leader = in.int32();
  in.int32();  // the leader's epoch
  partition.replicas = in.int32s();
  partition.in_sync = in.int32s();
  in.int32s();  // offline
  return partition;
}

PartitionResult partition_result(Reader& in, const std::string& topic) {
  PartitionResult result{topic, in.int32(), 0, {}};
  result.error = in.int16();
  result.said = in.string();
  return result;
}

ConfigAnswer config_answer(Reader& in) {
  constexpr std::int8_t of_topic = 1;
  constexpr std::int8_t of_broker = 2;
  ConfigAnswer answer;
  answer.error = in.int16();
  answer.said = in.string();
  answer.resource = static_cast<Resource>(in.int8());
  answer.name = in.string();
  each(in, [&] {
    Setting setting;
    setting.key = in.string();
    setting.value = in.string();
    in.boolean();  // read only
    const auto source = in.int8();
    setting.own = source == of_topic || source == of_broker;
    in.boolean();   // sensitive
    each(in, [&] {  // synonyms
      in.string();
      in.string();
      in.int8();
    });
    in.int8();    // type
    in.string();  // documentation
    answer.settings.push_back(std::move(setting));
  });
  return answer;
}

}  // namespace

Result<std::string_view> unframed(const Api& api, std::int32_t correlation, std::string_view answer) {
  Reader header(answer);
  const auto got = header.int32();
  std::size_t size = 4;
  if (api.flexible) {
    const auto body = answer.substr(std::min<std::size_t>(4, answer.size()));
    Reader tags(body);
    if (tags.varint() != 0) return malformed(api);  // Kafka has none in headers
    size = 5;
  }
  if (header.failed() || got != correlation || answer.size() < size) return malformed(api);
  return answer.substr(size);
}

Result<std::vector<VersionRange>> parse_api_versions(std::string_view body) {
  Reader in(body);
  const auto error = in.int16();
  std::vector<VersionRange> ranges;
  for (auto left = in.classic_array(); left > 0 && !in.failed(); --left) {
    VersionRange range{in.int16(), 0, 0};
    range.least = in.int16();
    range.most = in.int16();
    ranges.push_back(range);
  }
  PILOT_TRY_VOID(finish(in, api_versions_api, error));
  return ranges;
}

Result<void> parse_sasl_handshake(std::string_view body) {
  Reader in(body);
  const auto error = in.int16();
  std::vector<std::string> mechanisms;
  for (auto left = in.classic_array(); left > 0 && !in.failed(); --left)
    mechanisms.push_back(in.classic_string());
  return finish(
      in, sasl_handshake_api, error,
      fmt::format("the broker knows the SASL mechanism {}, not PLAIN", fmt::join(mechanisms, ", ")));
}

Result<void> parse_sasl_authenticate(std::string_view body) {
  Reader in(body);
  const auto error = in.int16();
  const auto said = in.classic_string();
  in.classic_bytes();
  in.int64();  // lifetime of the session
  return finish(in, sasl_authenticate_api, error, said);
}

Result<ClusterState> parse_metadata(std::string_view body) {
  Reader in(body);
  ClusterState cluster;
  in.int32();  // throttle time
  each(in, [&] {
    BrokerNode broker{in.int32(), {}, 0, {}};
    broker.host = in.string();
    broker.port = in.int32();
    broker.rack = in.string();
    cluster.brokers.push_back(std::move(broker));
  });
  in.string();  // cluster id
  in.int32();   // controller: in KRaft any broker
  each(in, [&] {
    TopicState topic;
    topic.error = in.int16();
    topic.name = in.string();
    topic.internal = in.boolean();
    each(in, [&] { topic.partitions.push_back(partition_state(in)); });
    in.int32();  // authorized operations
    cluster.topics.push_back(std::move(topic));
  });
  in.int32();  // authorized operations
  in.tags();
  PILOT_TRY_VOID(finish(in, metadata_api));
  return cluster;
}

Result<std::vector<LogDir>> parse_describe_log_dirs(std::string_view body) {
  Reader in(body);
  std::vector<LogDir> folders;
  in.int32();  // throttle time
  const auto error = in.int16();
  each(in, [&] {
    LogDir folder;
    folder.error = in.int16();
    folder.path = in.string();
    each(in, [&] {
      const auto topic = in.string();
      each(in, [&] {
        ReplicaSize replica{topic, in.int32(), 0};
        replica.bytes = in.int64();
        in.int64();  // lag
        replica.future = in.boolean();
        folder.replicas.push_back(std::move(replica));
      });
    });
    folder.total_bytes = in.int64();
    folder.usable_bytes = in.int64();
    folders.push_back(std::move(folder));
  });
  in.tags();
  PILOT_TRY_VOID(finish(in, describe_log_dirs_api, error));
  return folders;
}

Result<std::vector<PartitionResult>> parse_alter_log_dirs(std::string_view body) {
  Reader in(body);
  std::vector<PartitionResult> results;
  in.int32();  // throttle time
  each(in, [&] {
    const auto topic = in.string();
    each(in, [&] {
      PartitionResult result{topic, in.int32(), 0, {}};
      result.error = in.int16();
      results.push_back(std::move(result));
    });
  });
  in.tags();
  PILOT_TRY_VOID(finish(in, alter_log_dirs_api));
  return results;
}

Result<std::vector<PartitionResult>> parse_alter_reassignments(std::string_view body) {
  Reader in(body);
  std::vector<PartitionResult> results;
  in.int32();  // throttle time
  const auto error = in.int16();
  const auto said = in.string();
  each(in, [&] {
    const auto topic = in.string();
    each(in, [&] { results.push_back(partition_result(in, topic)); });
  });
  in.tags();
  PILOT_TRY_VOID(finish(in, alter_reassignments_api, error, said));
  return results;
}

Result<std::vector<Ongoing>> parse_list_reassignments(std::string_view body) {
  Reader in(body);
  std::vector<Ongoing> all;
  in.int32();  // throttle time
  const auto error = in.int16();
  const auto said = in.string();
  each(in, [&] {
    const auto topic = in.string();
    each(in, [&] {
      Ongoing ongoing{topic, in.int32(), {}, {}, {}};
      ongoing.replicas = in.int32s();
      ongoing.adding = in.int32s();
      ongoing.removing = in.int32s();
      all.push_back(std::move(ongoing));
    });
  });
  in.tags();
  PILOT_TRY_VOID(finish(in, list_reassignments_api, error, said));
  return all;
}

Result<void> parse_alter_configs(std::string_view body) {
  Reader in(body);
  std::int16_t error = 0;
  std::string said;
  in.int32();  // throttle time
  each(in, [&] {
    const auto code = in.int16();
    const auto words = in.string();
    const auto resource = static_cast<Resource>(in.int8());
    const auto name = in.string();
    if (code == no_error || error != no_error) return;
    // A topic that was deleted meanwhile has no settings left to change.
    if (code == unknown_topic_or_partition && resource == Resource::topic) return;
    error = code;
    said = fmt::format("{} {}: {}", resource == Resource::broker ? "broker" : "topic", name,
                       words.empty() ? sentence(code) : words);
  });
  in.tags();
  return finish(in, alter_configs_api, error, said);
}

Result<std::vector<ConfigAnswer>> parse_describe_configs(std::string_view body) {
  Reader in(body);
  std::vector<ConfigAnswer> answers;
  in.int32();  // throttle time
  each(in, [&] { answers.push_back(config_answer(in)); });
  in.tags();
  PILOT_TRY_VOID(finish(in, describe_configs_api));
  return answers;
}

Result<std::vector<PartitionResult>> parse_elect_leaders(std::string_view body) {
  Reader in(body);
  std::vector<PartitionResult> results;
  in.int32();  // throttle time
  const auto error = in.int16();
  each(in, [&] {
    const auto topic = in.string();
    each(in, [&] { results.push_back(partition_result(in, topic)); });
  });
  in.tags();
  PILOT_TRY_VOID(finish(in, elect_leaders_api, error == election_not_needed ? no_error : error));
  return results;
}

Result<void> parse_unregister_broker(std::string_view body) {
  Reader in(body);
  in.int32();  // throttle time
  const auto error = in.int16();
  const auto said = in.string();
  in.tags();
  return finish(in, unregister_broker_api, error == broker_id_not_registered ? no_error : error, said);
}

Result<std::vector<Voter>> parse_describe_quorum(std::string_view body) {
  constexpr std::int64_t silence = 10'000;  // ms
  struct Replica {
    Voter voter;
    std::int64_t asked = 0;  // by the leader's clock
    std::int64_t knew = 0;   // all there was; of the leader: now
  };
  Reader in(body);
  std::vector<Replica> replicas;
  int leader = -1;
  auto error = in.int16();
  auto said = in.string();
  const auto replica = [&] {
    Replica one{{in.int32(), std::string(in.raw(16))}};
    in.int64();  // the end of its log
    one.asked = in.int64();
    one.knew = in.int64();
    return one;
  };
  each(in, [&] {
    in.string();  // the topic
    each(in, [&] {
      in.int32();  // the partition
      const auto of_partition = in.int16();
      const auto said_of_it = in.string();
      if (error == no_error) error = of_partition, said = said_of_it;
      leader = in.int32();
      in.int32();  // its epoch
      in.int64();  // the high watermark
      each(in, [&] { replicas.push_back(replica()); });
      each(in, replica);  // observers
    });
  });
  each(in, [&] {
    in.int32();  // a node
    each(in, [&] {
      in.string();  // its listener,
      in.string();  // host
      in.int16();   // and port
    });
  });
  in.tags();
  PILOT_TRY_VOID(finish(in, describe_quorum_api, error, said));
  const auto at = std::ranges::find(replicas, leader, [](const Replica& one) { return one.voter.id; });
  const auto now = at == replicas.end() ? 0 : at->knew;
  std::vector<Voter> voters;
  for (auto& one : replicas) {
    one.voter.active = one.voter.id == leader || (one.asked > 0 && now - one.asked < silence);
    voters.push_back(std::move(one.voter));
  }
  return voters;
}

Result<void> parse_remove_voter(std::string_view body) {
  Reader in(body);
  in.int32();  // throttle time
  const auto error = in.int16();
  const auto said = in.string();
  in.tags();
  return finish(in, remove_voter_api, error == voter_not_found ? no_error : error, said);
}

}  // namespace pilot::adaptors::kafka::protocol
