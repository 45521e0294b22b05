#include "pilot/agent/head_server.hpp"

#include <cstdlib>
#include <optional>
#include <utility>

#include "pilot/base/log.hpp"
#include "pilot/codec/codec.hpp"

namespace pilot::agent {

namespace {

constexpr std::string_view by_mail = "mail:";  // begins a peer whose answer goes into the pilot's folder

struct Place {
  std::string address;
  std::uint16_t port = 0;
};

// "tcp://127.77.1.2:20011"
std::optional<Place> parse_endpoint(std::string_view endpoint) {
  constexpr std::string_view scheme = "tcp://";
  const auto colon = endpoint.rfind(':');
  if (!endpoint.starts_with(scheme) || colon < scheme.size()) return std::nullopt;
  const int port = std::atoi(std::string(endpoint.substr(colon + 1)).c_str());
  if (port <= 0 || port > 65535) return std::nullopt;
  return Place{std::string(endpoint.substr(scheme.size(), colon - scheme.size())),
               static_cast<std::uint16_t>(port)};
}

}  // namespace

HeadServer::HeadServer(EventLoop& loop, const store::PilotFolder& folder, Handler handler)
    : loop_(loop), folder_(folder), mailbox_(folder.mail_folder()), handler_(std::move(handler)) {}

Result<void> HeadServer::listen(std::string address, std::uint16_t port, const model::NetworkSpec& network) {
  const auto last = folder_.endpoint();
  const auto place = last.has_value() ? parse_endpoint(last.value().address) : std::nullopt;
  if (address.empty()) address = place ? place->address : "127.0.0.1";
  PILOT_TRY(const auto keys, folder_.keys("head"));
  PILOT_TRY(const auto allowed, folder_.public_keys());
  const auto try_ports = [&](std::uint16_t from, std::uint16_t to) -> Result<void> {
    PILOT_TRY(server_, net::ControlServer::listen(loop_, address, from, to, keys, allowed,
                                                  [this](const net::PeerId& peer, const std::string& text) {
                                                    receive(peer, text);
                                                  }));
    return ok();
  };
  if (place && place->address == address && try_ports(place->port, place->port).has_value()) return ok();
  if (port != 0 && try_ports(port, port).has_value()) return ok();
  return try_ports(network.first_port, network.last_port);
}

void HeadServer::begin_mail(Duration look_each) {
  mail_timer_ = loop_.every(look_each, [this] {
    for (const auto& letter : mailbox_.take()) receive(std::string(by_mail) + letter.id, letter.text);
  });
}

Result<void> HeadServer::admit_nodes(int first, int nodes) {
  PILOT_TRY_VOID(folder_.make_node_keys(first, nodes));
  PILOT_TRY(auto allowed, folder_.public_keys());
  server_->allow(std::move(allowed));
  return ok();
}

void HeadServer::receive(const std::string& peer, const std::string& text) {
  auto message = codec::decode_message(text);
  if (message.has_error()) {
    log::warning("a message can't be read: {}", message.error().text());
    return send(peer, codec::encode(model::Message{{}, model::Refused{message.error()}}));
  }
  const std::string& id = message.value().id;
  if (!id.empty() && !requests_.is_new(id, peer)) {
    if (const auto answer = requests_.answer_to(id)) send(peer, *answer);
    return;
  }
  handler_(peer, std::move(message).value());
}

void HeadServer::send(const Outgoing& outgoing) {
  const std::string text = codec::encode(outgoing.message);
  if (outgoing.message.id.empty()) return send(outgoing.peer, text);
  for (const auto& peer : requests_.answered(outgoing.message.id, text)) send(peer, text);
}

void HeadServer::send(const std::string& peer, const std::string& text) {
  if (!peer.starts_with(by_mail)) return server_->send(peer, text);
  if (auto written = mailbox_.answer(peer.substr(by_mail.size()), text); written.has_error())
    log::warning("a client can't be answered: {}", written.error().text());
}

}  // namespace pilot::agent
