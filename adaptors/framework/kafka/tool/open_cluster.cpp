#include "adaptors/framework/kafka/tool/open_cluster.hpp"

#include <fmt/format.h>

#include "adaptors/framework/kafka/tool/properties.hpp"

namespace pilot::adaptors::kafka {

Result<protocol::ClusterClient> open_cluster(const Arguments& arguments) {
  PILOT_TRY(const auto config, arguments.required("--config"));
  PILOT_TRY(const auto properties, read_properties(config));
  auto access = protocol::access_from(properties);
  if (!access.has_value()) return access.error().while_doing(fmt::format("reading '{}'", config));
  return protocol::ClusterClient(std::move(access).value());
}

}  // namespace pilot::adaptors::kafka
