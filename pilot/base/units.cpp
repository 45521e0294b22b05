#include "pilot/base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace pilot {

namespace {

// A decimal number as read: exact when it is whole.
struct Number {
  std::uint64_t whole = 0;
  double fraction = 0;  // 0 <= fraction < 1
  bool has_fraction = false;

  double value() const { return static_cast<double>(whole) + fraction; }
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t count_digits(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return n;
}

// Takes "12" or "1.5" off the front of `text`; no signs, exponents or names such as "inf".
std::optional<Number> take_number(std::string_view& text) {
  Number number;
  const std::size_t digits = count_digits(text);
  if (digits == 0) return std::nullopt;
  if (std::from_chars(text.data(), text.data() + digits, number.whole).ec != std::errc{}) return std::nullopt;
  text.remove_prefix(digits);
  if (text.empty() || text.front() != '.') return number;

  const std::size_t decimals = count_digits(text.substr(1));
  if (decimals == 0) return std::nullopt;
  std::from_chars(text.data(), text.data() + decimals + 1, number.fraction);
  number.has_fraction = true;
  text.remove_prefix(decimals + 1);
  return number;
}

std::string_view take_letters(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && !is_digit(text[n])) ++n;
  const std::string_view letters = text.substr(0, n);
  text.remove_prefix(n);
  return letters;
}

// number * unit rounded to a whole, or nothing when it is more than `limit`.
std::optional<std::uint64_t> scaled(const Number& number, std::uint64_t unit, std::uint64_t limit) {
  if (number.whole > limit / unit) return std::nullopt;
  const std::uint64_t whole = number.whole * unit;
  const auto rest = static_cast<std::uint64_t>(std::llround(number.fraction * static_cast<double>(unit)));
  if (rest > limit - whole) return std::nullopt;
  return whole + rest;
}

Error not_a(std::string_view what, std::string_view text, std::string_view examples) {
  return make_error(ErrorCode::usage, fmt::format("'{}' is not {}", text, what),
                    fmt::format("write it like {}", examples));
}

Error not_bytes(std::string_view text) {
  return not_a("a size in bytes", text, "512M, 1.5G, 2GiB or 100MB");
}

Error not_duration(std::string_view text) {
  return not_a("a duration", text, "90s, 2h30m, 250ms or 01:30:00");
}

Error not_rate(std::string_view text) {
  return not_a("a rate", text, "20/s, 5/min or max");
}

char upper_case(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

std::uint64_t power(std::uint64_t base, std::size_t exponent) {
  std::uint64_t result = 1;
  for (std::size_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

std::optional<std::uint64_t> bytes_per(std::string_view unit) {
  if (unit.empty() || unit == "B") return 1;
  const std::size_t exponent = std::string_view("KMGT").find(upper_case(unit.front())) + 1;
  if (exponent == 0) return std::nullopt;  // npos + 1
  const std::string_view rest = unit.substr(1);
  if (rest.empty() || rest == "iB") return power(1024, exponent);
  if (rest == "B") return power(1000, exponent);
  return std::nullopt;
}

struct TimeUnit {
  std::string_view name;
  Duration length;
};

// Longest first: the order in which "2h30m" has to name them.
constexpr std::array<TimeUnit, 7> time_units{{{"d", std::chrono::hours(24)},
                                              {"h", std::chrono::hours(1)},
                                              {"m", std::chrono::minutes(1)},
                                              {"s", std::chrono::seconds(1)},
                                              {"ms", std::chrono::milliseconds(1)},
                                              {"us", std::chrono::microseconds(1)},
                                              {"ns", std::chrono::nanoseconds(1)}}};

constexpr auto most_nanoseconds = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::optional<Duration> add(Duration sum, const Number& number, Duration unit) {
  const auto room = most_nanoseconds - static_cast<std::uint64_t>(sum.count());
  const auto more = scaled(number, static_cast<std::uint64_t>(unit.count()), room);
  if (!more) return std::nullopt;
  return sum + Duration(static_cast<std::int64_t>(*more));
}

// "2h30m", "90"
std::optional<Duration> parse_terms(std::string_view text) {
  Duration sum{0};
  std::size_t first_allowed = 0;
  bool first = true;
  while (first || !text.empty()) {
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    std::string_view name = take_letters(text);
    if (first && name.empty()) name = "s";  // then the text is used up
    std::size_t unit = first_allowed;
    while (unit < time_units.size() && time_units[unit].name != name) ++unit;
    if (unit == time_units.size()) return std::nullopt;
    const auto longer = add(sum, *number, time_units[unit].length);
    if (!longer) return std::nullopt;
    sum = *longer;
    first_allowed = unit + 1;
    first = false;
  }
  return sum;
}

// "MM:SS", "HH:MM:SS" or, after days, "HH:MM:SS": from the seconds backwards.
std::optional<Duration> parse_clock(std::string_view text) {
  Duration sum{0};
  std::optional<Number> days;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    std::string_view before = text.substr(0, dash);
    days = take_number(before);
    if (!days || days->has_fraction || !before.empty()) return std::nullopt;
    text.remove_prefix(dash + 1);
  }
  std::vector<Number> fields;
  while (true) {
    const auto field = take_number(text);
    if (!field || field->has_fraction) return std::nullopt;
    fields.push_back(*field);
    if (text.empty()) break;
    if (text.front() != ':') return std::nullopt;
    text.remove_prefix(1);
  }
  if (fields.size() > 3 || fields.size() < (days ? 3U : 2U)) return std::nullopt;

  constexpr std::array<Duration, 3> units{std::chrono::hours(1), std::chrono::minutes(1),
                                          std::chrono::seconds(1)};
  std::optional<Duration> total = Duration{0};
  if (days) total = add(sum, *days, std::chrono::hours(24));
  for (std::size_t i = 0; i < fields.size() && total; ++i) {
    // Only the largest field may run over: "90:00" is an hour and a half.
    if (i > 0 && fields[i].whole > 59) return std::nullopt;
    if (i == 0 && days && fields[i].whole > 23) return std::nullopt;
    total = add(*total, fields[i], units[units.size() - fields.size() + i]);
  }
  return total;
}

// "1.5", "512"
std::string one_decimal(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace

Result<Bytes> parse_bytes(std::string_view text) {
  std::string_view rest = text;
  const auto number = take_number(rest);
  if (!number) return not_bytes(text);
  if (rest.size() > 1 && rest.front() == ' ') rest.remove_prefix(1);  // as format_bytes() writes it
  const auto unit = bytes_per(rest);
  if (!unit || (*unit == 1 && number->has_fraction)) return not_bytes(text);
  const auto count = scaled(*number, *unit, std::numeric_limits<std::uint64_t>::max());
  if (!count) return not_bytes(text);
  return Bytes{*count};
}

std::string format_bytes(Bytes bytes) {
  constexpr std::array<std::string_view, 4> names{"KiB", "MiB", "GiB", "TiB"};
  if (bytes.count < 1024) return fmt::format("{} B", bytes.count);
  double value = static_cast<double>(bytes.count) / 1024;
  std::size_t unit = 0;
  // 1023.96 would round to "1024.0".
  while (value >= 1023.95 && unit + 1 < names.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", one_decimal(value), names[unit]);
}

Result<Duration> parse_duration(std::string_view text) {
  const bool clock = text.find(':') != std::string_view::npos;
  const auto duration = clock ? parse_clock(text) : parse_terms(text);
  if (!duration) return not_duration(text);
  return *duration;
}

// Cut, not rounded, so that nothing carries over: 59.97 s is "59.9s".
std::string format_duration(Duration duration) {
  using namespace std::chrono;
  if (duration < Duration{0}) {
    // The most negative count has no positive counterpart.
    if (duration == Duration::min()) duration += Duration{1};
    return fmt::format("-{}", format_duration(-duration));
  }
  const auto ns = duration.count();
  if (ns == 0) return "0s";
  if (duration < 1us) return fmt::format("{}ns", ns);
  if (duration < 1ms) return fmt::format("{}us", duration / 1us);
  if (duration < 1s) return fmt::format("{}ms", duration / 1ms);
  if (duration < 1min) return one_decimal(static_cast<double>(duration / 100ms) / 10) + "s";
  if (duration < 1h) return fmt::format("{}m{:02}s", duration / 1min, duration % 1min / 1s);
  if (duration < 24h) return fmt::format("{}h{:02}m", duration / 1h, duration % 1h / 1min);
  return fmt::format("{}d{:02}h", duration / 24h, duration % 24h / 1h);
}

Result<double> parse_rate(std::string_view text) {
  if (text == "max") return 0.0;
  std::string_view rest = text;
  const auto number = take_number(rest);
  // Zero would silently mean "max".
  if (!number || number->value() <= 0) return not_rate(text);
  if (rest.empty() || rest == "/s") return number->value();
  if (rest == "/min") return number->value() / 60;
  if (rest == "/h") return number->value() / 3600;
  return not_rate(text);
}

}  // namespace pilot
