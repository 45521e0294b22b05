#include "pilot/cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "pilot/cli/output.hpp"
#include "pilot/cli/signals.hpp"
#include "pilot/codec/codec.hpp"

namespace pilot::cli {
namespace {

constexpr auto rewrite_each = std::chrono::milliseconds(100);
constexpr auto plain_each = std::chrono::seconds(5);
constexpr std::size_t colour_codes = 9;  // letters of a painted word that take no room

Progress::Mode mode_of(const std::string& mode, bool quiet) {
  if (quiet || mode == "none") return Progress::Mode::none;
  if (mode == "json") return Progress::Mode::json;
  if (mode == "plain") return Progress::Mode::plain;
  return isatty(STDERR_FILENO) == 1 ? Progress::Mode::line : Progress::Mode::plain;
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

// At most `room` letters of a UTF-8 text.
std::string elided(std::string_view text, std::size_t room) {
  if (width_of(text) <= room) return std::string(text);
  std::string cut;
  std::size_t letters = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80 && ++letters + 3 > room) break;
    cut += c;
  }
  return cut + "...";
}

bool is_quiet(model::ServicePhase phase) {
  return phase == model::ServicePhase::ready || phase == model::ServicePhase::planned ||
         phase == model::ServicePhase::stopped;
}

std::string services_summary(const model::PilotState& state) {
  std::string text;
  for (const auto& [framework, cluster] : state.clusters) {
    std::size_t ready = 0;
    std::string busy;
    for (const auto& [id, service] : cluster.services) {
      if (service.phase == model::ServicePhase::ready) ++ready;
      if (!is_quiet(service.phase) && busy.empty())
        busy = fmt::format(" ({} {})", id, model::to_string(service.phase));
    }
    text += fmt::format(", {} {} of {} services ready{}", framework, ready, cluster.services.size(), busy);
  }
  return text;
}

}  // namespace

std::string summary_of(const model::PilotState& state) {
  std::size_t up = 0;
  for (const auto& [id, node] : state.nodes) up += node.phase == model::NodePhase::up ? 1u : 0u;
  std::string pending;
  for (const auto& [id, allocation] : state.allocations)
    if (allocation.phase == model::AllocationPhase::pending && !allocation.reason.empty())
      pending = fmt::format(" (job {} waits: {})", allocation.job_id, allocation.reason);
  return fmt::format("{} of {} nodes{}{}", up, state.spec.nodes, pending, services_summary(state));
}

Progress::Progress(const std::string& mode, bool quiet, bool colour, const Clock& clock)
    : mode_(mode_of(mode, quiet)), colour_(colour), clock_(&clock), start_(clock.steady()) {}

Progress::~Progress() {
  finish();
}

std::string Progress::elapsed() const {
  return format_duration(clock_->steady() - start_);
}

void Progress::event(const model::Event& event, const model::PilotState&) {
  if (mode_ == Mode::json) say(codec::encode(event));
  if (mode_ == Mode::plain) say(fmt::format("{:>7}  {}", elapsed(), model::describe(event.body)));
}

void Progress::waiting(const model::PilotState& state) {
  if (mode_ != Mode::line) return;
  const std::string phase(model::to_string(state.phase));
  progress(fmt::format("{} {}: {}", state.spec.name, painted(phase, colour_of_state(phase), colour_),
                       summary_of(state)));
}

void Progress::note(std::string_view sentence) {
  if (mode_ == Mode::none || mode_ == Mode::json) return;
  finish();
  say(sentence);
}

bool Progress::interrupted() {
  return signal_received() != 0;
}

void Progress::progress(std::string_view text) {
  if (mode_ != Mode::line && mode_ != Mode::plain) return;
  const auto now = clock_->steady();
  const Duration each = mode_ == Mode::line ? Duration(rewrite_each) : Duration(plain_each);
  if (last_shown_ != SteadyTime{} && now - last_shown_ < each) return;
  last_shown_ = now;
  const std::string line = fmt::format("{:>7}  {}", elapsed(), text);
  if (mode_ == Mode::plain) {
    say(line);
    return;
  }
  const bool painted_word = line.find('\x1b') != std::string::npos;
  fmt::print(stderr, "\r{}\x1b[K", elided(line, terminal_width() - 1 + (painted_word ? colour_codes : 0)));
  std::fflush(stderr);
  line_open_ = true;
}

void Progress::finish() {
  if (line_open_) fmt::print(stderr, "\r\x1b[K");
  line_open_ = false;
}

}  // namespace pilot::cli
