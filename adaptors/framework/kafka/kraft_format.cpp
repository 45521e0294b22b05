#include "adaptors/framework/kafka/kraft_format.hpp"

#include <fmt/format.h>

#include <charconv>

namespace pilot::adaptors::kafka {

namespace {

// Big-endian, as Kafka writes everything.
template <typename Integer>
void put(std::string& out, Integer value) {
  for (int shift = 8 * static_cast<int>(sizeof(Integer)) - 8; shift >= 0; shift -= 8) {
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> shift);
  }
}

void put_unsigned_varint(std::string& out, std::uint32_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void put_varint(std::string& out, std::int32_t value) {
  put_unsigned_varint(out,
                      (static_cast<std::uint32_t>(value) << 1) ^ static_cast<std::uint32_t>(value >> 31));
}

void put_compact_string(std::string& out, std::string_view text) {
  put_unsigned_varint(out, static_cast<std::uint32_t>(text.size()) + 1);
  out += text;
}

void put_no_tags(std::string& out) {
  put_unsigned_varint(out, 0);
}

enum class ControlType : std::int16_t {
  snapshot_header = 3,
  snapshot_footer = 4,
  kraft_version = 5,
  voters = 6
};

struct ControlRecord {
  ControlType type;
  std::string value;
};

std::string record(const ControlRecord& control, int offset_delta) {
  std::string body;
  body += '\0';         // attributes
  put_varint(body, 0);  // time, relative to the batch
  put_varint(body, offset_delta);
  put_varint(body, 4);
  put<std::int16_t>(body, 0);  // version of the key
  put(body, static_cast<std::int16_t>(control.type));
  put_varint(body, static_cast<std::int32_t>(control.value.size()));
  body += control.value;
  put_varint(body, 0);  // headers
  std::string out;
  put_varint(out, static_cast<std::int32_t>(body.size()));
  return out + body;
}

std::string control_batch(std::int64_t base_offset, std::int64_t time_ms,
                          const std::vector<ControlRecord>& records) {
  std::string checked;                 // the part under the checksum
  put<std::int16_t>(checked, 0x0020);  // attributes: a control batch
  put(checked, static_cast<std::int32_t>(records.size()) - 1);
  put(checked, time_ms);           // of the first record
  put(checked, time_ms);           // of the last
  put<std::int64_t>(checked, -1);  // no producer id, epoch and sequence
  put<std::int16_t>(checked, -1);
  put<std::int32_t>(checked, -1);
  put(checked, static_cast<std::int32_t>(records.size()));
  for (std::size_t i = 0; i < records.size(); ++i) checked += record(records[i], static_cast<int>(i));
  std::string out;
  put(out, base_offset);
  put(out, static_cast<std::int32_t>(4 + 1 + 4 + checked.size()));
  put<std::int32_t>(out, 0);  // leader epoch
  out += '\2';                // version of the batch
  put(out, crc32c(checked));
  return out + checked;
}

std::string snapshot_header(std::int64_t last_contained_log_time_ms) {
  std::string out;
  put<std::int16_t>(out, 0);
  put(out, last_contained_log_time_ms);
  put_no_tags(out);
  return out;
}

std::string snapshot_footer() {
  std::string out;
  put<std::int16_t>(out, 0);
  put_no_tags(out);
  return out;
}

std::string kraft_version_one() {
  std::string out;
  put<std::int16_t>(out, 0);
  put<std::int16_t>(out, 1);
  put_no_tags(out);
  return out;
}

std::string voters_record(const QuorumStart& start) {
  std::string out;
  put<std::int16_t>(out, 0);
  put_unsigned_varint(out, static_cast<std::uint32_t>(start.voters.size()) + 1);
  for (std::size_t i = 0; i < start.voters.size(); ++i) {
    const auto& voter = start.voters[i];
    put(out, static_cast<std::int32_t>(voter.id));
    out.append(start.directories[i].begin(), start.directories[i].end());
    put_unsigned_varint(out, 1 + 1);  // one endpoint
    put_compact_string(out, start.listener);
    put_compact_string(out, voter.host);
    put(out, voter.port);
    put_no_tags(out);
    put<std::int16_t>(out, 0);  // understands kraft.version 0 ...
    put<std::int16_t>(out, 1);  // ... to 1
    put_no_tags(out);
    put_no_tags(out);
  }
  put_no_tags(out);
  return out;
}

std::uint64_t fnv1a(std::string_view text, std::uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3ULL;
  // FNV mixes the last letters into the low bits only; the finaliser of SplitMix64 spreads them.
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
  return hash ^ (hash >> 31);
}

Result<Voter> parse_voter(std::string_view text) {
  const auto wrong = make_error(ErrorCode::usage, fmt::format("'{}' is no voter", text),
                                "ID@HOST:PORT, e.g. 100@10.0.0.1:9093");
  const auto at = text.find('@');
  const auto colon = text.rfind(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon < at + 2) return wrong;
  Voter voter;
  const auto id = text.substr(0, at);
  const auto port = text.substr(colon + 1);
  auto host = text.substr(at + 1, colon - at - 1);
  const auto id_end = std::from_chars(id.data(), id.data() + id.size(), voter.id);
  const auto port_end = std::from_chars(port.data(), port.data() + port.size(), voter.port);
  if (id_end.ec != std::errc{} || id_end.ptr != id.data() + id.size() || voter.id < 0) return wrong;
  if (port_end.ec != std::errc{} || port_end.ptr != port.data() + port.size() || voter.port == 0)
    return wrong;
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host.empty()) return wrong;
  voter.host = host;
  return voter;
}

}  // namespace

std::string to_string(const Uuid& uuid) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const auto byte : uuid) {
    bits = (bits << 8) | byte;
    for (held += 8; held >= 6; held -= 6) out += alphabet[(bits >> (held - 6)) & 63];
  }
  out += alphabet[(bits << (6 - held)) & 63];
  return out;
}

Uuid uuid_of(std::string_view name) {
  const std::uint64_t halves[2] = {fnv1a(name, 0xcbf29ce484222325ULL), fnv1a(name, 0x9ae16a3b2f90404fULL)};
  Uuid uuid{};
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    uuid[i] = static_cast<std::uint8_t>(halves[i / 8] >> (56 - 8 * (i % 8)));
  }
  // Version 4 and its variant as in Kafka's own; the cleared first bit keeps '-' from the beginning of the
  // text.
  uuid[0] &= 0x7f;
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0f) | 0x40);
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3f) | 0x80);
  return uuid;
}

std::string cluster_id(std::string_view pilot_id) {
  return to_string(uuid_of(fmt::format("cluster/{}", pilot_id)));
}

Uuid directory_uuid(std::string_view cluster, int node_id, int directory) {
  return uuid_of(fmt::format("directory/{}/{}/{}", cluster, node_id, directory));
}

std::string meta_properties(std::string_view cluster, int node_id, const Uuid& directory) {
  return fmt::format("version=1\ncluster.id={}\nnode.id={}\ndirectory.id={}\n", cluster, node_id,
                     to_string(directory));
}

Result<std::vector<Voter>> parse_voters(std::string_view text) {
  std::vector<Voter> voters;
  while (true) {
    const auto comma = text.find(',');
    PILOT_TRY(auto voter, parse_voter(text.substr(0, comma)));
    voters.push_back(std::move(voter));
    if (comma == std::string_view::npos) return voters;
    text = text.substr(comma + 1);
  }
}

std::string quorum_snapshot(const QuorumStart& start) {
  const std::vector<ControlRecord> head = {{ControlType::snapshot_header, snapshot_header(start.header_ms)},
                                           {ControlType::kraft_version, kraft_version_one()},
                                           {ControlType::voters, voters_record(start)}};
  return control_batch(0, start.batch_ms, head) +
         control_batch(static_cast<std::int64_t>(head.size()), start.footer_ms,
                       {{ControlType::snapshot_footer, snapshot_footer()}});
}

std::uint32_t crc32c(std::string_view data) {
  std::uint32_t crc = ~0U;
  for (const char c : data) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0x82f63b78U & (0U - (crc & 1)));
  }
  return ~crc;
}

}  // namespace pilot::adaptors::kafka
