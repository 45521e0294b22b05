// The flags of pilot-kafka: "--name value" or "--name=value", each at most once, and words.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"

namespace pilot::adaptors::kafka {

class Arguments {
 public:
  // `valued` flags take a value, `switches` don't.  Errors: usage, with the nearest flag.
  static Result<Arguments> parse(const std::vector<std::string>& words,
                                 const std::vector<std::string>& valued,
                                 const std::vector<std::string>& switches = {});

  const std::vector<std::string>& words() const { return words_; }
  bool has(const std::string& flag) const { return values_.count(flag) != 0; }

  // Errors of all of these: usage, naming the flag.
  Result<std::string> required(const std::string& flag) const;
  std::string text(const std::string& flag, const std::string& otherwise) const;
  Result<int> number(const std::string& flag, int otherwise) const;  // not negative
  Result<int> id(const std::string& flag) const;                     // required; one of parse_ids()
  Result<Duration> duration(const std::string& flag, Duration otherwise) const;

 private:
  std::vector<std::string> words_;
  std::map<std::string, std::string> values_;
};

// "1,2,3".  Errors: usage.
Result<std::vector<int>> parse_ids(const std::string& text);

}  // namespace pilot::adaptors::kafka
