// Times a head agent that has many node agents; see README.md.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/base/event_loop.hpp"
#include "pilot/base/random.hpp"
#include "pilot/codec/codec.hpp"
#include "pilot/net/control_client.hpp"
#include "pilot/net/socket.hpp"
#include "pilot/proc/identity.hpp"
#include "pilot/proc/process.hpp"
#include "pilot/store/event_log.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace {

using namespace std::chrono_literals;
using pilot::Duration;
namespace model = pilot::model;

constexpr int clients_per_context = 900;
constexpr int nodes_per_worker = 4000;
constexpr Duration give_up = 5min;
constexpr Duration settling = 3s;  // until all have begun

struct Goals {
  double registered_s = 10, cores = 1, resident_mb = 1024;
};

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

Duration processor_time(pid_t pid) {
  Duration total{0};
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid))) {
    long long nanoseconds = 0;
    std::ifstream(task.path() / "schedstat") >> nanoseconds;
    total += Duration{nanoseconds};
  }
  return total;
}

double resident_megabytes(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string word; status >> word;)
    if (double kilobytes = 0; word == "VmRSS:" && status >> kilobytes) return kilobytes / 1024;
  return 0;
}

// A pilot of so many nodes and no framework, with a real head agent.
class Head {
 public:
  Head(const std::string& program, int nodes)
      : folder_(pilot::store::PilotFolder::create("bench", nodes, false).value()) {
    model::PilotSpec spec;
    spec.name = "bench";
    spec.resource = "local";
    spec.nodes = nodes;
    spec.ready_timeout = give_up;
    {
      auto log = pilot::store::EventLog::open(folder_.path(), pilot::system_clock()).value();
      (void)log.append({model::PilotCreated{pilot::random_hex(16), spec, "", "", ""},
                        model::AllocationSubmitted{"a0", "bench", nodes}});
    }
    model::Command command;
    command.argv = {program, "head", "--pilot-dir", folder_.path().string(), "--address", "127.0.0.1"};
    process_ = pilot::proc::spawn(command, {folder_.log_folder() / "head.log", {}}).value();
  }
  ~Head() { pilot::proc::send_signal(process_, SIGKILL); }
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;

  std::string endpoint() const {
    const pilot::Deadline deadline(pilot::system_clock(), 1min);
    while (!deadline.passed())
      if (const auto found = folder_.endpoint(); found.has_value()) return found.value().address;
    return {};
  }
  const pilot::store::PilotFolder& folder() const { return folder_; }
  pid_t pid() const { return process_.pid; }

 private:
  pilot::store::PilotFolder folder_;
  model::ProcessIdentity process_;
};

// Node agents that register and send heartbeats as real ones do, and run nothing.
class Nodes {
 public:
  Nodes(pilot::EventLoop& loop, const Head& head, const std::string& endpoint, int first, int count)
      : loop_(loop), first_(first), is_accepted_(static_cast<std::size_t>(count)) {
    const auto head_key = head.folder().keys("head").value().public_key;
    for (int number = first; number < first + count; ++number) {
      if ((number - first) % clients_per_context == 0)
        contexts_.push_back(std::make_shared<pilot::net::ZmqContext>());
      const auto id = fmt::format("node-{}", number);
      clients_.push_back(std::make_unique<pilot::net::ControlClient>(
          loop, endpoint, head_key, head.folder().keys(id).value(),
          [this, index = number - first](const std::string& text) { hear(index, text); }, contexts_.back()));
      clients_.back()->send(registration(number));
    }
  }

  bool all_registered() const { return accepted_ == static_cast<int>(clients_.size()); }
  long answers() const { return answers_; }

  // Each second from each that is registered, spread over the second as those of real nodes are.
  void begin_heartbeats() {
    constexpr int slices = 50;
    for (int slice = 0; slice < slices; ++slice)
      starts_.push_back(loop_.after(slice * (1s / slices), [this, slice] {
        beats_.push_back(loop_.every(1s, [this, slice] {
          for (int i = slice; i < static_cast<int>(clients_.size()); i += slices) beat(i);
        }));
      }));
  }

 private:
  static std::string registration(int number) {
    model::NodeInfo info;
    info.id = fmt::format("node-{}", number);
    info.allocation = "a0";
    info.rank = number - 1;
    info.host = fmt::format("host-{}", number);
    info.address = fmt::format("10.{}.{}.{}", number >> 16, (number >> 8) & 255, number & 255);
    info.cores = 64;
    info.memory.count = 1ULL << 38;
    info.scratch = "/scratch/pilot/" + info.id;
    for (std::uint16_t port = 20000; port < 20033; ++port) info.free_ports.push_back(port);
    info.agent = {number, 1, "boot"};
    return pilot::codec::encode(model::Message{{}, model::RegisterNode{info, {}}});
  }

  void beat(int i) {
    if (!is_accepted_[static_cast<std::size_t>(i)]) return;
    clients_[static_cast<std::size_t>(i)]->send(
        pilot::codec::encode(model::Message{{}, model::Heartbeat{fmt::format("node-{}", first_ + i)}}));
  }

  void hear(int i, const std::string& text) {
    ++answers_;
    const auto index = static_cast<std::size_t>(i);
    if (text.find("\"register_again\"") != std::string::npos)  // it was thought lost
      return clients_[index]->send(registration(first_ + i));
    if (text.find("\"node_accepted\"") == std::string::npos) return;
    if (!is_accepted_[index]) ++accepted_;
    is_accepted_[index] = true;
  }

  pilot::EventLoop& loop_;
  int first_;
  std::vector<std::shared_ptr<pilot::net::ZmqContext>> contexts_;
  std::vector<std::unique_ptr<pilot::net::ControlClient>> clients_;
  std::vector<pilot::EventLoop::Handle> starts_, beats_;
  std::vector<bool> is_accepted_;
  int accepted_ = 0;
  long answers_ = 0;
};

// Some of the nodes, in a process of their own, since each needs two descriptors.  It says when all are
// registered, and then how many answers came during `steady`.
class Worker {
 public:
  Worker(const Head& head, const std::string& endpoint, int first, int count, Duration steady) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      work(ends[1], head, endpoint, first, count, steady);
      ::_exit(0);
    }
    ::close(ends[1]);
    says_ = ends[0];
  }
  ~Worker() {
    ::close(says_);
    ::waitpid(pid_, nullptr, 0);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // The next number that it says; -1: none.
  long next() const {
    long number = -1;
    return ::read(says_, &number, sizeof number) == sizeof number ? number : -1;
  }

 private:
  static void work(int say, const Head& head, const std::string& endpoint, int first, int count,
                   Duration steady) {
    const auto tell = [say](long number) { return ::write(say, &number, sizeof number) == sizeof number; };
    pilot::EventLoop loop;
    Nodes nodes(loop, head, endpoint, first, count);
    nodes.begin_heartbeats();
    const pilot::Deadline deadline(pilot::system_clock(), give_up);
    while (!nodes.all_registered() && !deadline.passed()) loop.run_for(5ms);
    if (!nodes.all_registered() || !tell(count)) return;
    loop.run_for(settling);
    const long before = nodes.answers();
    loop.run_for(steady);
    (void)tell(nodes.answers() - before);
    loop.run_for(settling);  // the others measure still
  }

  pid_t pid_ = 0;
  int says_ = -1;
};

struct Cost {
  double registered_s = 0, cpu_to_register_s = 0, cores = 0, answers_per_s = 0, resident_mb = 0;
};

Cost measure(const std::string& program, int count, Duration steady) {
  const auto& clock = pilot::system_clock();
  const Head head(program, count);
  const auto endpoint = head.endpoint();
  const auto begun = clock.steady();
  std::vector<std::unique_ptr<Worker>> workers;
  for (int first = 1; first <= count; first += nodes_per_worker)
    workers.push_back(std::make_unique<Worker>(head, endpoint, first,
                                               std::min(nodes_per_worker, count - first + 1), steady));
  long registered = 0;
  for (const auto& worker : workers) registered += std::max(0L, worker->next());
  if (registered != count) return {};
  Cost cost;
  cost.registered_s = seconds(clock.steady() - begun);
  cost.cpu_to_register_s = seconds(processor_time(head.pid()));
  pilot::EventLoop loop;
  loop.run_for(settling);
  const auto before = processor_time(head.pid());
  const auto from = clock.steady();
  loop.run_for(steady);
  cost.cores = seconds(processor_time(head.pid()) - before) / seconds(clock.steady() - from);
  cost.resident_mb = resident_megabytes(head.pid());
  for (const auto& worker : workers)
    cost.answers_per_s += static_cast<double>(worker->next()) / seconds(steady);
  return cost;
}

bool run(const std::string& program, int count, Duration steady) {
  char home[] = "/tmp/agents-bench-XXXXXX";
  ::setenv("PILOT_HOME", ::mkdtemp(home), 1);
  const Cost cost = measure(program, count, steady);
  std::filesystem::remove_all(home);
  fmt::print(
      R"({{"nodes": {}, "registered_s": {:.2f}, "head_cpu_s_to_register": {:.2f}, "steady_cores": {:.3f}, )"
      R"("cores_per_1000_nodes": {:.4f}, "answers_per_s": {:.0f}, "resident_mb": {:.0f}, "kb_per_node": {:.1f}}})"
      "\n",
      count, cost.registered_s, cost.cpu_to_register_s, cost.cores, cost.cores * 1000 / count,
      cost.answers_per_s, cost.resident_mb, cost.resident_mb * 1024 / count);
  std::fflush(stdout);
  const Goals goals;
  return cost.registered_s > 0 && cost.registered_s <= goals.registered_s && cost.cores <= goals.cores &&
         cost.resident_mb <= goals.resident_mb && cost.answers_per_s >= 0.9 * count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: agents_bench PILOT-AGENT [--steady SECONDS] [NODES...]\n");
    return 2;
  }
  Duration steady = 20s;
  std::vector<int> counts;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--steady" && i + 1 < argc)
      steady = std::chrono::seconds(std::atoi(argv[++i]));
    else
      counts.push_back(std::atoi(argv[i]));
  }
  if (counts.empty()) counts = {100, 1000, 3000, 10000};
  bool good = steady >= 1s;
  for (const int count : counts) good = count >= 1 && run(argv[1], count, steady) && good;
  return good ? 0 : 1;
}
