// Producer, consumer and admin against librdkafka's mock brokers.
#include <gmock/gmock.h>
#include <librdkafka/rdkafka.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "miniapps/transports/kafka/admin.hpp"
#include "miniapps/transports/kafka/consumer.hpp"
#include "miniapps/transports/kafka/mock_cluster.hpp"
#include "miniapps/transports/kafka/producer.hpp"

namespace miniapps::transports::kafka {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Received = std::map<std::string, int>;  // key -> how often

SharedBuffer make_buffer(std::size_t size, int fill) {
  return std::make_shared<Buffer>(size, static_cast<std::byte>(fill));
}

std::unique_ptr<Producer> producer_for(const MockCluster& cluster, ProducerOptions options = {}) {
  options.topic = options.topic.empty() ? "frames" : options.topic;
  auto producer = make_producer(cluster.config(), options);
  EXPECT_TRUE(producer) << producer.error().text();
  return std::move(producer).value();
}

std::unique_ptr<Consumer> consumer_for(const MockCluster& cluster, ConsumerOptions options = {}) {
  options.topic = "frames";
  options.group = "group";
  options.session_timeout = 6s;
  auto consumer = make_consumer(cluster.config(), options);
  EXPECT_TRUE(consumer) << consumer.error().text();
  return std::move(consumer).value();
}

void send_all(Producer& producer, int count, std::size_t bytes = 1000) {
  for (int i = 0; i < count; ++i) {
    const auto buffer = make_buffer(bytes, i);
    while (true) {
      const auto sent = producer.send(buffer, std::to_string(i), static_cast<std::uint64_t>(i));
      ASSERT_TRUE(sent) << sent.error().text();
      if (sent.value()) break;
      producer.poll(20ms);
    }
  }
  const auto flushed = producer.flush(20s);
  ASSERT_TRUE(flushed) << flushed.error().text();
}

// Receives until `enough` distinct keys came (20 s at most), acknowledging those `choose` says.
template <typename Choose>
Received receive_until(Consumer& consumer, std::size_t enough, Choose choose) {
  Received received;
  const pilot::Deadline deadline(pilot::system_clock(), 20s);
  while (received.size() < enough && !deadline.passed()) {
    auto message = consumer.receive(100ms);
    if (!message) ADD_FAILURE() << message.error().text();
    if (!message || !message.value()) continue;
    ++received[std::string(message.value()->key())];
    if (choose(*message.value())) consumer.acknowledge(message.value()->position());
  }
  return received;
}

constexpr auto all = [](const Message&) { return true; };

class KafkaTransport : public testing::Test {
 protected:
  void SetUp() override { cluster.make_topic("frames", 4); }
  MockCluster cluster{3};
};

TEST_F(KafkaTransport, CountsWhatWasAcknowledged) {
  const auto producer = producer_for(cluster);
  send_all(*producer, 50, 3000);
  const auto counts = producer->counts();
  EXPECT_EQ(counts.acked, 50U);
  EXPECT_EQ(counts.acked_bytes, 150'000U);
  EXPECT_EQ(counts.failed, 0U);
  EXPECT_EQ(counts.queued, 0U);
}

TEST_F(KafkaTransport, DeliversEachMessageOnceAndKnowsTheEnd) {
  send_all(*producer_for(cluster), 100, 2001);
  const auto consumer = consumer_for(cluster);
  EXPECT_FALSE(consumer->at_end());
  std::map<int, int> per_partition;
  const auto received = receive_until(*consumer, 100, [&](const Message& message) {
    EXPECT_EQ(message.payload().size(), 2001U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.payload().data()) % 16, 0U);
    EXPECT_EQ(std::to_integer<int>(message.payload()[2000]), std::stoi(std::string(message.key())));
    ++per_partition[message.position().partition];
    return true;
  });
  EXPECT_EQ(received.size(), 100U);
  for (const auto& [key, times] : received) EXPECT_EQ(times, 1) << key;
  EXPECT_EQ(per_partition, (std::map<int, int>{{0, 25}, {1, 25}, {2, 25}, {3, 25}})) << "spread evenly";

  const pilot::Deadline deadline(pilot::system_clock(), 20s);
  while (!consumer->at_end() && !deadline.passed()) {
    const auto message = consumer->receive(50ms);
    ASSERT_TRUE(message);
    EXPECT_FALSE(message.value());
  }
  EXPECT_TRUE(consumer->at_end());
  EXPECT_EQ(consumer->lag(), 0);
  EXPECT_FALSE(consumer->resumed_at_end()) << "it read them itself";
  EXPECT_TRUE(consumer->close());

  const auto next = consumer_for(cluster);
  const pilot::Deadline again(pilot::system_clock(), 20s);
  while (!next->at_end() && !again.passed()) {
    const auto message = next->receive(50ms);
    ASSERT_TRUE(message);
    EXPECT_FALSE(message.value());
  }
  EXPECT_TRUE(next->resumed_at_end()) << "all was read before it came";
}

TEST_F(KafkaTransport, WhatIsNotAcknowledgedComesAgain) {
  send_all(*producer_for(cluster), 40);
  Received open;
  {
    const auto first = consumer_for(cluster);
    receive_until(*first, 40, [&](const Message& message) {
      const bool done = message.position().offset < 6;  // of 10 in each partition
      if (!done) ++open[std::string(message.key())];
      return done;
    });
    EXPECT_TRUE(first->close());
  }
  EXPECT_EQ(open.size(), 16U);
  const auto second = consumer_for(cluster);
  EXPECT_EQ(receive_until(*second, open.size(), all), open);
  EXPECT_TRUE(second->commit());
}

TEST_F(KafkaTransport, ACommitSurvivesAConsumerThatNeverCloses) {
  send_all(*producer_for(cluster), 12);
  const auto first = consumer_for(cluster, {.commit_interval = 10ms});
  receive_until(*first, 12, all);
  ASSERT_TRUE(first->commit());
  EXPECT_TRUE(first->commit()) << "nothing new to commit is fine";
  const auto producer = producer_for(cluster);
  ASSERT_TRUE(producer->send(make_buffer(10, 1), "later", 0).value());
  ASSERT_TRUE(producer->flush(10s));
  ASSERT_TRUE(first->close());
  const auto second = consumer_for(cluster);
  EXPECT_EQ(receive_until(*second, 1, all), (Received{{"later", 1}}));
}

TEST_F(KafkaTransport, AGroupSharesThePartitions) {
  std::vector<std::int32_t> assigned, revoked;
  ConsumerOptions options;
  options.on_assigned = [&](const auto& partitions) {
    assigned.insert(assigned.end(), partitions.begin(), partitions.end());
  };
  options.on_revoked = [&](const auto& partitions) {
    revoked.insert(revoked.end(), partitions.begin(), partitions.end());
  };
  const auto first = consumer_for(cluster, options);
  const auto producer = producer_for(cluster);
  send_all(*producer, 4);
  receive_until(*first, 4, all);
  EXPECT_EQ(assigned.size(), 4U);

  const auto second = consumer_for(cluster);
  const pilot::Deadline deadline(pilot::system_clock(), 30s);
  Received received;
  const auto take = [&](Consumer& consumer) {
    auto message = consumer.receive(20ms);
    ASSERT_TRUE(message) << message.error().text();
    if (!message.value()) return;
    ++received[std::string(message.value()->key())];
    consumer.acknowledge(message.value()->position());
  };
  while (revoked.empty() && !deadline.passed()) {
    take(*first);
    take(*second);
  }
  EXPECT_FALSE(revoked.empty()) << "the first member kept all partitions";
  send_all(*producer, 40);
  while (received.size() < 40 && !deadline.passed()) {
    take(*first);
    take(*second);
  }
  EXPECT_EQ(received.size(), 40U);
}

TEST_F(KafkaTransport, AFullQueueIsToldNotWaitedFor) {
  ProducerOptions options;
  options.queue = pilot::Bytes{300'000};
  const auto producer = producer_for(cluster, options);
  for (int id = 1; id <= 3; ++id) cluster.set_broker_down(id);
  bool full = false;
  for (int i = 0; i < 100 && !full; ++i) full = !producer->send(make_buffer(50'000, i), "k", 0).value();
  EXPECT_TRUE(full);
  EXPECT_LE(producer->counts().queued, 7U);
  for (int id = 1; id <= 3; ++id) cluster.set_broker_up(id);
  const auto flushed = producer->flush(20s);
  EXPECT_TRUE(flushed) << flushed.error().text();
  EXPECT_EQ(producer->counts().failed, 0U);
}

// Whether anything is doubled can't be asked here: a mock broker that goes down between appending and
// answering gets the batch again and, unlike a real one, doesn't look at its sequence numbers.
TEST_F(KafkaTransport, ABrokerThatComesBackLosesNothing) {
  const auto producer = producer_for(cluster);
  for (int i = 0; i < 30; ++i) {
    if (i == 10) cluster.set_broker_down(2);
    if (i == 20) cluster.set_broker_up(2);
    ASSERT_TRUE(
        producer->send(make_buffer(5000, i), std::to_string(i), static_cast<std::uint64_t>(i)).value());
    producer->poll(5ms);
  }
  ASSERT_TRUE(producer->flush(20s));
  EXPECT_EQ(producer->counts().acked, 30U);
  const auto consumer = consumer_for(cluster);
  EXPECT_EQ(receive_until(*consumer, 30, all).size(), 30U);
}

// A broker that has not heard of a new topic yet says that there is none.
TEST_F(KafkaTransport, ATopicThatABrokerDoesNotKnowYetIsWaitedFor) {
  auto config = cluster.config();
  config.properties["topic.metadata.refresh.interval.ms"] = "20";
  auto producer = make_producer(config, {.topic = "frames"}).value();
  ASSERT_TRUE(producer->send(make_buffer(5000, 0), "0", 0).value());
  ASSERT_TRUE(producer->flush(10s));
  cluster.deny_topic("frames", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  const pilot::Deadline refused(pilot::system_clock(), 10s);
  int sent = 1;
  while (producer->send(make_buffer(5000, sent), std::to_string(sent), static_cast<std::uint64_t>(sent))
             .value()) {
    ++sent;
    producer->poll(5ms);
    ASSERT_FALSE(refused.passed()) << "it was never denied";
  }
  cluster.deny_topic("frames", 0);
  send_all(*producer, 4);
  EXPECT_EQ(producer->counts().acked, static_cast<std::uint64_t>(sent) + 4);
  EXPECT_EQ(producer->counts().failed, 0U);
}

TEST_F(KafkaTransport, RetriesWhatIsWorthRetrying) {
  const auto producer = producer_for(cluster);
  cluster.fail_produce(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, 3);
  send_all(*producer, 4);
  EXPECT_EQ(producer->counts().acked, 4U);
}

TEST_F(KafkaTransport, AMessageThatIsTooLargeFailsWithAHint) {
  const auto producer = producer_for(cluster);
  cluster.fail_produce(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 1);
  ASSERT_TRUE(producer->send(make_buffer(70'000, 1), "k", 0).value());
  ASSERT_TRUE(producer->flush(10s));
  EXPECT_EQ(producer->counts().acked, 0U);
  EXPECT_EQ(producer->counts().failed, 1U);
  ASSERT_TRUE(producer->failure());
  EXPECT_THAT(producer->failure()->text(),
              HasSubstr("sending 70000 bytes to topic 'frames': Broker: Message"));
  EXPECT_THAT(producer->failure()->hint, HasSubstr("fewer slices per message"));

  const auto refused = producer->send(make_buffer(70 << 20, 1), "k", 0);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hint, HasSubstr("fewer slices per message"));
}

TEST_F(KafkaTransport, GivesBuffersBack) {
  const auto buffer = make_buffer(1000, 1);
  {
    const auto producer = producer_for(cluster);
    ASSERT_TRUE(producer->send(buffer, "k", 0).value());
    ASSERT_TRUE(producer->flush(10s));
    EXPECT_EQ(buffer.use_count(), 1);
    for (int id = 1; id <= 3; ++id) cluster.set_broker_down(id);
    ASSERT_TRUE(producer->send(buffer, "k", 0).value());
    EXPECT_EQ(buffer.use_count(), 2);
  }
  EXPECT_EQ(buffer.use_count(), 1) << "a producer that ends with a full queue gives its messages back";
}

TEST_F(KafkaTransport, AMissingTopicIsNamedWithASuggestion) {
  const auto producer = make_producer(cluster.config(), {.topic = "frame"});
  ASSERT_FALSE(producer);
  EXPECT_EQ(producer.error().code, pilot::ErrorCode::not_found);
  EXPECT_THAT(producer.error().text(), HasSubstr("there is no topic 'frame'; did you mean 'frames'?"));
  ConsumerOptions options;
  options.topic = "frame";
  options.group = "g";
  EXPECT_EQ(make_consumer(cluster.config(), options).error().code, pilot::ErrorCode::not_found);
}

TEST_F(KafkaTransport, DescribesTheCluster) {
  auto admin = Admin::make(cluster.config());
  ASSERT_TRUE(admin);
  const auto status = admin.value().describe(10s);
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(status.value().brokers.size(), 3U);
  ASSERT_NE(status.value().find_topic("frames"), nullptr);
  EXPECT_EQ(status.value().find_topic("frames")->partitions, 4);
  EXPECT_EQ(admin.value().describe_topic("frames", 10s).value().partitions, 4);
}

TEST(KafkaWithoutBroker, SaysThatNobodyAnswers) {
  const auto producer =
      make_producer(plain_client_config("127.0.0.1:1"), {.topic = "t", .connect_timeout = 5s});
  ASSERT_FALSE(producer);
  EXPECT_EQ(producer.error().code, pilot::ErrorCode::unavailable);
  EXPECT_THAT(
      producer.error().text(),
      HasSubstr("connecting to Kafka at 127.0.0.1:1: 127.0.0.1:1: Connection refused; is the cluster"));
}

// What a client without credentials sees of a broker that wants some: a connection, and silence.
TEST(KafkaWithoutBroker, SaysThatASilentServerMayWantALogin) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(server, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(server, 5), 0);
  ASSERT_EQ(getsockname(server, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const auto bootstrap = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const auto producer = make_producer(plain_client_config(bootstrap), {.topic = "t", .connect_timeout = 1s});
  ASSERT_FALSE(producer);
  EXPECT_THAT(producer.error().text(), HasSubstr("brokers that want a login or TLS don't answer"));
  close(server);
}

}  // namespace
}  // namespace miniapps::transports::kafka
