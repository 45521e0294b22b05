#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <optional>
#include <thread>

#include "adaptors/framework/kafka/rebalance/rebalance.hpp"
#include "adaptors/framework/kafka/tool/arguments.hpp"
#include "adaptors/framework/kafka/tool/commands.hpp"
#include "adaptors/framework/kafka/tool/open_cluster.hpp"

namespace pilot::adaptors::kafka {

namespace {

volatile std::sig_atomic_t stop_requested = 0;

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { stop_requested = signal; };
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // who reads our progress may go; the throttles must still
}

// False once a stop was requested.  A request ends the wait that it meets; those of the cleaning up that
// follows have their full length.
bool wait(Duration duration) {
  const bool stopping = stop_requested != 0;
  const Deadline until(system_clock(), duration);
  while (!until.passed() && (stopping || stop_requested == 0)) {
    const auto left = std::min<Duration>(until.left(), std::chrono::milliseconds(100));
    const timespec slice{0, static_cast<long>(left.count())};
    ::nanosleep(&slice, nullptr);
  }
  return stop_requested == 0;
}

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string numbers(const rebalance::Progress& progress) {
  return fmt::format(R"("moved_bytes": {}, "total_bytes": {}, "moves_done": {}, "moves": {})",
                     progress.moved.count, progress.total.count, progress.moves_done, progress.moves);
}

// One line per change on standard error; with --json also one object per line on standard output.
class Lines final : public rebalance::Reporter {
 public:
  explicit Lines(bool json) : json_(json) {}

  void step(const std::string& sentence) override {
    std::fprintf(stderr, "pilot-kafka: %s\n", sentence.c_str());
    if (json_) print(fmt::format(R"({{"event": "step", "text": {}}})", json_string(sentence)));
  }

  void progress(const rebalance::Progress& now) override {
    last_ = now;
    const auto percent = now.total.count == 0 ? 0 : 100 * now.moved.count / now.total.count;
    const auto line = std::pair(percent, now.moves_done);
    if (line == said_) return;
    said_ = line;
    std::fprintf(stderr, "pilot-kafka: moved %s of %s, %zu of %zu moves done, %s/s%s\n",
                 format_bytes(now.moved).c_str(), format_bytes(now.total).c_str(), now.moves_done, now.moves,
                 format_bytes(Bytes{static_cast<std::uint64_t>(now.bytes_per_second)}).c_str(),
                 now.eta ? fmt::format(", {} left", format_duration(*now.eta)).c_str() : "");
    if (!json_) return;
    print(fmt::format(
        R"({{"event": "progress", {}, "bytes_per_s": {:.0f}, "eta_s": {}, "throttle_bytes_per_s": {}}})",
        numbers(now), now.bytes_per_second, now.eta ? fmt::format("{:.1f}", seconds(*now.eta)) : "null",
        now.throttle ? fmt::format("{}", *now.throttle) : "null"));
  }

  void failed(const Error& error) const {
    if (!json_) return;
    print(fmt::format(R"({{"event": "failed", "code": "{}", "reason": {}, {}}})", to_string(error.code),
                      json_string(error.text()), numbers(last_)));
  }

 private:
  static void print(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }

  bool json_;
  rebalance::Progress last_;
  std::pair<std::uint64_t, std::size_t> said_{0, 0};
};

// {"1": {"/data/a": 4096}}
std::string folders_json(const std::map<int, std::map<std::string, Bytes>>& folders) {
  std::vector<std::string> brokers;
  for (const auto& [id, paths] : folders) {
    std::vector<std::string> bytes;
    for (const auto& [path, held] : paths)
      bytes.push_back(fmt::format("{}: {}", json_string(path), held.count));
    brokers.push_back(fmt::format(R"("{}": {{{}}})", id, fmt::join(bytes, ", ")));
  }
  return fmt::format("{{{}}}", fmt::join(brokers, ", "));
}

// "50MB/s", "50MB", "auto", "none".
Result<void> parse_throttle(std::string text, rebalance::Options& options) {
  options.throttling = text == "auto"   ? rebalance::Throttling::automatic
                       : text == "none" ? rebalance::Throttling::none
                                        : rebalance::Throttling::fixed;
  if (options.throttling != rebalance::Throttling::fixed) return ok();
  if (text.size() > 2 && text.compare(text.size() - 2, 2, "/s") == 0) text.resize(text.size() - 2);
  const auto bytes = parse_bytes(text);
  if (!bytes.has_value() || bytes.value().count == 0) {
    return make_error(ErrorCode::usage,
                      fmt::format("'--throttle' is '{}'; it can be auto, none, or a rate per "
                                  "broker like 50MB/s",
                                  text));
  }
  options.rate = bytes.value().count;
  return ok();
}

// The controller that was stopped may have led the others: while they elect another one all is refused.
template <typename Action>
Result<void> repeated(const Deadline& deadline, const Action& action) {
  while (true) {
    auto done = action();
    if (done.has_value() || deadline.passed()) return done;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// Nothing when the flag is not given.
Result<std::optional<int>> id_of(const Arguments& arguments, const char* flag) {
  if (!arguments.has(flag)) return std::optional<int>();
  PILOT_TRY(const int id, arguments.id(flag));
  return std::optional(id);
}

Result<rebalance::Options> parse_options(const Arguments& arguments) {
  rebalance::Options options;
  if (arguments.has("--keep")) {
    PILOT_TRY(options.keep, parse_ids(arguments.text("--keep", "")));
  }
  if (arguments.has("--drain")) {
    PILOT_TRY(options.drain, parse_ids(arguments.text("--drain", "")));
  }
  PILOT_TRY_VOID(parse_throttle(arguments.text("--throttle", "auto"), options));
  PILOT_TRY(options.patience, arguments.duration("--timeout", options.patience));
  if (options.patience <= Duration{0})
    return make_error(ErrorCode::usage, "'--timeout' has to be longer than nothing");
  options.unregister = !arguments.has("--no-unregister");
  options.as_far_as_possible = arguments.has("--as-far-as-possible");
  if (!arguments.words().empty())
    return make_error(ErrorCode::usage, fmt::format("'rebalance' takes no word '{}'", arguments.words()[0]));
  return options;
}

}  // namespace

int stop_signal() {
  return stop_requested;
}

Result<std::string> run_rebalance(const std::vector<std::string>& words) {
  PILOT_TRY(const auto arguments,
            Arguments::parse(words, {"--config", "--keep", "--drain", "--leave", "--throttle", "--timeout"},
                             {"--no-unregister", "--as-far-as-possible", "--json", "--check"}));
  PILOT_TRY(const auto options, parse_options(arguments));
  PILOT_TRY(auto cluster, open_cluster(arguments));
  catch_signals();
  Lines lines(arguments.has("--json"));
  if (arguments.has("--check")) {
    PILOT_TRY(auto problem, rebalance::objection({cluster, system_clock(), lines, wait}, options));
    if (const auto leave = arguments.text("--leave", ""); problem.empty() && !leave.empty()) {
      PILOT_TRY(const auto ids, parse_ids(leave));
      PILOT_TRY(const auto voters, cluster.voters(Deadline(system_clock(), std::chrono::seconds(10))));
      problem = quorum_problem(voters, ids);
    }
    return fmt::format(R"({{"schema": "pilot-kafka.rebalance-check/1", "problem": {}}})",
                       json_string(problem));
  }
  const auto start = system_clock().steady();
  const auto outcome = rebalance::rebalance({cluster, system_clock(), lines, wait}, options);
  if (!outcome.has_value()) {
    lines.failed(outcome.error());
    return outcome.error();
  }
  const auto& done = outcome.value();
  return fmt::format(
      R"({{"schema": "pilot-kafka.rebalance/1", "event": "done", {}, "drained": [{}], "elected": {}, )"
      R"("throttles_removed": {}, "unregistered": [{}], "bytes_by_folder": {}, "seconds": {:.1f}}})",
      numbers(done.progress), fmt::join(options.drain, ", "), done.elected, done.released,
      fmt::join(done.unregistered, ", "), folders_json(done.folders),
      seconds(system_clock().steady() - start));
}

Result<std::string> run_unregister(const std::vector<std::string>& words) {
  PILOT_TRY(const auto arguments,
            Arguments::parse(words, {"--config", "--broker", "--controller", "--timeout"}));
  PILOT_TRY(const auto broker, id_of(arguments, "--broker"));
  PILOT_TRY(const auto controller, id_of(arguments, "--controller"));
  PILOT_TRY(const auto timeout, arguments.duration("--timeout", std::chrono::seconds(30)));
  if (!broker && !controller) return make_error(ErrorCode::usage, "neither '--broker' nor '--controller'");
  PILOT_TRY(auto cluster, open_cluster(arguments));
  const Deadline deadline(system_clock(), timeout);
  // First: one that is not there counts against the majority, whatever the broker does.
  if (controller)
    PILOT_TRY_VOID(repeated(deadline, [&] { return cluster.remove_voter(*controller, deadline); }));
  if (broker) {
    PILOT_TRY(const auto state, cluster.metadata(deadline));
    if (std::ranges::find(state.brokers, *broker, &protocol::BrokerNode::id) != state.brokers.end())
      return make_error(ErrorCode::failed, fmt::format("broker {} is up and would register again", *broker),
                        "stop it first");
    PILOT_TRY_VOID(repeated(deadline, [&] { return cluster.unregister(*broker, deadline); }));
  }
  const auto text = [](const std::optional<int>& id) { return id ? std::to_string(*id) : "null"; };
  return fmt::format(R"({{"schema": "pilot-kafka.unregister/1", "broker": {}, "controller": {}}})",
                     text(broker), text(controller));
}

}  // namespace pilot::adaptors::kafka
