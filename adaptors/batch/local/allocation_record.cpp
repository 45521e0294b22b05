#include "adaptors/batch/local/allocation_record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pilot/base/file.hpp"

namespace pilot::adaptors::local {
namespace {

using nlohmann::json;

json to_json(const model::ProcessIdentity& process) {
  return {{"pid", process.pid}, {"start_ticks", process.start_ticks}, {"boot_id", process.boot_id}};
}

model::ProcessIdentity process_from(const json& value) {
  return {value.at("pid").get<pid_t>(), value.at("start_ticks").get<std::uint64_t>(),
          value.at("boot_id").get<std::string>()};
}

json to_json(const NodeRecord& node) {
  return {{"rank", node.rank},
          {"address", node.address},
          {"reserved", node.reserved},
          {"cores", node.cores},
          {"memory", node.memory.count},
          {"scratch", node.scratch},
          {"agent", to_json(node.agent)},
          {"given_back", node.given_back}};
}

NodeRecord node_from(const json& value) {
  return {value.at("rank").get<int>(),
          value.at("address").get<std::string>(),
          value.at("reserved").get<bool>(),
          value.at("cores").get<int>(),
          Bytes{value.at("memory").get<std::uint64_t>()},
          value.at("scratch").get<std::string>(),
          process_from(value.at("agent")),
          value.value("given_back", false)};
}

}  // namespace

std::filesystem::path record_path(const std::filesystem::path& pilot_dir, const std::string& allocation) {
  return pilot_dir / "allocations" / (allocation + ".json");
}

Result<AllocationRecord> read_record(const std::filesystem::path& path) {
  PILOT_TRY(const std::string text, read_file(path));
  try {
    const json value = json::parse(text);
    AllocationRecord record;
    record.job_id = value.at("job_id").get<std::string>();
    record.host = value.at("host").get<std::string>();
    record.boot_id = value.at("boot_id").get<std::string>();
    record.scratch = value.at("scratch").get<std::string>();
    record.submitted_s = value.at("submitted_s").get<std::int64_t>();
    record.cancelled = value.at("cancelled").get<bool>();
    for (const json& node : value.at("nodes")) record.nodes.push_back(node_from(node));
    return record;
  } catch (const json::exception& error) {
    return make_error(ErrorCode::failed, fmt::format("cannot read '{}': {}", path.string(), error.what()));
  }
}

Result<void> write_record(const std::filesystem::path& path, const AllocationRecord& record) {
  json nodes = json::array();
  for (const NodeRecord& node : record.nodes) nodes.push_back(to_json(node));
  const json value{{"job_id", record.job_id},           {"host", record.host},
                   {"boot_id", record.boot_id},         {"scratch", record.scratch},
                   {"submitted_s", record.submitted_s}, {"cancelled", record.cancelled},
                   {"nodes", std::move(nodes)}};
  PILOT_TRY_VOID(make_directory(path.parent_path()));
  return write_file(path, value.dump(1) + "\n", 0600);
}

}  // namespace pilot::adaptors::local
