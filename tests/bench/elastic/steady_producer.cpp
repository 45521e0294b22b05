// Sends messages at a steady rate until SIGTERM, and prints each acknowledgement as "MICROSECONDS LATENCY":
// when it came since 1970, and after how many microseconds.  At the end "sent N acked N failed N".
#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

volatile std::sig_atomic_t stop = 0;

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

struct Counts {
  std::uint64_t acked = 0, failed = 0;
};

void delivered(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
  auto& counts = *static_cast<Counts*>(opaque);
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    ++counts.failed;
    fmt::print(stderr, "steady_producer: {}\n", rd_kafka_err2str(message->err));
    return;
  }
  ++counts.acked;
  const auto now = now_us();
  const auto sent = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(message->_private));
  fmt::print("{} {}\n", now, now - sent);
}

[[noreturn]] void die(const std::string& why) {
  fmt::print(stderr, "steady_producer: {}\n", why);
  std::exit(1);
}

rd_kafka_t* open_producer(const std::string& config, Counts& counts) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char why[512];
  const auto set = [&](const std::string& key, const std::string& value) {
    if (rd_kafka_conf_set(conf, key.c_str(), value.c_str(), why, sizeof why) != RD_KAFKA_CONF_OK) die(why);
  };
  std::ifstream file(config);
  if (!file) die("cannot read '" + config + "'");
  for (std::string line; std::getline(file, line);) {
    const auto equals = line.find('=');
    if (!line.empty() && line[0] != '#' && equals != std::string::npos)
      set(line.substr(0, equals), line.substr(equals + 1));
  }
  set("enable.idempotence", "true");
  set("linger.ms", "5");
  rd_kafka_conf_set_dr_msg_cb(conf, delivered);
  rd_kafka_conf_set_opaque(conf, &counts);
  rd_kafka_t* producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
  if (producer == nullptr) die(why);
  return producer;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) die("usage: steady_producer CONFIG TOPIC BYTES MESSAGES_PER_SECOND");
  const std::string topic = argv[2];
  const std::vector<char> payload(static_cast<std::size_t>(std::atoi(argv[3])), 'x');
  const double rate = std::atof(argv[4]);
  std::signal(SIGTERM, [](int) { stop = 1; });
  std::setvbuf(stdout, nullptr, _IOFBF, 1 << 20);
  Counts counts;
  rd_kafka_t* producer = open_producer(argv[1], counts);
  const auto begin = now_us();
  std::uint64_t sent = 0;
  while (stop == 0) {
    const auto due = static_cast<std::uint64_t>(static_cast<double>(now_us() - begin) * 1e-6 * rate);
    while (sent < due && stop == 0) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the time travels with the message
      auto* stamp = reinterpret_cast<void*>(static_cast<std::intptr_t>(now_us()));
      const auto error = rd_kafka_producev(
          producer, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
          RD_KAFKA_V_VALUE(const_cast<char*>(payload.data()), payload.size()), RD_KAFKA_V_OPAQUE(stamp),
          RD_KAFKA_V_END);
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        ++sent;
      } else if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        break;
      } else {
        die(rd_kafka_err2str(error));
      }
    }
    rd_kafka_poll(producer, 2);
  }
  rd_kafka_flush(producer, 60000);
  fmt::print("sent {} acked {} failed {}\n", sent, counts.acked, counts.failed);
  rd_kafka_destroy(producer);
  return counts.acked == sent ? 0 : 1;
}
