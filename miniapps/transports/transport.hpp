// Sending and receiving messages, whatever carries them.
//
// A producer counts what was *acknowledged*, and never blocks inside send(): a full queue is told to the
// caller, who polls and tries again, and so can be interrupted.  A consumer hands messages out and is
// told which of them are done; only what is done is ever committed, so a consumer that dies has its
// unfinished messages delivered again (at least once).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pilot/base/clock.hpp"
#include "pilot/base/result.hpp"

namespace miniapps::transports {

// A message on its way.  The producer keeps a reference until the message is acknowledged or has failed
// and sends from this memory: while use_count() > 1 the bytes must not change.
using Buffer = std::vector<std::byte>;
using SharedBuffer = std::shared_ptr<const Buffer>;

struct DeliveryCounts {
  std::uint64_t acked = 0;        // messages
  std::uint64_t acked_bytes = 0;  // their payloads
  std::uint64_t failed = 0;       // messages given up; failure() says why
  std::uint64_t queued = 0;       // messages handed over, with no answer yet
};

// Used by one thread; delivery is counted inside poll(), send() and flush().
class Producer {
 public:
  virtual ~Producer() = default;

  // Hands one message over.  `spread` chooses the partition (modulo their number), `key` is what tools
  // show.  False: the queue is full; poll() and try again.  Errors: what makes any retry pointless.
  virtual pilot::Result<bool> send(SharedBuffer message, std::string_view key, std::uint64_t spread) = 0;

  // Counts deliveries for at most `limit` (0: what has already arrived).
  virtual void poll(pilot::Duration limit) = 0;

  // Waits until nothing is queued.  Errors: timed_out, with how much is left and the transport's reason.
  virtual pilot::Result<void> flush(pilot::Duration limit) = 0;

  virtual DeliveryCounts counts() const = 0;

  // Why the first message failed.
  virtual std::optional<pilot::Error> failure() const = 0;
};

struct Position {
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  auto operator<=>(const Position&) const = default;
};

// A received message; its payload is aligned to 16 bytes and lives as long as the Message.
class Message {
 public:
  struct Storage {  // whatever the transport must keep alive
    virtual ~Storage() = default;
  };
  Message(std::unique_ptr<Storage> storage, std::span<const std::byte> payload, std::string_view key,
          Position position)
      : storage_(std::move(storage)), payload_(payload), key_(key), position_(position) {}

  std::span<const std::byte> payload() const { return payload_; }
  std::string_view key() const { return key_; }
  Position position() const { return position_; }

 private:
  std::unique_ptr<Storage> storage_;
  std::span<const std::byte> payload_;
  std::string_view key_;
  Position position_;
};

// receive() and close() belong to one thread; acknowledge() and lag() may be called from any.
class Consumer {
 public:
  virtual ~Consumer() = default;

  // The next message, or nothing within `limit`.  Call it at least every few minutes, else the group
  // takes the consumer for dead.  Errors: what makes any retry pointless (login refused, topic gone).
  virtual pilot::Result<std::optional<Message>> receive(pilot::Duration limit) = 0;

  // The message's result is safe.  In any order; committed soon, up to the first one still open.
  virtual void acknowledge(Position position) = 0;

  // Commits now what was acknowledged, and waits for the answer.
  virtual pilot::Result<void> commit() = 0;

  // Everything in the partitions that are ours was received.  Can be true for a moment while a group
  // shares its partitions anew, so combine it with some idle time.
  virtual bool at_end() const = 0;

  // at_end(), and some partition had been read by the group already when it became ours, and nothing has
  // come from it since: what is missing here was done before.
  virtual bool resumed_at_end() const = 0;

  // Messages sent but not yet received, as far as known.
  virtual std::int64_t lag() const = 0;

  // Commits and leaves the group, so that others take over at once.
  virtual pilot::Result<void> close() = 0;
};

}  // namespace miniapps::transports
