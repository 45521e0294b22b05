#include "pilot/agent/node_services.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "pilot/base/file.hpp"
#include "pilot/base/log.hpp"
#include "pilot/proc/identity.hpp"

namespace pilot::agent {

NodeServices::NodeServices(EventLoop& loop, const Clock& clock, std::filesystem::path path, std::string node,
                           NodeRecord record, ContextOf context_of, OnReport on_report)
    : loop_(loop),
      clock_(&clock),
      path_(std::move(path)),
      node_(std::move(node)),
      record_(std::move(record)),
      context_of_(std::move(context_of)),
      on_report_(std::move(on_report)) {
  for (auto& service : std::exchange(record_.services, {})) make_runner(std::move(service));
  save();
}

ServiceRunner& NodeServices::make_runner(ServiceRecord record) {
  const std::string id = record.spec.id;
  auto runner = std::make_unique<ServiceRunner>(loop_, *clock_, std::move(record), context_of_(id),
                                                [this, id] { changed(id); });
  return *(runners_[id] = std::move(runner));
}

void NodeServices::resume() {
  for (auto& [id, runner] : runners_) runner->resume();
}

void NodeServices::start(const std::vector<model::ServiceSpec>& specs) {
  for (const auto& spec : specs) {
    const auto found = runners_.find(spec.id);
    if (found != runners_.end() && !found->second->record().at_rest()) continue;
    ServiceRecord record;
    if (found != runners_.end()) record = found->second->record();
    record.spec = spec;
    make_runner(std::move(record)).start();
  }
}

void NodeServices::stop(const std::vector<std::string>& ids) {
  for (const auto& id : ids)
    if (const auto found = runners_.find(id); found != runners_.end()) found->second->stop();
}

void NodeServices::stop_all_but(const std::vector<std::string>& ids) {
  for (auto& [id, runner] : runners_)
    if (!runner->record().at_rest() && std::ranges::find(ids, id) == ids.end()) runner->stop();
}

void NodeServices::stop_all(std::function<void()> on_end) {
  on_stopped_ = std::move(on_end);
  go_on_stopping();
}

// Whoever tells us to end kills us within seconds: Slurm after KillWait, at least 5 s by default on any site.
void NodeServices::end_all(std::function<void()> on_end) {
  constexpr Duration grace = std::chrono::seconds(2);
  on_stopped_ = std::move(on_end);
  for (auto& [id, runner] : runners_)
    if (!runner->record().at_rest()) runner->end_within(grace);
  go_on_stopping();
}

void NodeServices::go_on_stopping() {
  if (!on_stopped_) return;
  int stage = std::numeric_limits<int>::min();
  std::vector<std::string> ids;
  for (const auto& [id, runner] : runners_)
    if (!runner->record().at_rest()) stage = std::max(stage, runner->record().spec.stage);
  for (const auto& [id, runner] : runners_)
    if (!runner->record().at_rest() && runner->record().spec.stage == stage) ids.push_back(id);
  if (ids.empty()) {
    loop_.post(std::exchange(on_stopped_, nullptr));
  } else {
    stop(ids);
  }
}

ServiceRunner& NodeServices::run_head(const model::ServiceSpec& spec, ServiceContext context,
                                      std::function<void()> on_change) {
  ServiceRecord record = record_.head.value_or(ServiceRecord{});
  record.spec = spec;
  head_ = std::make_unique<ServiceRunner>(loop_, *clock_, std::move(record), std::move(context),
                                          [this, on_change = std::move(on_change)] {
                                            save();
                                            on_change();
                                          });
  if (head_->record().at_rest()) {
    head_->start();
  } else {
    head_->resume();
  }
  return *head_;
}

std::vector<model::ServiceChanged> NodeServices::changes() const {
  std::vector<model::ServiceChanged> changes;
  for (const auto& [id, runner] : runners_) changes.push_back(runner->record().report());
  return changes;
}

void NodeServices::acknowledge(std::uint64_t number) {
  // Not written at once: what is acknowledged twice does no harm.
  std::erase_if(record_.unacknowledged, [&](const auto& report) { return report.number <= number; });
}

void NodeServices::changed(const std::string& id) {
  const model::ServiceReport report{node_, ++record_.last_report, runners_.at(id)->record().report()};
  record_.unacknowledged.push_back(report);
  save();
  on_report_(report);
  if (on_stopped_) loop_.post([this] { go_on_stopping(); });
}

void NodeServices::save() {
  if (removed_) return;
  NodeRecord record = record_;
  for (const auto& [id, runner] : runners_) record.services.push_back(runner->record());
  if (head_) record.head = head_->record();
  if (auto written = write_file(path_, encode(record), 0600); written.has_error())
    log::error("cannot keep the record of this node: {}", written.error().text());
}

std::optional<Duration> NodeServices::age() const {
  if (record_.boot_id != proc::boot_id()) return std::nullopt;
  return clock_->steady() - SteadyTime{std::chrono::nanoseconds(record_.joined_ns)};
}

void NodeServices::remove_record() {
  removed_ = true;
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace pilot::agent
