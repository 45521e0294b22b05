#include "adaptors/framework/kafka/protocol/wire.hpp"

namespace pilot::adaptors::kafka::protocol {

void Writer::integer(std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out_ += static_cast<char>(value >> shift & 0xff);
}

void Writer::varint(std::uint32_t value) {
  for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
  out_ += static_cast<char>(value);
}

void Writer::string(std::string_view text) {
  varint(static_cast<std::uint32_t>(text.size()) + 1);
  out_ += text;
}

void Writer::nullable(const std::optional<std::string>& text) {
  if (text) {
    string(*text);
  } else {
    varint(0);
  }
}

void Writer::int32s(const std::vector<int>& values) {
  array(values.size());
  for (const int value : values) int32(value);
}

void Writer::classic_string(std::string_view text) {
  int16(static_cast<std::int16_t>(text.size()));
  out_ += text;
}

void Writer::classic_bytes(std::string_view bytes) {
  int32(static_cast<std::int32_t>(bytes.size()));
  out_ += bytes;
}

std::string_view Reader::take(std::size_t bytes) {
  if (failed_ || bytes > left_.size()) {
    failed_ = true;
    left_ = {};
    return {};
  }
  const auto taken = left_.substr(0, bytes);
  left_.remove_prefix(bytes);
  return taken;
}

std::uint64_t Reader::integer(int bytes) {
  std::uint64_t value = 0;
  for (const char c : take(static_cast<std::size_t>(bytes)))
    value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::uint32_t Reader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(int8());
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) {
      if (value > 0xffffffff) failed_ = true;
      return failed_ ? 0 : static_cast<std::uint32_t>(value);
    }
  }
  failed_ = true;
  return 0;
}

std::optional<std::string> Reader::nullable() {
  const auto length = varint();
  if (length == 0) return std::nullopt;
  return std::string(take(length - 1));
}

// Every element takes at least a byte, so a larger number is a lie and nothing is allocated for it.
std::size_t Reader::elements(std::uint64_t count) {
  if (count > left_.size()) {
    take(left_.size() + 1);
    return 0;
  }
  return static_cast<std::size_t>(count);
}

std::size_t Reader::array() {
  const auto length = varint();
  return length == 0 ? 0 : elements(length - 1);
}

std::vector<int> Reader::int32s() {
  std::vector<int> values(array());
  for (auto& value : values) value = int32();
  return values;
}

void Reader::tags() {
  for (auto count = varint(); count > 0 && !failed_; --count) {
    varint();
    take(varint());
  }
}

std::string Reader::classic_string() {
  const auto length = int16();
  return length < 0 ? "" : std::string(take(static_cast<std::size_t>(length)));
}

std::string Reader::classic_bytes() {
  const auto length = int32();
  return length < 0 ? "" : std::string(take(static_cast<std::size_t>(length)));
}

std::size_t Reader::classic_array() {
  const auto length = int32();
  return length < 0 ? 0 : elements(static_cast<std::uint64_t>(length));
}

}  // namespace pilot::adaptors::kafka::protocol
