#include <map>

#include "adaptors/framework/kafka/protocol/messages.hpp"
#include "adaptors/framework/kafka/protocol/wire.hpp"

namespace pilot::adaptors::kafka::protocol {

namespace {

// The items of each topic, in the order of the topics' names.
template <typename Item>
std::map<std::string, std::vector<const Item*>> by_topic(const std::vector<Item>& items) {
  std::map<std::string, std::vector<const Item*>> topics;
  for (const auto& item : items) topics[item.topic].push_back(&item);
  return topics;
}

template <typename Item>
void write_partitions(Writer& out, const std::vector<Item>& items) {
  const auto topics = by_topic(items);
  out.array(topics.size());
  for (const auto& [topic, partitions] : topics) {
    out.string(topic);
    out.array(partitions.size());
    for (const auto* partition : partitions) out.int32(partition->partition);
    out.tags();
  }
}

}  // namespace

std::string framed(const Api& api, std::int32_t correlation, std::string_view client, std::string_view body) {
  Writer header;
  header.int16(api.key);
  header.int16(api.version);
  header.int32(correlation);
  header.classic_string(client);
  if (api.flexible) header.tags();
  Writer frame;
  frame.int32(static_cast<std::int32_t>(header.text().size() + body.size()));
  std::string out = frame.text() + header.text();
  out += body;
  return out;
}

std::string api_versions_request() {
  return {};
}

std::string sasl_handshake_request(std::string_view mechanism) {
  Writer out;
  out.classic_string(mechanism);
  return out.text();
}

std::string sasl_authenticate_request(std::string_view bytes) {
  Writer out;
  out.classic_bytes(bytes);
  return out.text();
}

std::string metadata_request() {
  Writer out;
  out.null_array();    // all topics
  out.boolean(false);  // make none
  out.boolean(false);  // no authorized operations of the cluster
  out.boolean(false);  // nor of topics
  out.tags();
  return out.text();
}

std::string describe_log_dirs_request() {
  Writer out;
  out.null_array();
  out.tags();
  return out.text();
}

std::string alter_log_dirs_request(const std::vector<ReplicaPlace>& places) {
  std::map<std::string, std::vector<ReplicaPlace>> folders;
  for (const auto& place : places) folders[place.path].push_back(place);
  Writer out;
  out.array(folders.size());
  for (const auto& [path, inside] : folders) {
    out.string(path);
    write_partitions(out, inside);
    out.tags();
  }
  out.tags();
  return out.text();
}

std::string alter_reassignments_request(const std::vector<Reassignment>& wishes, int timeout) {
  Writer out;
  out.int32(timeout);
  const auto topics = by_topic(wishes);
  out.array(topics.size());
  for (const auto& [topic, partitions] : topics) {
    out.string(topic);
    out.array(partitions.size());
    for (const auto* partition : partitions) {
      out.int32(partition->partition);
      if (partition->replicas) {
        out.int32s(*partition->replicas);
      } else {
        out.null_array();
      }
      out.tags();
    }
    out.tags();
  }
  out.tags();
  return out.text();
}

std::string list_reassignments_request(int timeout) {
  Writer out;
  out.int32(timeout);
  out.null_array();
  out.tags();
  return out.text();
}

std::string alter_configs_request(const std::vector<ConfigChange>& changes) {
  constexpr std::int8_t set = 0;
  constexpr std::int8_t remove = 1;
  Writer out;
  out.array(changes.size());
  for (const auto& change : changes) {
    out.int8(static_cast<std::int8_t>(change.resource));
    out.string(change.name);
    out.array(change.settings.size());
    for (const auto& [key, value] : change.settings) {
      out.string(key);
      out.int8(value ? set : remove);
      out.nullable(value);
      out.tags();
    }
    out.tags();
  }
  out.boolean(false);  // not only validated
  out.tags();
  return out.text();
}

std::string describe_configs_request(const std::vector<ConfigQuery>& queries) {
  Writer out;
  out.array(queries.size());
  for (const auto& query : queries) {
    out.int8(static_cast<std::int8_t>(query.resource));
    out.string(query.name);
    out.array(query.keys.size());
    for (const auto& key : query.keys) out.string(key);
    out.tags();
  }
  out.boolean(false);  // no synonyms
  out.boolean(false);  // no documentation
  out.tags();
  return out.text();
}

std::string elect_preferred_request(const std::vector<PartitionName>& partitions, int timeout) {
  Writer out;
  out.int8(0);  // preferred
  write_partitions(out, partitions);
  out.int32(timeout);
  out.tags();
  return out.text();
}

std::string unregister_broker_request(int broker) {
  Writer out;
  out.int32(broker);
  out.tags();
  return out.text();
}

std::string remove_voter_request(const Voter& voter) {
  Writer out;
  out.nullable(std::nullopt);  // of whichever cluster answers
  out.int32(voter.id);
  out.raw(voter.directory);
  out.tags();
  return out.text();
}

std::string describe_quorum_request() {
  Writer out;
  out.array(1);
  out.string("__cluster_metadata");
  out.array(1);
  out.int32(0);
  out.tags();
  out.tags();
  out.tags();
  return out.text();
}

}  // namespace pilot::adaptors::kafka::protocol
