// "did you mean": the candidate nearest to a mistyped word.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pilot {

// Insertions, deletions, substitutions and swaps of neighbours between two words.
int edit_distance(std::string_view a, std::string_view b);

// The nearest candidate, if it is near enough to be a typo (at most a third of its letters differ).
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

// "did you mean 'kafka'?", or "one of: dask, flink, kafka" when nothing is near; empty for no candidates.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace pilot
