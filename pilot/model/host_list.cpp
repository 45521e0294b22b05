#include "pilot/model/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>

namespace pilot::model {
namespace {

constexpr std::size_t most_hosts = 100'000;
constexpr std::size_t most_digits = 18;  // of a number that is counted with

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool may_stand_in_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isgraph(byte) != 0 && byte < 128 && c != ',' && c != '[' && c != ']';
}

std::uint64_t number_of(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string padded(std::uint64_t value, std::size_t width) {
  return fmt::format("{:0{}}", value, width);
}

// --- expanding -------------------------------------------------------------------------------------------

class Expansion {
 public:
  explicit Expansion(std::string_view list) : list_(list) {}

  Result<std::vector<std::string>> all() {
    std::vector<std::string> hosts;
    if (list_.empty()) return hosts;
    for (;;) {
      PILOT_TRY(std::vector<std::string> names, next_name(most_hosts - hosts.size()));
      hosts.insert(hosts.end(), std::make_move_iterator(names.begin()), std::make_move_iterator(names.end()));
      if (at_ == list_.size()) return hosts;
      ++at_;  // the comma
    }
  }

 private:
  Error wrong(std::string_view what) const {
    return make_error(ErrorCode::usage,
                      fmt::format("'{}' is no list of hosts: {} at character {}", list_, what, at_ + 1));
  }

  bool at(char c) const { return at_ < list_.size() && list_[at_] == c; }

  // One name with its brackets, up to a comma or the end.
  Result<std::vector<std::string>> next_name(std::size_t room) {
    std::vector<std::string> names{""};
    const std::size_t start = at_;
    while (at_ < list_.size() && !at(',')) {
      if (at('[')) {
        PILOT_TRY(const std::vector<std::string> numbers, bracket(room / names.size()));
        std::vector<std::string> longer;
        longer.reserve(names.size() * numbers.size());
        for (const std::string& name : names)
          for (const std::string& number : numbers) longer.push_back(name + number);
        names = std::move(longer);
        continue;
      }
      if (!may_stand_in_name(list_[at_])) return wrong("a character that no name has");
      for (std::string& name : names) name += list_[at_];
      ++at_;
    }
    if (at_ == start) return wrong("a name is missing");
    if (names.size() > room) return wrong(fmt::format("more than {} names", most_hosts));
    return names;
  }

  Result<std::string_view> digits() {
    const std::size_t start = at_;
    while (at_ < list_.size() && is_digit(list_[at_])) ++at_;
    if (at_ == start) return wrong("a number is missing");
    return list_.substr(start, at_ - start);
  }

  // "[001-003,7]", with room for so many numbers.
  Result<std::vector<std::string>> bracket(std::size_t room) {
    std::vector<std::string> numbers;
    do {
      ++at_;  // the bracket or the comma
      PILOT_TRY(const std::string_view low, digits());
      std::string_view high = low;
      if (at('-')) {
        ++at_;
        PILOT_TRY(high, digits());
      }
      PILOT_TRY_VOID(append_range(numbers, low, high, room));
    } while (at(','));
    if (!at(']')) return wrong("']' is missing");
    ++at_;
    return numbers;
  }

  Result<void> append_range(std::vector<std::string>& numbers, std::string_view low, std::string_view high,
                            std::size_t room) const {
    if (low == high) {
      numbers.emplace_back(low);
    } else {
      if (low.size() > most_digits || high.size() > most_digits) return wrong("a number too long");
      const std::uint64_t first = number_of(low);
      const std::uint64_t last = number_of(high);
      if (last < first) return wrong("a range that counts down");
      if (last - first >= most_hosts) return wrong(fmt::format("more than {} names", most_hosts));
      for (std::uint64_t value = first; value <= last; ++value) numbers.push_back(padded(value, low.size()));
    }
    if (numbers.size() > room) return wrong(fmt::format("more than {} names", most_hosts));
    return ok();
  }

  std::string_view list_;
  std::size_t at_ = 0;
};

// --- compressing -----------------------------------------------------------------------------------------

// A name in pieces: text, digits, text, digits ... (any may be empty but the digits).
std::vector<std::string> pieces_of(const std::string& host) {
  std::vector<std::string> pieces{""};
  for (const char c : host) {
    const bool in_digits = pieces.size() % 2 == 0;
    if (is_digit(c) != in_digits) pieces.emplace_back();
    pieces.back() += c;
  }
  return pieces;
}

// Names that differ in one number only, while it is not yet known which: none.
struct Group {
  std::vector<std::string> first;
  std::optional<std::size_t> place;
  std::vector<std::string> numbers;  // in that place

  // Takes the name in, if it fits.
  bool take(const std::vector<std::string>& pieces) {
    if (pieces.size() != first.size()) return false;
    std::optional<std::size_t> difference;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i] == first[i]) continue;
      if (i % 2 == 0 || difference || pieces[i].size() > most_digits || first[i].size() > most_digits)
        return false;
      difference = i;
    }
    if (place && difference && *difference != *place) return false;
    if (!difference && !place) return false;  // the same name twice: nothing varies
    if (!place) {
      place = difference;
      numbers.push_back(first[*place]);
    }
    numbers.push_back(pieces[*place]);
    return true;
  }

  std::string text() const {
    std::string text;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (place != i) {
        text += first[i];
        continue;
      }
      text += '[';
      for (std::size_t n = 0; n < numbers.size();) {
        const std::size_t length = run_from(n);
        if (n > 0) text += ',';
        text += numbers[n];
        if (length > 1) text += '-' + numbers[n + length - 1];
        n += length;
      }
      text += ']';
    }
    return text;
  }

 private:
  // How many numbers from here count up as a range would.
  std::size_t run_from(std::size_t start) const {
    std::size_t length = 1;
    const std::string& low = numbers[start];
    while (start + length < numbers.size() &&
           numbers[start + length] == padded(number_of(low) + length, low.size()))
      ++length;
    return length;
  }
};

}  // namespace

Result<std::vector<std::string>> expand_hosts(std::string_view list) {
  return Expansion(list).all();
}

std::string compress_hosts(const std::vector<std::string>& hosts) {
  std::string text;
  std::optional<Group> group;
  const auto write = [&] {
    if (!group) return;
    if (!text.empty()) text += ',';
    text += group->text();
  };
  for (const std::string& host : hosts) {
    const auto pieces = pieces_of(host);
    if (group && group->take(pieces)) continue;
    write();
    group = Group{pieces, std::nullopt, {}};
  }
  write();
  return text;
}

}  // namespace pilot::model
