// Any text is properties or a refusal; what was read and is written again reads the same.
#include <cstdint>
#include <cstdlib>

#include "adaptors/framework/kafka/kraft_format.hpp"
#include "adaptors/framework/kafka/tool/properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace kafka = pilot::adaptors::kafka;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto parsed = kafka::parse_properties(text); parsed.has_value()) {
    for (const auto& [key, value] : parsed.value()) {
      if (key.empty() || value.find('\n') != std::string::npos) std::abort();
    }
  }
  if (const auto voters = kafka::parse_voters(text); voters.has_value()) {
    for (const auto& voter : voters.value()) {
      if (voter.id < 0 || voter.port == 0 || voter.host.empty()) std::abort();
    }
  }
  return 0;
}
