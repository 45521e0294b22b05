#include <gtest/gtest.h>
#include <zmq.h>

#include <memory>
#include <string>
#include <vector>

#include "pilot/net/control_client.hpp"
#include "pilot/net/control_server.hpp"
#include "pilot/net/socket.hpp"

namespace pilot::net {
namespace {

using namespace std::chrono_literals;

class ControlTest : public ::testing::Test {
 protected:
  std::unique_ptr<ControlServer> listen(std::uint16_t first = 0, std::uint16_t last = 0) {
    auto server =
        ControlServer::listen(loop_, "127.0.0.1", first, last, server_keys_, {client_keys_.public_key},
                              [this](const PeerId& peer, std::string message) {
                                received_.push_back(message);
                                if (answer_) server_->send(peer, "re: " + message);
                              });
    if (!server) ADD_FAILURE() << server.error().text();
    return std::move(server).value();
  }

  std::unique_ptr<ControlClient> connect(const std::string& server_key, const CurveKeyPair& keys) {
    return std::make_unique<ControlClient>(
        loop_, server_->endpoint(), server_key, keys,
        [this](std::string message) { answers_.push_back(std::move(message)); });
  }
  std::unique_ptr<ControlClient> connect() { return connect(server_keys_.public_key, client_keys_); }

  template <typename Condition>
  bool becomes_true(Condition condition, Duration limit = 20s) {
    const Deadline deadline(system_clock(), limit);
    while (!condition() && !deadline.passed()) loop_.run_for(5ms);
    return condition();
  }

  std::uint16_t port() const {
    const std::string& endpoint = server_->endpoint();
    return static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
  }

  EventLoop loop_;
  CurveKeyPair server_keys_ = make_curve_key_pair();
  CurveKeyPair client_keys_ = make_curve_key_pair();
  bool answer_ = true;
  std::vector<std::string> received_, answers_;
  std::unique_ptr<ControlServer> server_;
};

TEST_F(ControlTest, AnswersComeBackToTheAsker) {
  server_ = listen();
  auto one = connect();
  one->send("hello");
  ASSERT_TRUE(becomes_true([&] { return answers_.size() == 1; }));
  EXPECT_EQ(answers_[0], "re: hello");
}

TEST_F(ControlTest, ABurstOf20000MessagesArrivesWhole) {
  server_ = listen();
  auto client = connect();
  int sent = 0;
  // The queue holds 10,000: send as answers come, as a protocol with acknowledgements does.
  ASSERT_TRUE(becomes_true(
      [&] {
        while (sent < 20000 && sent - static_cast<int>(answers_.size()) < 4000)
          client->send(std::to_string(sent++));
        return answers_.size() == 20000;
      },
      60s));
  for (int i = 0; i < 20000; ++i)
    ASSERT_EQ(answers_[static_cast<std::size_t>(i)], "re: " + std::to_string(i));
}

TEST_F(ControlTest, CarriesAMessageOfEightMegabytes) {
  server_ = listen();
  auto client = connect();
  client->send(std::string(8 << 20, 'x'));
  ASSERT_TRUE(becomes_true([&] { return answers_.size() == 1; }));
  EXPECT_EQ(answers_[0].size(), (8u << 20) + 4);
}

// A stranger is refused when a friend who came later has been answered and nothing came from the stranger.
TEST_F(ControlTest, AStrangersKeyIsRefused) {
  server_ = listen();
  auto stranger = connect(server_keys_.public_key, make_curve_key_pair());
  stranger->send("let me in");
  loop_.run_for(300ms);
  auto friendly = connect();
  friendly->send("hello");
  ASSERT_TRUE(becomes_true([&] { return !answers_.empty(); }));
  loop_.run_for(300ms);
  EXPECT_EQ(received_, std::vector<std::string>{"hello"});
}

TEST_F(ControlTest, AClientWithoutEncryptionIsRefused) {
  server_ = listen();
  ZmqSocket plain(std::make_shared<ZmqContext>(), ZMQ_DEALER);
  plain.set(ZMQ_LINGER, 0);
  ASSERT_EQ(plain.connect(server_->endpoint()), 0);
  plain.send({"let me in"});
  loop_.run_for(300ms);
  auto friendly = connect();
  friendly->send("hello");
  ASSERT_TRUE(becomes_true([&] { return !answers_.empty(); }));
  EXPECT_EQ(received_, std::vector<std::string>{"hello"});
}

TEST_F(ControlTest, AServerThatCannotProveItsKeyGetsNothing) {
  server_ = listen();
  auto client = connect(make_curve_key_pair().public_key, client_keys_);
  client->send("a secret");
  loop_.run_for(500ms);
  EXPECT_TRUE(received_.empty());
}

TEST_F(ControlTest, AClientFindsAServerThatWasStartedAgain) {
  server_ = listen();
  const std::uint16_t fixed = port();
  auto client = connect();
  client->send("one");
  ASSERT_TRUE(becomes_true([&] { return answers_.size() == 1; }));
  server_.reset();
  server_ = listen(fixed, fixed);
  ASSERT_TRUE(becomes_true([&] {
    client->send("two");
    loop_.run_for(50ms);
    return answers_.size() > 1;
  }));
}

TEST_F(ControlTest, TakesTheNextPortWhenOneIsTaken) {
  server_ = listen();
  const std::uint16_t taken = port();
  EventLoop other_loop;
  auto other = ControlServer::listen(other_loop, "127.0.0.1", taken, static_cast<std::uint16_t>(taken + 20),
                                     server_keys_, {}, [](const PeerId&, const std::string&) {});
  ASSERT_TRUE(other.has_value()) << other.error().text();
  EXPECT_NE(other.value()->endpoint(), server_->endpoint());
  auto none = ControlServer::listen(other_loop, "127.0.0.1", taken, taken, server_keys_, {},
                                    [](const PeerId&, const std::string&) {});
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().message.find("Address already in use"), std::string::npos) << none.error().message;
}

TEST_F(ControlTest, AskingASilentHeadTimesOutWithAHint) {
  auto answer = ask("tcp://127.0.0.1:1", server_keys_.public_key, client_keys_, "status", 200ms);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(answer.error().hint.empty());
}

}  // namespace
}  // namespace pilot::net
