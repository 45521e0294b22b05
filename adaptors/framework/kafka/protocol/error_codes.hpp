// Kafka's error codes in words (the protocol guide's table).
#pragma once

#include <cstdint>
#include <string>

namespace pilot::adaptors::kafka::protocol {

// Those that the code asks for by name.
inline constexpr std::int16_t no_error = 0;
inline constexpr std::int16_t unknown_topic_or_partition = 3;
inline constexpr std::int16_t replica_not_available = 9;
inline constexpr std::int16_t election_not_needed = 84;
inline constexpr std::int16_t no_reassignment_in_progress = 85;
inline constexpr std::int16_t broker_id_not_registered = 102;
inline constexpr std::int16_t voter_not_found = 127;

// "the replica assignment is invalid (INVALID_REPLICA_ASSIGNMENT)"; with what the broker said, if it did:
// "broker's words (NAME)".  Codes that this program does not expect: "error 123".
std::string sentence(std::int16_t code, const std::string& said = {});

// Whether the same request may succeed a moment later: elections, controllers that move, time-outs.
bool passes(std::int16_t code);

}  // namespace pilot::adaptors::kafka::protocol
