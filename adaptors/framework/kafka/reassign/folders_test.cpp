#include "adaptors/framework/kafka/reassign/folders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace pilot::adaptors::kafka::reassign {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Bytes unlimited{1ull << 60};

Bytes mib(std::uint64_t count) {
  return Bytes{count << 20};
}

// A folder with replicas t-0, t-1, ... of these sizes in MiB, numbered from `first`.
Folder folder(const std::string& path, const std::vector<std::uint64_t>& sizes, int first = 0) {
  Folder made{path, unlimited, {}};
  for (const auto size : sizes) made.replicas.push_back({"t", first++, mib(size)});
  return made;
}

std::vector<std::string> said(const std::vector<FolderMove>& moves) {
  std::vector<std::string> all;
  for (const auto& move : moves)
    all.push_back(std::to_string(move.replica.index) + ": " + move.from + " to " + move.to);
  return all;
}

TEST(FoldersPlace, EachGoesWhereThenTheFewestBytesAreTheLargestFirst) {
  // By number, as Kafka counts, all would go to /b.
  const auto places = place({folder("/a", {1, 1, 1}), folder("/b", {30}, 3)},
                            {{"u", 0, mib(5)}, {"u", 1, mib(40)}, {"u", 2, mib(5)}});
  EXPECT_THAT(said(places), ElementsAre("1:  to /a", "0:  to /b", "2:  to /b"));
}

TEST(FoldersPlace, ReplicasWithoutBytesAreSpreadByNumberInTheOrderOfPaths) {
  const auto places = place({folder("/b", {}), folder("/a", {})}, {{"u", 0, {}}, {"u", 1, {}}, {"u", 2, {}}});
  EXPECT_THAT(said(places), ElementsAre("0:  to /a", "1:  to /b", "2:  to /a"));
}

TEST(FoldersPlace, NoneWithoutRoomAndNoneForWhatIsThere) {
  auto full = folder("/a", {});
  full.room = mib(3);
  const auto places =
      place({full, folder("/b", {9})}, {{"t", 0, mib(1)}, {"u", 1, mib(4)}, {"u", 2, mib(2)}});
  EXPECT_THAT(said(places), ElementsAre("1:  to /b", "2:  to /a"));
  auto other = folder("/b", {});
  other.room = mib(3);
  EXPECT_THAT(place({full, other}, {{"u", 0, mib(4)}}), IsEmpty());
}

TEST(FoldersEvenOut, WithinTheToleranceNothingMoves) {
  EXPECT_THAT(even_out({}), IsEmpty());
  EXPECT_THAT(even_out({folder("/a", {50, 50})}), IsEmpty());
  EXPECT_THAT(even_out({folder("/a", {60, 50}), folder("/b", {60, 30}, 2)}), IsEmpty()) << "20 of 100";
  EXPECT_THAT(said(even_out({folder("/a", {61, 10, 40}), folder("/b", {59, 30}, 3)})),
              ElementsAre("1: /a to /b"));
}

TEST(FoldersEvenOut, ALittleIsNotWorthAMove) {
  Folder a{"/a", unlimited, {{"t", 0, Bytes{400'000}}, {"t", 1, Bytes{400'000}}}};
  EXPECT_THAT(even_out({a, folder("/b", {})}), IsEmpty());
}

TEST(FoldersEvenOut, TheSmallestThatIsEnoughMoves) {
  // Between 45 and 55 is enough.
  EXPECT_THAT(said(even_out({folder("/a", {53, 46, 1}), folder("/b", {}, 3)})), ElementsAre("1: /a to /b"));
}

TEST(FoldersEvenOut, ElseTheLargestThatIsNotAndSoOn) {
  EXPECT_THAT(said(even_out({folder("/a", {10, 12, 28, 75}), folder("/b", {}, 4)})),
              ElementsAre("2: /a to /b", "1: /a to /b", "0: /a to /b"));
}

TEST(FoldersEvenOut, ElseTheSmallestThatMakesItBetter) {
  EXPECT_THAT(said(even_out({folder("/a", {90, 95}), folder("/b", {60}, 2)})), ElementsAre("0: /a to /b"));
}

TEST(FoldersEvenOut, NothingMovesWhereNoMoveMakesItBetter) {
  EXPECT_THAT(even_out({folder("/a", {100}), folder("/b", {}, 1)}), IsEmpty());
  EXPECT_THAT(even_out({folder("/a", {100}), folder("/b", {0, 0, 0}, 1)}), IsEmpty());
}

TEST(FoldersEvenOut, NothingMovesForNextToNothing) {
  EXPECT_THAT(even_out({folder("/a", {30, 31, 30}), folder("/b", {30, 30}, 3)}), IsEmpty());
}

TEST(FoldersEvenOut, NotWhereThereIsNoRoom) {
  auto small = folder("/b", {}, 4);
  small.room = mib(20);
  EXPECT_THAT(said(even_out({folder("/a", {50, 15, 20, 15}), small})), ElementsAre("2: /a to /b"));
}

TEST(FoldersEvenOut, RandomBrokersEndEvenWithHardlyMoreThanTheExcessAndTwiceIsAsGoodAsOnce) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    std::vector<Folder> folders;
    for (unsigned i = 0; i < 2 + seed % 5; ++i) {
      std::vector<std::uint64_t> sizes;
      for (unsigned k = 0; k < 40; ++k) sizes.push_back((1 + random() % 20) * (1 + i));
      folders.push_back(folder("/" + std::to_string(i), sizes, static_cast<int>(40 * i)));
    }
    std::map<std::string, double> bytes;
    double total = 0;
    for (const auto& one : folders) {
      bytes[one.path] = static_cast<double>(one.bytes().count);
      total += bytes[one.path];
    }
    const double mean = total / static_cast<double>(folders.size());
    double excess = 0;
    for (const auto& [path, held] : bytes) excess += std::max(0.0, held - mean);
    const auto moves = even_out(folders);
    double moved = 0;
    for (const auto& move : moves) {
      const auto size = static_cast<double>(move.replica.size.count);
      moved += size;
      bytes[move.from] -= size;
      bytes[move.to] += size;
      const auto from =
          std::find_if(folders.begin(), folders.end(), [&](auto& f) { return f.path == move.from; });
      const auto to =
          std::find_if(folders.begin(), folders.end(), [&](auto& f) { return f.path == move.to; });
      EXPECT_EQ(std::erase_if(from->replicas, [&](auto& r) { return r.index == move.replica.index; }), 1u);
      to->replicas.push_back(move.replica);
    }
    const auto [least, most] =
        std::minmax_element(bytes.begin(), bytes.end(), [](auto& a, auto& b) { return a.second < b.second; });
    EXPECT_LE(most->second - least->second, 0.2 * mean) << seed;
    EXPECT_LE(moved, 1.05 * excess) << seed;
    EXPECT_THAT(even_out(folders), IsEmpty()) << seed;
  }
}

}  // namespace
}  // namespace pilot::adaptors::kafka::reassign
