// pilot-kafka: what agents need of Kafka without starting a JVM.  See README.md.
#include <cstdio>
#include <string>
#include <vector>

#include "adaptors/framework/kafka/tool/commands.hpp"
#include "pilot/base/suggest.hpp"

namespace {

constexpr auto usage = R"(usage: pilot-kafka VERB ...
  format  --config server.properties --cluster-id ID [--template bootstrap.checkpoint] [--voters ID@HOST:PORT,...]
  ready   --config librdkafka.properties --broker HOST:PORT --id N [--expect 1,2,3] [--timeout 5s]
  voter   --config librdkafka.properties --id N [--timeout 5s]
  topic   list | describe NAME | create NAME [--partitions N] [--replicas N] [--set key=value,...] [--if-absent]
          | grow NAME --partitions N  --config librdkafka.properties [--timeout 10s]
  rebalance   --config librdkafka.properties [--keep IDS] [--drain IDS] [--throttle 50MB/s|auto|none]
          [--no-unregister] [--timeout 2m] [--json] [--check [--leave CONTROLLERS]]
  unregister  --config librdkafka.properties [--broker ID] [--controller ID] [--timeout 30s]
  health      --config librdkafka.properties [--controllers IDS] [--timeout 10s]
Standard output carries one JSON object ('rebalance --json': one per line).  Exit codes: 0 done, 1 failed,
2 usage, 3 not found, 4 time-out, 5 no broker answers, 6 partly done, 128+n stopped by signal n.
)";

pilot::Result<std::string> run(const std::string& verb, const std::vector<std::string>& words) {
  namespace kafka = pilot::adaptors::kafka;
  if (verb == "format") return kafka::run_format(words);
  if (verb == "ready") return kafka::run_ready(words);
  if (verb == "voter") return kafka::run_voter(words);
  if (verb == "topic") return kafka::run_topic(words);
  if (verb == "rebalance") return kafka::run_rebalance(words);
  if (verb == "unregister") return kafka::run_unregister(words);
  if (verb == "health") return kafka::run_health(words);
  return pilot::make_error(
      pilot::ErrorCode::usage, "no verb '" + verb + "'",
      pilot::suggestion(verb, {"format", "ready", "voter", "topic", "rebalance", "unregister", "health"}));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words[0] == "--help" || words[0] == "help") {
    std::fputs(usage, words.empty() ? stderr : stdout);
    return words.empty() ? 2 : 0;
  }
  const auto answer = run(words[0], {words.begin() + 1, words.end()});
  if (!answer.has_value()) {
    std::fprintf(stderr, "pilot-kafka: %s\n", answer.error().text().c_str());
    const int signal = pilot::adaptors::kafka::stop_signal();
    return signal != 0 ? 128 + signal : pilot::exit_code(answer.error().code);
  }
  std::printf("%s\n", answer.value().c_str());
  return 0;
}
