// miniapp process gridrec
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>

#include "miniapps/cli/cluster_options.hpp"
#include "miniapps/cli/command_tree.hpp"
#include "miniapps/cli/progress_printer.hpp"
#include "miniapps/cli/stop_signal.hpp"
#include "miniapps/kernels/kernels.h"
#include "miniapps/processors/end_watch.hpp"
#include "miniapps/processors/gridrec.hpp"
#include "miniapps/processors/process_group.hpp"
#include "miniapps/processors/processor.hpp"
#include "miniapps/transports/kafka/consumer.hpp"
#include "pilot/base/units.hpp"

namespace miniapps::cli {
namespace {

namespace kafka = transports::kafka;
using namespace std::chrono_literals;
using pilot::ErrorCode;
using processors::ProcessReport;

constexpr auto about =
    "Reconstructs tomography scans from a topic with GridRec, block by block, as they come.\n\n"
    "Examples:\n"
    "  miniapp process gridrec --pilot demo --output out/ --parallelism 2\n"
    "  miniapp process gridrec --pilot demo --output out/ --count 200          # what the source sent\n"
    "  miniapp process gridrec --pilot demo --output out/ --until-idle 5s --json > report.json\n"
    "  miniapp process gridrec --bootstrap 127.0.0.1:9092 --output out/ --processes 4 --filter hann\n"
    "  miniapp process gridrec --pilot demo --output out/ --centre auto --remove-zingers 2000 --remove-rings "
    "21\n"
    "\n"
    "Each complete scan becomes OUTPUT/scan-RUN-ID.h5 (/reconstruction [slice][row][column]) and a picture "
    "of\n"
    "one slice. The rotation axis is the messages' own; where they have none it is found in the first block\n"
    "that shows it, and holds for all of the scan. A block is in the output exactly once, whatever is "
    "killed,\n"
    "restarted or delivered again: start the same command again and it goes on. Messages that can't be used\n"
    "are kept in OUTPUT/dead-letters.\n"
    "Without --count, --until-idle or --duration it runs until Ctrl-C. Exit code 0 means that the count was\n"
    "reached and nothing was set aside.";

// The options as they were typed.
struct Typed {
  ClusterOptions cluster;
  std::string topic = "frames", group = "gridrec", from = "beginning";
  std::string output = "out";
  int parallelism = 1, processes = 1;
  processors::GridrecParameters gridrec;
  std::string centre;
  std::string slice = "middle";
  std::optional<std::uint64_t> count;
  std::string until_idle, duration;
  std::string prefetch = "64M";
  std::size_t dead_letters = 1000;
  std::string progress = "auto";
  bool json = false;
};

// What the options mean; also checked before anything is started.
struct Job {
  kafka::ClientConfig cluster;
  kafka::ConsumerOptions consumer;
  processors::ProcessorOptions processor;
  processors::EndConditions end;
  ProgressMode progress = ProgressMode::automatic;
};

pilot::Result<std::optional<pilot::Duration>> optional_duration(const std::string& text) {
  if (text.empty()) return std::optional<pilot::Duration>();
  PILOT_TRY(const auto duration, pilot::parse_duration(text));
  return std::optional<pilot::Duration>(duration);
}

pilot::Result<void> read_centre(const std::string& text, processors::GridrecParameters& gridrec) {
  gridrec.find_centre = text == "auto";
  if (text.empty() || gridrec.find_centre) return pilot::ok();
  double column = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), column);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(column))
    return pilot::make_error(ErrorCode::usage, fmt::format("'{}' is no rotation axis", text),
                             "--centre takes a column, such as 255.5, or auto");
  gridrec.centre = column;
  return pilot::ok();
}

pilot::Result<Job> make_job(const Typed& typed) {
  Job job;
  PILOT_TRY(job.progress, parse_progress_mode(typed.progress));
  PILOT_TRY(job.end.until_idle, optional_duration(typed.until_idle));
  PILOT_TRY(job.end.duration, optional_duration(typed.duration));
  job.end.count = typed.count;
  PILOT_TRY(job.processor.store.picture, processors::parse_picture_choice(typed.slice));
  auto gridrec = typed.gridrec;
  PILOT_TRY_VOID(read_centre(typed.centre, gridrec));
  PILOT_TRY(job.processor.algorithm, processors::make_gridrec(gridrec));
  job.processor.store.folder = typed.output;
  job.processor.topic = job.consumer.topic = typed.topic;
  job.processor.group = job.consumer.group = typed.group;
  job.processor.isa = pk_isa();
  job.processor.parallelism = typed.parallelism;
  job.processor.processes = typed.processes;
  job.processor.dead_letter_limit = typed.dead_letters;
  job.consumer.from_beginning = typed.from == "beginning";
  PILOT_TRY(job.consumer.prefetch, pilot::parse_bytes(typed.prefetch));
  PILOT_TRY(job.cluster, client_config(typed.cluster));
  return job;
}

// The engine in this process, joined to the group of consumers.
pilot::Result<std::unique_ptr<processors::Processor>> start_processor(const Job& job) {
  PILOT_TRY(auto processor, processors::Processor::open(job.processor));
  auto options = job.consumer;
  options.on_assigned = [p = processor.get()](const auto&) { p->assigned(); };
  options.on_revoked = [p = processor.get()](const auto& partitions) { p->revoked(partitions); };
  PILOT_TRY(auto consumer, kafka::make_consumer(job.cluster, std::move(options)));
  processor->start(std::move(consumer));
  return processor;
}

// One processor in this process, or several in others, seen alike.
class Work {
 public:
  virtual ~Work() = default;
  virtual void wait(pilot::Duration limit) = 0;
  virtual void request_stop() = 0;
  virtual bool finished() const = 0;
  virtual pilot::Result<void> result() = 0;
  virtual ProcessReport report() const = 0;
};

class HereWork final : public Work {
 public:
  explicit HereWork(std::unique_ptr<processors::Processor> processor) : processor_(std::move(processor)) {}
  void wait(pilot::Duration limit) override { processor_->wait_finished(limit); }
  void request_stop() override { processor_->request_stop(); }
  bool finished() const override { return processor_->finished(); }
  pilot::Result<void> result() override { return processor_->join(); }
  ProcessReport report() const override { return processor_->report(); }

 private:
  std::unique_ptr<processors::Processor> processor_;
};

class GroupWork final : public Work {
 public:
  explicit GroupWork(std::unique_ptr<processors::ProcessGroup> group) : group_(std::move(group)) {}
  void wait(pilot::Duration limit) override { group_->wait(limit); }
  void request_stop() override { group_->request_stop(); }
  bool finished() const override { return group_->finished(); }
  pilot::Result<void> result() override { return group_->result(); }
  ProcessReport report() const override { return group_->report(); }

 private:
  std::unique_ptr<processors::ProcessGroup> group_;
};

// A child of the group: works until it is told to stop.
pilot::Result<void> run_child(const Job& job, const processors::ProcessGroup::Publish& publish) {
  const auto& stop = stop_signal();
  PILOT_TRY(const auto processor, start_processor(job));
  while (!processor->finished()) {
    processor->wait_finished(250ms);
    if (stop.load() != 0) processor->request_stop();
    publish(processor->report());
  }
  const auto result = processor->join();
  publish(processor->report());
  return result;
}

pilot::Result<std::unique_ptr<Work>> start_work(const Job& job) {
  if (job.processor.processes == 1) {
    PILOT_TRY(auto processor, start_processor(job));
    return std::unique_ptr<Work>(std::make_unique<HereWork>(std::move(processor)));
  }
  auto group = std::make_unique<processors::ProcessGroup>(
      processors::ProcessGroup::Options{.processes = job.processor.processes},
      [&job](int, const auto& publish) { return run_child(job, publish); });
  PILOT_TRY_VOID(group->start());
  return std::unique_ptr<Work>(std::make_unique<GroupWork>(std::move(group)));
}

// The verb, after its options were parsed.
class ProcessGridrec {
 public:
  explicit ProcessGridrec(const Typed& typed)
      : typed_(typed), stop_(stop_signal()), clock_(pilot::system_clock()) {}

  int run() {
    const auto code = run_or_fail();
    if (code) return code.value();
    if (stop_.load() != 0) return 128 + stop_.load();
    return report_error(code.error());
  }

 private:
  pilot::Result<int> run_or_fail();
  std::string drive(Work& work, ProgressPrinter& printer, processors::EndWatch& watch);
  void show_progress(const ProcessReport& report, ProgressPrinter& printer, processors::EndWatch& watch);
  int finish(const ProcessReport& report, const pilot::Result<void>& result, std::uint64_t counted) const;

  const Typed& typed_;
  const std::atomic<int>& stop_;
  const pilot::Clock& clock_;
  RecentRate rate_;
};

pilot::Result<int> ProcessGridrec::run_or_fail() {
  PILOT_TRY(const auto job, make_job(typed_));
  // Before children are made: each of them would say the same.
  PILOT_TRY_VOID(processors::VolumeStore::open(job.processor.store));
  catch_stop_signals();  // children inherit it
  PILOT_TRY(const auto work, start_work(job));
  ProgressPrinter printer(job.progress, clock_);
  processors::EndWatch watch(job.end, job.processor.store.folder, clock_);
  const auto ended_by = drive(*work, printer, watch);
  const auto result = work->result();
  auto report = work->report();
  if (printer.json()) printer.print(processors::progress_json(report, 0));
  printer.finish();
  report.scans = watch.scans(report);
  report.ended_by = result ? ended_by : "error";
  if (!result) report.error = result.error().text();
  return finish(report, result, watch.counted(report));
}

// Until the work is finished; returns what ended it.
std::string ProcessGridrec::drive(Work& work, ProgressPrinter& printer, processors::EndWatch& watch) {
  std::string ended_by;
  while (!work.finished()) {
    work.wait(100ms);
    const auto report = work.report();
    if (ended_by.empty() && stop_.load() != 0) ended_by = "signal";
    if (ended_by.empty()) ended_by = watch.ended(report).value_or("");
    if (!ended_by.empty()) work.request_stop();
    if (printer.due()) show_progress(report, printer, watch);
  }
  return ended_by;
}

void ProcessGridrec::show_progress(const ProcessReport& report, ProgressPrinter& printer,
                                   processors::EndWatch& watch) {
  const auto elapsed =
      std::chrono::duration_cast<pilot::Duration>(std::chrono::duration<double>(report.elapsed_s));
  const double rate = rate_.update(elapsed, report.messages);
  if (printer.json()) return printer.print(processors::progress_json(report, rate));
  const auto counted = typed_.count ? watch.counted(report) : 0;
  printer.print(processors::progress_line(report, rate, counted, typed_.count.value_or(0)));
}

int ProcessGridrec::finish(const ProcessReport& report, const pilot::Result<void>& result,
                           std::uint64_t counted) const {
  if (typed_.json) fmt::print("{}\n", processors::to_json(report, true));
  if (result || report.messages > 0) fmt::print(stderr, "{}", processors::report_table(report));
  if (!result) return report_error(result.error());
  if (report.ended_by == "signal") {
    fmt::print(stderr, "ended by {}\n", stop_.load() == SIGINT ? "Ctrl-C" : "SIGTERM");
    return 128 + stop_.load();
  }
  if (typed_.count && counted < *typed_.count)
    return report_error(pilot::make_error(
        ErrorCode::partial, fmt::format("{} of {} blocks are in '{}'", counted, *typed_.count, report.output),
        "the rest did not come before --until-idle or --duration"));
  if (report.dead_letters > 0)
    return report_error(pilot::make_error(
        ErrorCode::partial, fmt::format("{} messages could not be used", report.dead_letters),
        fmt::format("the reasons are in '{}/dead-letters'", report.output)));
  return 0;
}

void add_stream_options(CLI::App& verb, Typed& typed) {
  const auto stream = [&](CLI::Option* option) { option->group("Stream"); };
  stream(verb.add_option("-t,--topic", typed.topic, "Where from")->capture_default_str());
  stream(verb.add_option("-g,--group", typed.group, "Consumer group: its members share the topic")
             ->capture_default_str());
  stream(verb.add_option("--from", typed.from, "Where a new group starts")
             ->check(CLI::IsMember({"beginning", "end"}))
             ->capture_default_str());
  stream(verb.add_option("-n,--parallelism", typed.parallelism, "Worker threads (in each process)")
             ->check(CLI::Range(1, 1024))
             ->capture_default_str());
  stream(verb.add_option("--processes", typed.processes, "Processes")
             ->check(CLI::Range(1, 1024))
             ->capture_default_str());
  stream(verb.add_option("--prefetch", typed.prefetch, "Bytes fetched ahead, in each process")
             ->capture_default_str());

  const auto end = [&](CLI::Option* option) { option->group("End"); };
  end(verb.add_option("-c,--count", typed.count,
                      "Blocks in the output (of the runs it sees; what was there counts) and dead letters")
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62)));
  end(verb.add_option("--until-idle", typed.until_idle, "Nothing came for so long")->type_name("TIME"));
  end(verb.add_option("-d,--duration", typed.duration, "Since the start: 90s, 10m, 1h")->type_name("TIME"));
}

void add_work_options(CLI::App& verb, Typed& typed) {
  auto& p = typed.gridrec;
  const auto work = [&](CLI::Option* option) { option->group("Reconstruction"); };
  work(verb.add_option("--filter", p.filter,
                       "none, ramlak, shepp, cosine, hann, hamming, parzen or butterworth")
           ->type_name("NAME")
           ->capture_default_str());
  work(
      verb.add_option("--cutoff", p.filter_cutoff, "Of hann, hamming, parzen, butterworth, in cycles per bin")
          ->capture_default_str());
  work(verb.add_option("--order", p.filter_order, "Of butterworth")->capture_default_str());
  work(verb.add_option("--padding", p.padding, "Filtering length over columns, 1 to 8")
           ->capture_default_str());
  work(verb.add_option("--centre", typed.centre,
                       "Rotation axis in columns; auto: found in the data (default: the messages' own, found "
                       "where they have none)")
           ->type_name("auto|COLUMN"));
  work(verb.add_option("--remove-zingers", p.cleaning.zingers,
                       "Takes out stray photons: counts above the neighbours' median")
           ->type_name("COUNTS"));
  work(verb.add_option("--remove-rings", p.cleaning.rings,
                       "Takes out stripes, which would become rings: window in columns, odd; 21 is usual")
           ->type_name("COLUMNS"));
  work(verb.add_option("--circle", p.circle, "Sets pixels beyond this part of the half width to 0")
           ->type_name("PART"));
  work(verb.add_flag("--repeat-edges", p.repeat_edges, "The object is larger than the field of view"));

  const auto output = [&](CLI::Option* option) { option->group("Output"); };
  output(verb.add_option("-o,--output", typed.output, "Folder of volumes and pictures; may be shared")
             ->type_name("DIR")
             ->capture_default_str());
  output(verb.add_option("--slice", typed.slice, "Drawn of each scan: middle, first, last, none or a number")
             ->capture_default_str());
  output(verb.add_option("--dead-letters", typed.dead_letters, "Unusable messages that are kept, at most")
             ->capture_default_str());
  output(verb.add_flag("--json", typed.json, "A JSON document on standard output: miniapp.process/1"));
  output(verb.add_option("--progress", typed.progress, "auto, json (lines on standard error) or none")
             ->capture_default_str());
}

}  // namespace

void add_process_gridrec(CLI::App& process, Verb& chosen) {
  CLI::App& verb = *process.add_subcommand("gridrec", about);
  const auto typed = std::make_shared<Typed>();
  add_stream_options(verb, *typed);
  add_work_options(verb, *typed);
  add_cluster_options(verb, typed->cluster);
  verb.callback([&chosen, typed] { chosen = [typed] { return ProcessGridrec(*typed).run(); }; });
}

}  // namespace miniapps::cli
