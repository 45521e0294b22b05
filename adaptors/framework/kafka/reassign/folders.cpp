#include "adaptors/framework/kafka/reassign/folders.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace pilot::adaptors::kafka::reassign {

namespace {

using FolderAt = std::size_t;
using ReplicaAt = std::size_t;

// The folders of one broker, with sums that follow what moves.
class Disks {
 public:
  explicit Disks(std::vector<Folder> folders) : folders_(std::move(folders)) {
    std::sort(folders_.begin(), folders_.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    for (const auto& folder : folders_) {
      bytes_.push_back(folder.bytes().count);
      count_.push_back(folder.replicas.size());
    }
  }

  const std::vector<Folder>& folders() const { return folders_; }
  std::uint64_t bytes(FolderAt at) const { return bytes_[at]; }
  std::uint64_t difference() const { return bytes_[fullest()] - bytes_[emptiest()]; }
  double mean() const {
    double sum = 0;
    for (const auto bytes : bytes_) sum += static_cast<double>(bytes);
    return sum / static_cast<double>(bytes_.size());
  }
  FolderAt fullest() const {
    return static_cast<FolderAt>(std::max_element(bytes_.begin(), bytes_.end()) - bytes_.begin());
  }
  FolderAt emptiest() const {
    return static_cast<FolderAt>(std::min_element(bytes_.begin(), bytes_.end()) - bytes_.begin());
  }
  bool has_room(FolderAt at, Bytes size) const { return folders_[at].room >= size; }

  std::optional<FolderAt> best_for(Bytes size) const {
    std::optional<FolderAt> best;
    for (FolderAt at = 0; at < folders_.size(); ++at) {
      if (!has_room(at, size)) continue;
      if (!best || std::tie(bytes_[at], count_[at]) < std::tie(bytes_[*best], count_[*best])) best = at;
    }
    return best;
  }

  void add(FolderAt at, Bytes size) {
    bytes_[at] += size.count;
    ++count_[at];
    folders_[at].room.count -= size.count;
  }
  void remove(FolderAt at, Bytes size) {
    bytes_[at] -= size.count;
    --count_[at];
  }

 private:
  std::vector<Folder> folders_;
  std::vector<std::uint64_t> bytes_;
  std::vector<std::size_t> count_;
};

// Largest first; of equal ones the first by name.
bool before(const Replica& a, const Replica& b) {
  return std::tie(b.size, a.topic, a.index) < std::tie(a.size, b.topic, b.index);
}

// What even_out() says, for one move of a size s, after which the two differ by |difference - 2 s|: enough is
// what leaves no more than the slack, and worth it a larger one that takes away as much.
std::optional<ReplicaAt> best_to_move(const Disks& disks, const std::vector<bool>& moved, double slack) {
  const auto from = disks.fullest();
  const auto to = disks.emptiest();
  const auto difference = static_cast<double>(disks.difference());
  const double least = (difference - slack) / 2;
  const double most = (difference + slack) / 2;
  const double worth_it = std::max(most, difference - slack / 2);
  const auto rank = [&](double size) {
    if (size >= least && size <= most) return std::pair(0, size);
    return size < least ? std::pair(1, -size) : std::pair(2, size);
  };
  std::optional<ReplicaAt> best;
  const auto& replicas = disks.folders()[from].replicas;
  for (ReplicaAt at = 0; at < replicas.size(); ++at) {
    const auto size = static_cast<double>(replicas[at].size.count);
    if (moved[at] || size <= 0 || size > worth_it || !disks.has_room(to, replicas[at].size)) continue;
    if (!best || rank(size) < rank(static_cast<double>(replicas[*best].size.count))) best = at;
  }
  return best;
}

}  // namespace

Bytes Folder::bytes() const {
  Bytes sum;
  for (const auto& replica : replicas) sum.count += replica.size.count;
  return sum;
}

std::vector<FolderMove> place(std::vector<Folder> folders, std::vector<Replica> coming) {
  std::set<std::pair<std::string, int>> here;
  for (const auto& folder : folders) {
    for (const auto& replica : folder.replicas) here.emplace(replica.topic, replica.index);
  }
  std::sort(coming.begin(), coming.end(), before);
  Disks disks(std::move(folders));
  std::vector<FolderMove> places;
  for (auto& replica : coming) {
    const auto to = disks.best_for(replica.size);
    if (!to || here.count({replica.topic, replica.index}) != 0) continue;
    disks.add(*to, replica.size);
    places.push_back({std::move(replica), "", disks.folders()[*to].path});
  }
  return places;
}

std::vector<FolderMove> even_out(std::vector<Folder> folders, const Evenness& evenness) {
  std::vector<FolderMove> moves;
  if (folders.size() < 2) return moves;
  for (auto& folder : folders) std::sort(folder.replicas.begin(), folder.replicas.end(), before);
  Disks disks(std::move(folders));
  const double slack =
      std::max(evenness.tolerance * disks.mean(), static_cast<double>(evenness.notable.count));
  std::vector<std::vector<bool>> moved;
  for (const auto& folder : disks.folders()) moved.emplace_back(folder.replicas.size());
  while (static_cast<double>(disks.difference()) > slack) {
    const auto from = disks.fullest();
    const auto to = disks.emptiest();
    const auto at = best_to_move(disks, moved[from], slack);
    if (!at) break;
    moved[from][*at] = true;
    const auto& replica = disks.folders()[from].replicas[*at];
    disks.remove(from, replica.size);
    disks.add(to, replica.size);
    moves.push_back({replica, disks.folders()[from].path, disks.folders()[to].path});
  }
  return moves;
}

}  // namespace pilot::adaptors::kafka::reassign
