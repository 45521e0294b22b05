// Whatever a broker sends is an answer or a refusal.  The first byte chooses the request.
#include <cstdint>
#include <cstdlib>

#include "adaptors/framework/kafka/protocol/access.hpp"
#include "adaptors/framework/kafka/protocol/messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pilot::adaptors::kafka::protocol;
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0]) {
    case 3:
      // Every element takes bytes of the answer, so an answer can't make more than it is long.
      if (const auto state = parse_metadata(body); state.has_value() && state.value().topics.size() > size)
        std::abort();
      break;
    case 17:
      (void)parse_sasl_handshake(body);
      break;
    case 18:
      (void)parse_api_versions(body);
      break;
    case 32:
      (void)parse_describe_configs(body);
      break;
    case 34:
      (void)parse_alter_log_dirs(body);
      break;
    case 35:
      (void)parse_describe_log_dirs(body);
      break;
    case 36:
      (void)parse_sasl_authenticate(body);
      break;
    case 43:
      (void)parse_elect_leaders(body);
      break;
    case 44:
      (void)parse_alter_configs(body);
      break;
    case 45:
      (void)parse_alter_reassignments(body);
      break;
    case 46:
      (void)parse_list_reassignments(body);
      break;
    case 55:
      (void)parse_describe_quorum(body);
      break;
    case 64:
      (void)parse_unregister_broker(body);
      break;
    case 81:
      (void)parse_remove_voter(body);
      break;
    default:
      (void)unframed(metadata_api, 0, body);
      if (const auto endpoint = parse_endpoint(std::string(body)); endpoint.has_value()) {
        if (endpoint.value().host.empty() || endpoint.value().port < 1) std::abort();
      }
  }
  return 0;
}
