// Where the replicas of a Kafka cluster should be: who moves when brokers come, go or are unevenly loaded.
// Pure: same input, same plan.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/base/units.hpp"

namespace pilot::adaptors::kafka::reassign {

enum class Role {
  keep,   // holds its fair share afterwards
  drain,  // holds nothing afterwards
  leave,  // neither gives nor gets: a broker that is down for a moment
};

struct Broker {
  int id = 0;
  std::string rack;  // empty: unknown; then only brokers are kept apart
  Role role = Role::keep;
  Bytes room{std::numeric_limits<std::uint64_t>::max()};  // free on its disks
};

struct Partition {
  std::string topic;
  int index = 0;
  std::vector<int> replicas;  // the first one is the preferred leader
  Bytes size;                 // of one replica
};

struct Move {
  std::string topic;
  int index = 0;
  std::vector<int> from;
  std::vector<int> to;
  Bytes size;  // of one replica

  std::vector<int> added() const;
  Bytes moved() const;  // size x replicas added; 0 when only the order changes
};

struct Plan {
  std::vector<Move> moves;  // by topic and index
  Bytes moved;
  std::size_t without_place = 0;  // replicas that stay listed on drained brokers; see Wish
};

struct Wish {
  // False: only what draining asks for; loads and leaders stay as they are.
  bool balance = true;
  // Where nobody is drained or new, a broker is left alone while its bytes and its replicas are within this
  // part of the fair share.
  double tolerance = 0.20;
  // The drained brokers go in any case, or are gone: a replica that has no other place stays listed where it
  // is, so that a broker that comes later can take it over, and the rest moves.  False: that is refused.
  bool as_far_as_possible = false;
};

// New lists for the partitions that change.  Replicas on drained brokers go to the kept brokers where they
// disturb the balance of bytes and replicas least; brokers with less than half of the fair share count as
// new and are filled up to it from the fullest.  When nobody is to be drained and nobody is new, those
// outside the tolerance are filled and relieved; otherwise unevenness that was among the old ones before
// costs no bytes.  Last, preferred leaders are spread by reordering lists, which moves nothing.  The replicas
// of a partition stay on distinct brokers, and no move puts more of them into one rack than were there when
// another rack is possible.  A broker that only occurs in `partitions` is left as it is.
// Errors: usage, with the numbers, when a topic has more replicas than brokers are kept or a broker is
// named twice; failed, with the numbers, when the kept brokers have no room.
Result<Plan> plan(std::vector<Broker> brokers, std::vector<Partition> partitions, const Wish& wish = {});

// The moves in order, cut into batches of at most `count` moves and, unless a single move is larger,
// `bytes` moved.  Those that only reorder come last.
std::vector<std::vector<Move>> batches(std::vector<Move> moves, Bytes bytes, std::size_t count);

}  // namespace pilot::adaptors::kafka::reassign
