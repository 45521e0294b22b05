// The primitive types of Kafka's wire protocol (kafka.apache.org/protocol, "Protocol Primitive Types"):
// big-endian integers; in flexible versions compact strings and arrays (length + 1 as a varint, 0 is null)
// and tagged fields at the end of every structure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pilot::adaptors::kafka::protocol {

class Writer {
 public:
  void int8(std::int8_t value) { integer(static_cast<std::uint8_t>(value), 1); }
  void int16(std::int16_t value) { integer(static_cast<std::uint16_t>(value), 2); }
  void int32(std::int32_t value) { integer(static_cast<std::uint32_t>(value), 4); }
  void int64(std::int64_t value) { integer(static_cast<std::uint64_t>(value), 8); }
  void boolean(bool value) { int8(value ? 1 : 0); }
  void varint(std::uint32_t value);  // unsigned

  void string(std::string_view text);  // compact
  void nullable(const std::optional<std::string>& text);
  void array(std::size_t size) { varint(static_cast<std::uint32_t>(size) + 1); }
  void null_array() { varint(0); }
  void int32s(const std::vector<int>& values);
  void tags() { varint(0); }  // none

  void classic_string(std::string_view text);  // before flexible versions: int16 length
  void classic_bytes(std::string_view bytes);  // int32 length

  void raw(std::string_view bytes) { out_ += bytes; }

  const std::string& text() const { return out_; }

 private:
  void integer(std::uint64_t value, int bytes);
  std::string out_;
};

// Reads in the order of writing.  What is malformed or cut off yields zeros and empty values from there on,
// and failed(); lengths are checked against what is left before anything is allocated.
class Reader {
 public:
  explicit Reader(std::string_view data) : left_(data) {}

  std::int8_t int8() { return static_cast<std::int8_t>(integer(1)); }
  std::int16_t int16() { return static_cast<std::int16_t>(integer(2)); }
  std::int32_t int32() { return static_cast<std::int32_t>(integer(4)); }
  std::int64_t int64() { return static_cast<std::int64_t>(integer(8)); }
  bool boolean() { return int8() != 0; }
  std::uint32_t varint();

  std::string string() { return nullable().value_or(""); }
  std::optional<std::string> nullable();
  std::size_t array();  // the number of elements; 0 for null
  std::vector<int> int32s();
  void tags();  // skips them

  std::string classic_string();
  std::string classic_bytes();
  std::size_t classic_array();

  std::string_view raw(std::size_t bytes) { return take(bytes); }

  bool failed() const { return failed_; }
  bool at_end() const { return left_.empty(); }

 private:
  std::uint64_t integer(int bytes);
  std::string_view take(std::size_t bytes);
  std::size_t elements(std::uint64_t count);

  std::string_view left_;
  bool failed_ = false;
};

}  // namespace pilot::adaptors::kafka::protocol
