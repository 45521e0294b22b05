#include "adaptors/batch/slurm/partitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "adaptors/batch/host/job_script.hpp"
#include "pilot/base/units.hpp"

namespace pilot::adaptors::slurm {
namespace {

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (auto bar = line.find('|'); bar != std::string_view::npos; bar = line.find('|')) {
    fields.push_back(line.substr(0, bar));
    line.remove_prefix(bar + 1);
  }
  fields.push_back(line);
  return fields;
}

// "4", "4+" (or more).
std::optional<std::int64_t> count_of(std::string_view text) {
  std::int64_t count = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{}) return std::nullopt;
  return count;
}

// "1-infinite", "8": the last number.
std::optional<int> most_of(std::string_view text) {
  const auto dash = text.rfind('-');
  const auto most = count_of(text.substr(dash == std::string_view::npos ? 0 : dash + 1));
  return most ? std::optional(static_cast<int>(*most)) : std::nullopt;
}

// "2:00" are minutes, "1:00:00" hours, "2-00:00:00" days; "infinite" is none.
std::optional<Duration> limit_of(std::string_view text) {
  std::int64_t days = 0, seconds = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    days = count_of(text.substr(0, dash)).value_or(0);
    text.remove_prefix(dash + 1);
  }
  while (!text.empty()) {
    const auto part = count_of(text);
    if (!part) return std::nullopt;
    seconds = seconds * 60 + *part;
    text.remove_prefix(std::min(text.find(':'), text.size() - 1) + 1);
  }
  return std::chrono::seconds(days * 86400 + seconds);
}

Error too_much(const Partition& partition, const std::string& what) {
  return make_error(ErrorCode::usage,
                    fmt::format("the job would never run: partition '{}' {}", partition.name, what),
                    "'sinfo -o \"%P %l %s %D %c %m\"' shows partitions, limits and nodes");
}

}  // namespace

std::vector<Partition> parse_partitions(std::string_view text) {
  constexpr std::uint64_t mebi = 1 << 20;
  std::vector<Partition> partitions;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto fields = fields_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (fields.size() != 6) continue;
    Partition line;
    line.name = fields[0];
    line.is_default = line.name.ends_with('*');
    if (line.is_default) line.name.pop_back();
    line.longest = limit_of(fields[1]);
    line.most_nodes = most_of(fields[2]);
    line.nodes = static_cast<int>(count_of(fields[3]).value_or(0));
    line.cores = static_cast<int>(count_of(fields[4]).value_or(0));
    line.memory = Bytes{static_cast<std::uint64_t>(count_of(fields[5]).value_or(0)) * mebi};
    const auto same = std::ranges::find(partitions, line.name, &Partition::name);
    if (same == partitions.end()) {
      partitions.push_back(std::move(line));
    } else {
      same->nodes += line.nodes;
      same->cores = std::max(same->cores, line.cores);
      same->memory = std::max(same->memory, line.memory);
    }
  }
  return partitions;
}

Result<void> fits_partition(const plugin::AllocationRequest& request,
                            const std::vector<Partition>& partitions) {
  const model::PilotSpec& spec = request.spec;
  const std::string wish = host::option(spec, "queue");
  const auto partition = std::ranges::find_if(
      partitions, [&](const Partition& one) { return wish.empty() ? one.is_default : one.name == wish; });
  if (partition == partitions.end()) return ok();
  if (request.nodes > partition->nodes)
    return too_much(*partition, fmt::format("has {} node{}, {} are wanted", partition->nodes,
                                            partition->nodes == 1 ? "" : "s", request.nodes));
  if (spec.cores_per_node > partition->cores)
    return too_much(*partition, fmt::format("has nodes of at most {} cores, {} are wanted", partition->cores,
                                            spec.cores_per_node));
  if (spec.memory_per_node > partition->memory && partition->memory.count > 0)
    return too_much(*partition,
                    fmt::format("has nodes of at most {}, {} is wanted", format_bytes(partition->memory),
                                format_bytes(spec.memory_per_node)));
  if (!host::option(spec, "qos").empty()) return ok();  // a quality of service may lift the rest
  if (partition->most_nodes && request.nodes > *partition->most_nodes)
    return too_much(*partition, fmt::format("allows {} nodes a job, {} are wanted", *partition->most_nodes,
                                            request.nodes));
  if (partition->longest && spec.walltime && *spec.walltime > *partition->longest)
    return too_much(*partition, fmt::format("allows {}, {} is wanted", format_duration(*partition->longest),
                                            format_duration(*spec.walltime)));
  return ok();
}

}  // namespace pilot::adaptors::slurm
