#include "pilot/plugin/registry.hpp"

#include <fmt/format.h>

#include "pilot/base/suggest.hpp"

namespace pilot::plugin {
namespace {

template <typename Map>
std::vector<std::string> names_of(const Map& map) {
  std::vector<std::string> names;
  for (const auto& [name, adaptor] : map) names.push_back(name);
  return names;
}

template <typename Map>
auto find(const Map& map, std::string_view kind, std::string_view name)
    -> Result<typename Map::mapped_type::pointer> {
  const auto found = map.find(name);
  if (found == map.end())
    return make_error(ErrorCode::usage, fmt::format("there is no {} '{}'", kind, name),
                      suggestion(name, names_of(map)));
  return found->second.get();
}

}  // namespace

void Registry::add(std::unique_ptr<FrameworkAdaptor> adaptor) {
  std::string name(adaptor->name());
  frameworks_.emplace(std::move(name), std::move(adaptor));
}

void Registry::add(std::unique_ptr<BatchAdaptor> adaptor) {
  std::string name(adaptor->name());
  batches_.emplace(std::move(name), std::move(adaptor));
}

Result<const FrameworkAdaptor*> Registry::framework(std::string_view name) const {
  PILOT_TRY(const FrameworkAdaptor* found, find(frameworks_, "framework", name));
  return found;
}

Result<BatchAdaptor*> Registry::batch(std::string_view name) const {
  return find(batches_, "resource", name);
}

std::vector<const FrameworkAdaptor*> Registry::frameworks() const {
  std::vector<const FrameworkAdaptor*> all;
  for (const auto& [name, adaptor] : frameworks_) all.push_back(adaptor.get());
  return all;
}

std::vector<const BatchAdaptor*> Registry::batches() const {
  std::vector<const BatchAdaptor*> all;
  for (const auto& [name, adaptor] : batches_) all.push_back(adaptor.get());
  return all;
}

}  // namespace pilot::plugin
