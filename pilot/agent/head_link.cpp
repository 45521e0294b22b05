#include "pilot/agent/head_link.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "pilot/base/log.hpp"
#include "pilot/codec/codec.hpp"
#include "pilot/net/control_client.hpp"
#include "pilot/net/interfaces.hpp"
#include "pilot/store/log_words.hpp"

namespace pilot::agent {

namespace {
constexpr Duration eager = std::chrono::seconds(10);
constexpr Duration longest_blink = std::chrono::seconds(2);  // between looks of an agent that runs
}  // namespace

struct HeadLink::Impl {
  EventLoop& loop;
  const Clock& clock;
  store::PilotFolder folder;
  std::string node;
  LinkTiming timing;
  std::function<void()> on_connect;
  std::function<void(model::Message)> on_message;

  std::optional<net::ControlClient> client;
  std::string address;
  SteadyTime begun = clock.steady();
  SteadyTime connected_at{};
  bool heard = false;
  bool told = false;  // that nothing was ever heard
  SteadyTime looked = begun;
  Duration quiet{0};  // up to the last look
  EventLoop::Handle timer;

  bool silent() const { return !heard || silence() > timing.silence; }
  // An agent that was stopped for a while (with its job) did not listen, and that is not counted.
  Duration silence() const { return quiet + std::min(clock.steady() - looked, longest_blink); }

  void look() {
    quiet = silence();
    looked = clock.steady();
    if (silent()) find_head();
    if (client && !heard && !told && clock.steady() - connected_at > timing.silence) {
      told = true;
      log::warning("{}{}; this node has {}", store::never_heard, address, net::interfaces_text());
    }
    const bool early = !client && clock.steady() - begun < eager;
    timer = loop.after(early ? timing.first_looks : timing.looks, [this] { look(); });
  }

  void find_head() {
    const auto endpoint = folder.endpoint();
    if (endpoint.has_error() || endpoint.value().address.empty()) return;
    const bool moved = endpoint.value().address != address;
    const bool just_made = client && clock.steady() - connected_at < timing.renewal;
    if (!moved && just_made) return;
    if (auto result = connect(endpoint.value().address); result.has_error())
      log::warning("cannot connect to the head agent: {}", result.error().text());
  }

  Result<void> connect(const std::string& to) {
    PILOT_TRY(const auto head, folder.keys("head"));
    PILOT_TRY(const auto own, folder.keys(node));
    client.emplace(loop, to, head.public_key, own, [this](const std::string& text) { receive(text); });
    address = to;
    connected_at = clock.steady();
    log::info("connecting to the head agent at {}", to);
    on_connect();
    return ok();
  }

  void receive(const std::string& text) {
    heard = true;
    quiet = Duration{0};
    looked = clock.steady();
    auto message = codec::decode_message(text);
    if (message.has_error()) {
      log::warning("a message from the head agent can't be read: {}", message.error().text());
      return;
    }
    on_message(std::move(message).value());
  }
};

HeadLink::HeadLink(EventLoop& loop, const Clock& clock, store::PilotFolder folder, std::string node,
                   LinkTiming timing, std::function<void()> on_connect,
                   std::function<void(model::Message)> on_message)
    : impl_(new Impl{loop, clock, std::move(folder), std::move(node), timing, std::move(on_connect),
                     std::move(on_message)}) {
  impl_->timer = loop.after(Duration{0}, [impl = impl_.get()] { impl->look(); });
}

HeadLink::~HeadLink() = default;

void HeadLink::send(model::MessageBody body) {
  if (impl_->client) impl_->client->send(codec::encode(model::Message{{}, std::move(body)}));
}

bool HeadLink::connected() const {
  return impl_->client.has_value();
}
bool HeadLink::silent() const {
  return impl_->silent();
}
Duration HeadLink::silence() const {
  return impl_->silence();
}

}  // namespace pilot::agent
