#include "pilot/agent/agent_program.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "pilot/agent/environment.hpp"
#include "pilot/agent/log_limit.hpp"
#include "pilot/base/log.hpp"
#include "pilot/base/suggest.hpp"
#include "pilot/store/pilot_folder.hpp"

namespace pilot::agent {

namespace {

using Flags = std::map<std::string, std::string>;

const std::vector<std::string> head_flags{"pilot-dir", "node", "address", "port"};
const std::vector<std::string> node_flags{"pilot-dir", "allocation", "rank",    "node",          "address",
                                          "cores",     "memory",     "scratch", "reservation-fd"};

Error usage(std::string what) {
  return make_error(ErrorCode::usage, std::move(what), "this program is run by 'pilot start'");
}

Result<Flags> parse_flags(const std::vector<std::string>& arguments, const std::vector<std::string>& known) {
  Flags flags;
  for (std::size_t i = 1; i < arguments.size(); i += 2) {
    const std::string& flag = arguments[i];
    const std::string name = flag.starts_with("--") ? flag.substr(2) : std::string();
    if (std::find(known.begin(), known.end(), name) == known.end())
      return usage(fmt::format("unknown argument '{}'; {}", flag, suggestion(name, known)));
    if (i + 1 == arguments.size()) return usage(fmt::format("'{}' needs a value", flag));
    flags[name] = arguments[i + 1];
  }
  return flags;
}

Result<std::string> text(const Flags& flags, const std::string& name) {
  const auto found = flags.find(name);
  if (found == flags.end() || found->second.empty()) return usage(fmt::format("'--{}' is missing", name));
  return found->second;
}

template <typename Number>
Result<Number> number(const Flags& flags, const std::string& name) {
  PILOT_TRY(const std::string value, text(flags, name));
  Number result{};
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), result);
  if (parsed.ec != std::errc{} || parsed.ptr != value.data() + value.size() || result < Number{})
    return usage(fmt::format("'--{} {}' is not a number", name, value));
  return result;
}

std::filesystem::path own_program() {
  std::error_code failure;
  return std::filesystem::read_symlink("/proc/self/exe", failure);
}

Result<HeadOptions> parse_head(const Flags& flags) {
  HeadOptions options;
  PILOT_TRY(options.pilot_dir, text(flags, "pilot-dir"));
  if (flags.contains("node")) options.node = flags.at("node");
  if (flags.contains("address")) options.address = flags.at("address");
  if (flags.contains("port")) {
    PILOT_TRY(options.port, number<std::uint16_t>(flags, "port"));
  }
  options.agent_program = own_program();
  options.tools_folder = options.agent_program.parent_path();
  return options;
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

Result<NodeOptions> parse_node(const Flags& flags) {
  NodeOptions options;
  PILOT_TRY(options.pilot_dir, text(flags, "pilot-dir"));
  PILOT_TRY(options.allocation, text(flags, "allocation"));
  PILOT_TRY(options.rank, number<int>(flags, "rank"));
  PILOT_TRY(options.node, text(flags, "node"));
  PILOT_TRY(options.address, text(flags, "address"));
  PILOT_TRY(options.cores, number<int>(flags, "cores"));
  PILOT_TRY(options.memory.count, number<std::uint64_t>(flags, "memory"));
  PILOT_TRY(options.scratch, text(flags, "scratch"));
  // A bound socket that holds the node's address; it only has to stay open.
  if (flags.contains("reservation-fd")) PILOT_TRY_VOID(number<int>(flags, "reservation-fd"));
  options.rack = rack_of(from_environment("PILOT_TOPOLOGY"));
  options.agent_program = own_program();
  options.keep_head = options.allocation == "a0" && options.rank == 0;
  return options;
}

// An agent waits most of its life and shall be small: one heap, and what it frees goes back.
void be_small() {
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_TRIM_THRESHOLD, 128 * 1024);
  ::mallopt(M_MMAP_THRESHOLD, 256 * 1024);
}

std::filesystem::path log_of(const std::filesystem::path& pilot_dir, const std::string& who) {
  return store::PilotFolder(pilot_dir).log_folder() / (who + ".log");
}

void begin_process(const std::filesystem::path& pilot_dir, const std::string& who) {
  be_small();
  leave_service_environment();
  ::signal(SIGHUP, SIG_IGN);  // the terminal that started us may go
  ::signal(SIGPIPE, SIG_IGN);
  log::set_level(log::Level::info);
  log::to_file(log_of(pilot_dir, who));
}

// A head has a connection per node, and the limit that shells set is often 1,024.
void allow_many_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

int run_head(HeadOptions options, plugin::Registry& registry, SoftwareLocator locate) {
  begin_process(options.pilot_dir, "head");
  allow_many_connections();
  EventLoop loop;
  int code = 1;
  const HeadAgent head(loop, system_clock(), std::move(options), registry, std::move(locate),
                       [&](int ended_with) {
                         code = ended_with;
                         loop.stop();
                       });
  // It leaves everything as it is: whoever keeps it running goes on from its log.
  const auto end = [&](int signal) {
    log::info("ending upon signal {}", signal);
    code = 128 + signal;
    loop.stop();
  };
  const auto terminate = loop.on_signal(SIGTERM, end);
  const auto interrupt = loop.on_signal(SIGINT, end);
  loop.run();
  return code;
}

int run_node(NodeOptions options) {
  begin_process(options.pilot_dir, options.node);
  const std::string node = options.node;
  EventLoop loop;
  // As the logs of services are, the head's among them, by the agent that keeps it.
  const auto limited =
      keep_limiting_log(loop, log_of(options.pilot_dir, node), model::ServiceSpec{}.log_limit);
  int code = 1;
  std::unique_ptr<NodeAgent> agent;
  // Before it has made anything that a signal could leave behind; they wait for the loop.
  const auto terminate = loop.on_signal(SIGTERM, [&](int) { agent->end_now("told to end"); });
  const auto interrupt = loop.on_signal(SIGINT, [&](int) { agent->end_now("interrupted"); });
  const auto in_order = loop.on_signal(SIGUSR2, [&](int) { agent->shut_down("its time will be over"); });
  auto begun = NodeAgent::begin(loop, system_clock(), std::move(options), [&](int ended_with) {
    code = ended_with;
    loop.stop();
  });
  if (begun.has_error()) {
    log::error("{} can't begin: {}", node, begun.error().text());
    return exit_code(begun.error().code);
  }
  agent = std::move(begun).value();
  loop.run();
  return code;
}

}  // namespace

std::string rack_of(std::string_view topology) {
  const auto dot = topology.rfind('.');
  return dot == std::string_view::npos ? std::string() : std::string(topology.substr(0, dot));
}

Result<std::variant<HeadOptions, NodeOptions>> parse_agent_arguments(
    const std::vector<std::string>& arguments) {
  using Options = std::variant<HeadOptions, NodeOptions>;
  const std::string verb = arguments.empty() ? std::string() : arguments[0];
  if (verb == "head") {
    PILOT_TRY(const Flags flags, parse_flags(arguments, head_flags));
    PILOT_TRY(auto options, parse_head(flags));
    return Options(std::move(options));
  }
  if (verb == "node") {
    PILOT_TRY(const Flags flags, parse_flags(arguments, node_flags));
    PILOT_TRY(auto options, parse_node(flags));
    return Options(std::move(options));
  }
  return usage(fmt::format("'{}' is neither 'head' nor 'node'", verb));
}

int run_agent_program(const std::vector<std::string>& arguments, plugin::Registry& registry,
                      SoftwareLocator locate) {
  auto options = parse_agent_arguments(arguments);
  if (options.has_error()) {
    fmt::print(stderr, "pilot-agent: {}\n", options.error().text());
    return exit_code(options.error().code);
  }
  if (auto* head = std::get_if<HeadOptions>(&options.value()))
    return run_head(std::move(*head), registry, std::move(locate));
  return run_node(std::move(std::get<NodeOptions>(options.value())));
}

}  // namespace pilot::agent
