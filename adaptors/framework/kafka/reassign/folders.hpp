// In which log directory of its broker a replica should be.  Kafka puts a new one where the fewest are,
// whatever their bytes, and leaves it there.  Pure: same input, same answer.
#pragma once

#include <string>
#include <vector>

#include "pilot/base/units.hpp"

namespace pilot::adaptors::kafka::reassign {

struct Replica {
  std::string topic;
  int index = 0;
  Bytes size;
};

// One log directory that is on line.
struct Folder {
  std::string path;
  Bytes room;  // free on its volume
  std::vector<Replica> replicas;

  Bytes bytes() const;
};

struct FolderMove {
  Replica replica;
  std::string from;  // empty: the replica comes from another broker
  std::string to;
};

// For replicas that come to the broker: each, the largest first, goes to the directory that then has the
// fewest bytes; of equal ones to that with the fewest replicas, then the first by path.  One that the broker
// has already, or that has room nowhere, gets no answer.
std::vector<FolderMove> place(std::vector<Folder> folders, std::vector<Replica> coming);

struct Evenness {
  // Directories are even while the fullest has at most so much more than the emptiest, in parts of what
  // they have on average, or less than `notable` more.
  double tolerance = 0.20;
  Bytes notable{1 << 20};
};

// Moves between the directories of one broker until they are even: from the fullest to the emptiest, each
// time the smallest replica that is enough; else the largest that is too small; else the smallest that makes
// them less uneven by as much as is tolerated.  Nothing moves twice, and nothing where it helps hardly.
std::vector<FolderMove> even_out(std::vector<Folder> folders, const Evenness& evenness = {});

}  // namespace pilot::adaptors::kafka::reassign
