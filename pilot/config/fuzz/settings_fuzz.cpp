// Any text is a spec, a scenario, or refused with its place.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pilot/config/pilot_settings.hpp"
#include "pilot/config/scenario.hpp"
#include "pilot/config/yaml.hpp"

namespace {

template <typename Result>
void must_have_a_place(const Result& result) {
  if (result.has_value()) return;
  const pilot::Error& error = result.error();
  if (error.code != pilot::ErrorCode::usage || error.message.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = pilot::config::parse_yaml(text, "f");
  must_have_a_place(parsed);
  if (!parsed.has_value()) return 0;
  must_have_a_place(pilot::config::parse_scenario(parsed.value()));
  pilot::config::normalise_frameworks(parsed.value());
  must_have_a_place(pilot::config::decode_pilot_spec(parsed.value()));
  (void)pilot::config::show_settings(parsed.value());
  return 0;
}
