// Whether something is among several; std::ranges::contains() comes with C++23.
#pragma once

#include <algorithm>
#include <ranges>

namespace pilot {

template <std::ranges::input_range Range, typename Value>
bool contains(const Range& all, const Value& one) {
  return std::ranges::find(all, one) != std::ranges::end(all);
}

}  // namespace pilot
