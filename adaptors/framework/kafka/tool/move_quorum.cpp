#include "adaptors/framework/kafka/tool/move_quorum.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "adaptors/framework/kafka/protocol/wire.hpp"
#include "pilot/base/file.hpp"

namespace pilot::adaptors::kafka {

namespace {

namespace fs = std::filesystem;
using protocol::Reader;
using protocol::Writer;

// A record batch: base offset (8), length of what follows (4), leader epoch (4), version (1), checksum (4),
// attributes (2), and from there to the number of records what stays as it is.
constexpr std::size_t length_at = 8, epoch_at = 12, version_at = 16, checked_at = 21, records_at = 61;
constexpr std::int16_t control_batch_bit = 0x20, compression_bits = 0x07;
constexpr std::int16_t voters_type = 6;

std::int32_t signed_varint(Reader& reader) {
  const auto value = reader.varint();
  return static_cast<std::int32_t>(value >> 1) ^ -static_cast<std::int32_t>(value & 1);
}

void put_signed(Writer& writer, std::size_t value) {
  writer.varint(static_cast<std::uint32_t>(value) << 1);  // a length is never negative
}

Error another_version(const char* what) {
  return make_error(ErrorCode::failed,
                    fmt::format("the metadata log has {} of a form that is not known", what),
                    "it was written by a newer Kafka; use a pilot that knows it");
}

// VotersRecord, version 0.
Result<std::string> moved_voters(std::string_view value, const std::vector<Voter>& voters) {
  Reader in(value);
  Writer out;
  const auto version = in.int16();
  if (version != 0) return another_version("a list of voters");
  out.int16(version);
  const auto count = in.array();
  out.array(count);
  for (std::size_t i = 0; i < count; ++i) {
    const int id = in.int32();
    out.int32(id);
    out.raw(in.raw(sizeof(Uuid)));
    const auto moved = std::ranges::find(voters, id, &Voter::id);
    const auto endpoints = in.array();
    out.array(endpoints);
    for (std::size_t k = 0; k < endpoints; ++k) {
      out.string(in.string());
      const auto host = in.string();
      const auto port = in.int16();
      out.string(moved == voters.end() ? host : moved->host);
      out.int16(moved == voters.end() ? port : static_cast<std::int16_t>(moved->port));
      in.tags(), out.tags();
    }
    out.int16(in.int16());  // the range of kraft.version
    out.int16(in.int16());
    for (int k = 0; k < 2; ++k) in.tags(), out.tags();  // of the range, of the voter
  }
  in.tags(), out.tags();
  if (in.failed() || !in.at_end()) return another_version("a list of voters");
  return out.text();
}

// A record of a control batch: attributes, time and offset relative to the batch's, key (version, type),
// value, headers.
Result<std::string> moved_record(std::string_view body, const std::vector<Voter>& voters) {
  Reader in(body);
  Writer out;
  out.raw(in.raw(1));
  for (int i = 0; i < 2; ++i) out.varint(in.varint());
  const auto key = in.raw(static_cast<std::size_t>(std::max(0, signed_varint(in))));
  const auto value = in.raw(static_cast<std::size_t>(std::max(0, signed_varint(in))));
  const auto headers = in.varint();
  if (in.failed() || !in.at_end() || headers != 0 || key.size() != 4)
    return another_version("a control record");
  Reader of_key(key);
  of_key.int16();
  if (of_key.int16() != voters_type) return std::string(body);
  PILOT_TRY(const auto moved, moved_voters(value, voters));
  put_signed(out, key.size());
  out.raw(key);
  put_signed(out, moved.size());
  out.raw(moved);
  out.varint(headers);
  return out.text();
}

Result<std::string> moved_batch(std::string_view batch, const std::vector<Voter>& voters) {
  Reader header(batch.substr(checked_at));
  const auto attributes = header.int16();
  if ((attributes & control_batch_bit) == 0) return std::string(batch);
  Reader number(batch.substr(records_at - 4));
  const auto count = number.int32();
  Reader records(batch.substr(records_at));
  Writer checked;  // what the checksum is over
  checked.raw(batch.substr(checked_at, records_at - checked_at));
  for (int i = 0; i < count && !records.failed(); ++i) {
    const auto body = records.raw(static_cast<std::size_t>(std::max(0, signed_varint(records))));
    if (records.failed()) break;
    PILOT_TRY(const auto moved, moved_record(body, voters));
    put_signed(checked, moved.size());
    checked.raw(moved);
  }
  if (records.failed() || !records.at_end() || (attributes & compression_bits) != 0)
    return another_version("a control batch");
  Writer out;
  out.raw(batch.substr(0, length_at));
  out.int32(static_cast<std::int32_t>(checked_at - epoch_at + checked.text().size()));
  out.raw(batch.substr(epoch_at, version_at + 1 - epoch_at));
  out.int32(static_cast<std::int32_t>(crc32c(checked.text())));
  out.raw(checked.text());
  return out.text();
}

}  // namespace

Result<std::string> with_voters_at(std::string_view log, const std::vector<Voter>& voters) {
  std::string out;
  while (log.size() >= records_at) {
    Reader header(log.substr(length_at));
    const auto length = header.int32();
    const auto size = epoch_at + static_cast<std::size_t>(std::max(0, length));
    if (log[version_at] != 2 || size < records_at || size > log.size()) break;  // Kafka cuts it off itself
    PILOT_TRY(const auto batch, moved_batch(log.substr(0, size), voters));
    out += batch;
    log.remove_prefix(size);
  }
  return out += log;
}

Result<int> move_quorum(const fs::path& metadata_folder, const std::vector<Voter>& voters) {
  int changed = 0;
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(metadata_folder / "__cluster_metadata-0", error))
    if (entry.path().extension() == ".log" || entry.path().extension() == ".checkpoint")
      files.push_back(entry.path());
  for (const auto& file : files) {
    PILOT_TRY(const auto before, read_file(file));
    auto after = with_voters_at(before, voters);
    if (after.has_error()) return after.error().while_doing(fmt::format("cannot move '{}'", file.string()));
    if (after.value() == before) continue;
    // The indexes point into the file; Kafka makes those anew that are missing.
    for (const char* index : {".index", ".timeindex"}) {
      auto stale = file;
      fs::remove(stale.replace_extension(index), error);
    }
    const auto mode = static_cast<mode_t>(fs::status(file, error).permissions());
    PILOT_TRY_VOID(write_file(file, after.value(), mode & 0777));
    ++changed;
  }
  return changed;
}

}  // namespace pilot::adaptors::kafka
