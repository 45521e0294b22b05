// Requests to the head agent and its answers as files in the pilot's folder, for clients that the network
// does not lead to it: some sites let login nodes reach the file systems of their compute nodes and nothing
// else.  Whoever can write the folder is the pilot's owner; what is somebody else's is not read.
//
//   ID.ask      written by the client; the head renames it to take it, the client removes it to withdraw it,
//               and only one of the two succeeds
//   ID.taken    the head is at it
//   ID.answer   written by the head, removed by the client
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"

namespace pilot::store {

class Mailbox {
 public:
  explicit Mailbox(std::filesystem::path folder) : folder_(std::move(folder)) {}

  struct Patience {
    Duration taken = std::chrono::seconds(4);  // for the head to take it; it looks once a second
    Duration answered = std::chrono::seconds(10);
  };
  // For clients.  `id`: hexadecimal digits, unique.  Errors: unavailable (not taken, so it will never be
  // acted upon; or taken and not answered), failed (the folder can't be written).
  Result<std::string> ask(const Clock& clock, const std::string& id, const std::string& text,
                          Patience patience);

  struct Letter {
    std::string id, text;
  };
  // For the head: what is there, each once.  Also removes what nobody fetched for an hour.
  std::vector<Letter> take();
  Result<void> answer(const std::string& id, const std::string& text);

 private:
  std::filesystem::path file(const std::string& id, const char* state) const;
  std::filesystem::path folder_;
};

}  // namespace pilot::store
