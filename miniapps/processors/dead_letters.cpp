#include "miniapps/processors/dead_letters.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pilot/base/file.hpp"

namespace miniapps::processors {

namespace fs = std::filesystem;

DeadLetters::DeadLetters(fs::path folder, std::string topic, std::size_t limit, const pilot::Clock& clock)
    : folder_(std::move(folder)), topic_(std::move(topic)), limit_(limit), clock_(clock) {}

pilot::Result<bool> DeadLetters::keep(transports::Position position, std::span<const std::byte> message,
                                      std::string_view reason) {
  const std::lock_guard lock(mutex_);
  std::error_code failure;
  fs::create_directories(folder_, failure);
  if (failure)
    return pilot::make_error(pilot::ErrorCode::failed,
                             fmt::format("cannot make '{}': {}", folder_.string(), failure.message()));
  if (!counted_) {
    for (const auto& entry : fs::directory_iterator(folder_, failure))
      kept_ += entry.path().extension() == ".json";
    counted_ = true;
  }
  const auto name = fmt::format("{}-{}-{}", topic_, position.partition, position.offset);
  const bool again = fs::exists(folder_ / (name + ".json"), failure);
  if (!again && kept_ >= limit_) return false;
  const nlohmann::ordered_json line = {{"schema", "miniapp.dead-letter/1"},
                                       {"time", pilot::iso8601(clock_.wall())},
                                       {"topic", topic_},
                                       {"partition", position.partition},
                                       {"offset", position.offset},
                                       {"bytes", message.size()},
                                       {"reason", reason},
                                       {"message", name + ".bin"}};
  const std::string_view bytes(reinterpret_cast<const char*>(message.data()), message.size());
  PILOT_TRY_VOID(pilot::write_file(folder_ / (name + ".bin"), bytes));
  const auto text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  PILOT_TRY_VOID(pilot::write_file(folder_ / (name + ".json"), text));
  kept_ += !again;
  return true;
}

}  // namespace miniapps::processors
