// A node agent's connection to the head agent: finds it through endpoint.json, finds it again when it
// has moved, and knows when it was last heard.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pilot/base/event_loop.hpp"
#include "pilot/model/message.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot::agent {

struct LinkTiming {
  Duration first_looks = std::chrono::milliseconds(50);  // at endpoint.json, in the first ten seconds
  Duration looks = std::chrono::milliseconds(500);       // later, and while the head is silent
  Duration silence = std::chrono::seconds(3);            // then it may have moved
  Duration renewal = std::chrono::seconds(30);           // a connection on which nothing comes is made anew
};

class HeadLink {
 public:
  // `on_connect` is called for each new connection, `on_message` for each message; from the loop.
  HeadLink(EventLoop& loop, const Clock& clock, store::PilotFolder folder, std::string node,
           LinkTiming timing, std::function<void()> on_connect,
           std::function<void(model::Message)> on_message);
  ~HeadLink();

  // Dropped when there has not been a connection yet.
  void send(model::MessageBody body);

  // True once there is a connection on which something may be sent.
  bool connected() const;
  // Nothing has come for longer than timing.silence, or never.
  bool silent() const;
  // For how long nothing has come; before the first message, since the link was made.
  Duration silence() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pilot::agent
