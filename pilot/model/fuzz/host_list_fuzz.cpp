// Fuzz target: any text into expand_hosts; what it accepts must come back from its short form.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pilot/model/host_list.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const auto hosts = pilot::model::expand_hosts({reinterpret_cast<const char*>(data), size});
  if (hosts.has_error()) return 0;
  const auto again = pilot::model::expand_hosts(pilot::model::compress_hosts(hosts.value()));
  if (again.has_error() || again.value() != hosts.value()) std::abort();
  return 0;
}
