#include "pilot/base/suggest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace pilot {
namespace {

// Few letters, so that equal letters and swaps are frequent.
std::string random_word(std::mt19937& random) {
  std::string word(random() % 9, ' ');
  for (char& c : word) c = static_cast<char>('a' + random() % 3);
  return word;
}

TEST(EditDistance, CountsEachKindOfEdit) {
  EXPECT_EQ(edit_distance("kafka", "kafka"), 0);
  EXPECT_EQ(edit_distance("kafka", "kafkaa"), 1);
  EXPECT_EQ(edit_distance("kafka", "kaka"), 1);
  EXPECT_EQ(edit_distance("kafka", "kavka"), 1);
  EXPECT_EQ(edit_distance("kafka", "kfaka"), 1);
  EXPECT_EQ(edit_distance("", "dask"), 4);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("ca", "abc"), 3);  // no edits inside a swapped pair
}

TEST(EditDistance, IsSymmetricAndBounded) {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    const std::string a = random_word(random);
    const std::string b = random_word(random);
    const int distance = edit_distance(a, b);
    SCOPED_TRACE(a + " / " + b);
    EXPECT_EQ(distance, edit_distance(b, a));
    EXPECT_EQ(distance == 0, a == b);
    EXPECT_LE(distance, static_cast<int>(std::max(a.size(), b.size())));
    EXPECT_GE(distance, std::abs(static_cast<int>(a.size()) - static_cast<int>(b.size())));
  }
}

TEST(EditDistance, OneEditIsAtDistanceOne) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    const std::string word = random_word(random) + "z";
    const std::size_t at = random() % word.size();
    SCOPED_TRACE(word + " at " + std::to_string(at));
    EXPECT_EQ(edit_distance(word, std::string(word).insert(at, "y")), 1);
    EXPECT_EQ(edit_distance(word, std::string(word).erase(at, 1)), 1);
    EXPECT_EQ(edit_distance(word, std::string(word).replace(at, 1, "y")), 1);
    std::string swapped = word;
    const std::size_t next = (at + 1) % word.size();
    if (next == 0 || word[at] == word[next]) continue;
    std::swap(swapped[at], swapped[next]);
    EXPECT_EQ(edit_distance(word, swapped), 1);
  }
}

const std::vector<std::string> frameworks{"kafka", "flink", "dask", "spark"};

TEST(Nearest, FindsTypos) {
  EXPECT_EQ(nearest("kafak", frameworks), "kafka");
  EXPECT_EQ(nearest("fink", frameworks), "flink");
  EXPECT_EQ(nearest("DASK", frameworks), "dask");
  EXPECT_EQ(nearest("flnik", frameworks), "flink");
}

TEST(Nearest, RefusesWhatIsNoTypo) {
  EXPECT_EQ(nearest("pulsar", frameworks), std::nullopt);
  EXPECT_EQ(nearest("", frameworks), std::nullopt);
  EXPECT_EQ(nearest("kafka", {}), std::nullopt);
  EXPECT_EQ(nearest("abcdxy", {"abcdzz"}), "abcdzz");      // two of six
  EXPECT_EQ(nearest("abcxyz", {"abcuvw"}), std::nullopt);  // three of six
}

TEST(Nearest, PrefersTheSmallestDistance) {
  EXPECT_EQ(nearest("kafkas", {"kafkaxy", "kafka", "kafkass"}), "kafka");
}

TEST(Suggestion, NamesTheNearestOrAll) {
  EXPECT_EQ(suggestion("kafak", frameworks), "did you mean 'kafka'?");
  EXPECT_EQ(suggestion("pulsar", frameworks), "one of: dask, flink, kafka, spark");
  EXPECT_EQ(suggestion("kafka", {}), "");
}

}  // namespace
}  // namespace pilot
