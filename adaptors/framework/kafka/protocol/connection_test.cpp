// The connection against a broker of a few lines, which says what the test tells it to.
#include "adaptors/framework/kafka/protocol/connection.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "adaptors/framework/kafka/protocol/wire.hpp"

namespace pilot::adaptors::kafka::protocol {
namespace {

using ::testing::HasSubstr;

constexpr Duration soon = std::chrono::seconds(10);

Deadline within(Duration limit) {
  return Deadline(system_clock(), limit);
}

std::string versions(std::int16_t key, std::int16_t least, std::int16_t most) {
  Writer body;
  body.int16(0);
  body.int32(1);
  body.int16(key);
  body.int16(least);
  body.int16(most);
  return body.text();
}

// Accepts one connection, answers each request with the next body, then closes.
class Broker {
 public:
  explicit Broker(std::vector<std::string> bodies, bool flexible_last = false) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(listener_, 1);
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    endpoint_ = {"127.0.0.1", ntohs(address.sin_port)};
    thread_ =
        std::thread([this, bodies = std::move(bodies), flexible_last] { serve(bodies, flexible_last); });
  }
  ~Broker() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  const Endpoint& endpoint() const { return endpoint_; }

 private:
  static std::string receive(int socket, std::size_t bytes) {
    std::string data(bytes, '\0');
    return ::recv(socket, data.data(), bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes) ? data : "";
  }

  void serve(const std::vector<std::string>& bodies, bool flexible_last) {
    const int socket = ::accept(listener_, nullptr, nullptr);
    for (std::size_t i = 0; i < bodies.size() && socket >= 0; ++i) {
      const auto request = receive(socket, static_cast<std::size_t>(Reader(receive(socket, 4)).int32()));
      if (request.size() < 8) break;
      Writer frame;
      const bool flexible = flexible_last && i + 1 == bodies.size();
      frame.int32(static_cast<std::int32_t>(4 + (flexible ? 1 : 0) + bodies[i].size()));
      frame.int32(Reader(std::string_view(request).substr(4)).int32());
      if (flexible) frame.tags();
      const auto answer = frame.text() + bodies[i];
      if (::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) break;
    }
    if (socket >= 0) ::close(socket);
  }

  int listener_;
  Endpoint endpoint_;
  std::thread thread_;
};

TEST(KafkaConnection, CallsWhatTheBrokerSpeaks) {
  Broker broker({versions(3, 0, 13), "body"}, true);
  auto connection = Connection::open(broker.endpoint(), Access{}, within(soon));
  ASSERT_TRUE(connection.has_value()) << connection.error().text();
  const auto answer = connection.value().call(metadata_api, metadata_request(), within(soon));
  ASSERT_TRUE(answer.has_value()) << answer.error().text();
  EXPECT_EQ(answer.value(), "body");
}

TEST(KafkaConnection, RefusesABrokerThatIsTooOldInNumbers) {
  Broker broker({versions(3, 0, 8)});
  auto connection = Connection::open(broker.endpoint(), Access{}, within(soon)).value();
  EXPECT_THAT(connection.call(metadata_api, "", within(soon)).error().text(),
              HasSubstr("speaks versions 0 to 8 of Metadata, not 9; this program works with Kafka"));
  EXPECT_THAT(connection.call(unregister_broker_api, "", within(soon)).error().text(),
              HasSubstr("does not know UnregisterBroker"));
}

TEST(KafkaConnection, AWrongPasswordIsTheBrokersWordsAndNotTheSecret) {
  Writer handshake;
  handshake.int16(0);
  handshake.int32(1);
  handshake.classic_string("PLAIN");
  Writer refusal;
  refusal.int16(58);
  refusal.classic_string("Authentication failed");
  refusal.classic_bytes("");
  refusal.int64(0);
  Broker broker({versions(3, 0, 13), handshake.text(), refusal.text()});
  Access access;
  access.login = true;
  access.user = "pilot";
  access.password = "hidden";
  const auto connection = Connection::open(broker.endpoint(), access, within(soon));
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(connection.error().code, ErrorCode::failed);
  EXPECT_EQ(connection.error().text(),
            "broker at " + broker.endpoint().text() + ": Authentication failed (SASL_AUTHENTICATION_FAILED)");
}

TEST(KafkaConnection, ABrokerThatClosesOrIsNotThereIsUnavailable) {
  Broker broker({});
  const auto closed = Connection::open(broker.endpoint(), Access{}, within(soon));
  ASSERT_FALSE(closed.has_value());
  EXPECT_EQ(closed.error().code, ErrorCode::unavailable);
  const auto refused = Connection::open({"127.0.0.1", 1}, Access{}, within(soon));
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().text(), HasSubstr("Connection refused"));
}

TEST(KafkaConnection, ASilentBrokerEndsAtTheDeadline) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  socklen_t size = sizeof address;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  const auto silent = Connection::open({"127.0.0.1", ntohs(address.sin_port)}, Access{},
                                       within(std::chrono::milliseconds(50)));
  ::close(listener);
  ASSERT_FALSE(silent.has_value());
  EXPECT_EQ(silent.error().code, ErrorCode::timed_out);
}

}  // namespace
}  // namespace pilot::adaptors::kafka::protocol
