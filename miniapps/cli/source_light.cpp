// miniapp source light
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <csignal>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>

#include "miniapps/cli/cluster_options.hpp"
#include "miniapps/cli/command_tree.hpp"
#include "miniapps/cli/progress_printer.hpp"
#include "miniapps/cli/stop_signal.hpp"
#include "miniapps/sources/light_source.hpp"
#include "miniapps/transports/kafka/admin.hpp"
#include "miniapps/transports/kafka/producer.hpp"
#include "pilot/base/suggest.hpp"
#include "pilot/base/units.hpp"

namespace miniapps::cli {
namespace {

namespace kafka = transports::kafka;
using namespace std::chrono_literals;
using pilot::ErrorCode;

constexpr auto about =
    "Sends tomography scans, block by block, as a light source's detector would.\n\n"
    "Examples:\n"
    "  miniapp source light --pilot demo --input scan.h5 --rate 20/s --count 200\n"
    "  miniapp source light --pilot demo --phantom shepp-logan --size 512 --angles 360 --slices 64\n"
    "  miniapp source light --bootstrap 127.0.0.1:9092 --phantom dynamic --duration 10m --rate max\n"
    "  miniapp source light --phantom shepp-logan --seed 7 --write scan.h5     # a file, no cluster\n\n"
    "A scan is cut into blocks of slices, one message each (formats/frame.hpp describes it); scans are\n"
    "repeated with new scan ids until --count messages, --scans or --duration are reached (default: one\n"
    "scan). Exit code 0 means that every message was acknowledged by all in-sync replicas.";

// The options as they were typed.
struct Typed {
  ClusterOptions cluster;
  std::string input, phantom, write;
  std::string theta_units, theta;
  std::optional<double> centre;
  std::optional<float> replace_nan;
  int size = 512, angles = 360, slices = 64;
  std::int64_t seed = 1;
  int flats = 10, darks = 10;
  double photons = 20000;
  bool no_noise = false;
  std::uint32_t slices_per_message = 2;
  std::string rate = "max", duration, memory = "2G", queue = "64M";
  std::optional<std::int64_t> count, scans;
  std::string topic = "frames";
  int partitions = 0, replication = -1;
  bool no_create = false;
  std::string progress = "auto";
  bool json = false;
};

pilot::Error usage(std::string message, std::string hint = {}) {
  return pilot::make_error(ErrorCode::usage, std::move(message), std::move(hint));
}

pilot::Result<formats::DataExchangeOptions> file_options(const Typed& typed) {
  formats::DataExchangeOptions options;
  options.replace_not_finite = typed.replace_nan;
  if (typed.theta_units == "degrees") options.theta_unit = formats::AngleUnit::degrees;
  if (typed.theta_units == "radians") options.theta_unit = formats::AngleUnit::radians;
  if (typed.theta.empty()) return options;
  double first = 0, last = 0;
  char rest = 0;
  if (std::sscanf(typed.theta.c_str(), "%lf:%lf%c", &first, &last, &rest) != 2)
    return usage(fmt::format("--theta '{}' is not FIRST:LAST", typed.theta), "in degrees, for example 0:180");
  options.theta_range = {first, last};
  return options;
}

pilot::Result<sources::PhantomOptions> phantom_options(const Typed& typed) {
  sources::PhantomOptions options;
  auto& scan = options.scan;
  if (typed.phantom == "shepp-logan") {
    scan.phantom = generators::PhantomKind::shepp_logan;
  } else if (typed.phantom == "dynamic") {
    scan.phantom = generators::PhantomKind::dynamic;
  } else if (typed.phantom == "disc") {
    scan.phantom = generators::PhantomKind::disc;
  } else {
    return usage(fmt::format("unknown phantom '{}'", typed.phantom),
                 pilot::suggestion(typed.phantom, {"disc", "dynamic", "shepp-logan"}));
  }
  scan.columns = typed.size;
  scan.angles = typed.angles;
  scan.slices = typed.slices;
  scan.seed = static_cast<std::uint64_t>(typed.seed);
  scan.photons = typed.photons;
  scan.noise = !typed.no_noise;
  // Off the middle, as axes are: whoever ignores the centre sees it in the picture.
  scan.centre = typed.centre.value_or((typed.size - 1) / 2.0 + 0.01 * typed.size);
  options.flat_frames = typed.flats;
  options.dark_frames = typed.darks;
  return options;
}

// A ScanSource whose axis the user knows better than the file.
class WithCentre final : public sources::ScanSource {
 public:
  WithCentre(std::unique_ptr<ScanSource> source, double centre)
      : source_(std::move(source)), description_(source_->description()) {
    description_.centre = centre;
  }
  const sources::ScanDescription& description() const override { return description_; }
  pilot::Result<formats::ScanBlock> read(std::uint32_t begin, std::uint32_t count) override {
    return source_->read(begin, count);
  }
  pilot::Bytes bytes_per_read() const override { return source_->bytes_per_read(); }

 private:
  std::unique_ptr<ScanSource> source_;
  sources::ScanDescription description_;
};

// The verb, after its options were parsed.
class SourceLight {
 public:
  explicit SourceLight(const Typed& typed)
      : typed_(typed), stop_(stop_signal()), clock_(pilot::system_clock()) {}

  int run() {
    const auto code = run_or_fail();
    if (code) return code.value();
    if (stop_.load() != 0) return 128 + stop_.load();
    return report_error(code.error());
  }

 private:
  pilot::Result<int> run_or_fail();
  pilot::Result<int> write_file();
  pilot::Result<std::unique_ptr<sources::ScanSource>> open_source();
  pilot::Result<void> prepare(sources::ScanFrames& frames, ProgressPrinter& printer) const;
  pilot::Result<void> make_topic(const kafka::ClientConfig& config, std::size_t message_bytes) const;
  pilot::Result<sources::LightSourceOptions> run_options(std::uint32_t blocks) const;
  int finish(const sources::SourceReport& report) const;

  const Typed& typed_;
  const std::atomic<int>& stop_;
  const pilot::Clock& clock_;
  std::vector<std::string> notes_;
};

pilot::Result<int> SourceLight::run_or_fail() {
  if (typed_.input.empty() == typed_.phantom.empty())
    return usage("give a scan: either --input FILE or --phantom NAME",
                 "for example --phantom shepp-logan --size 512 --angles 360 --slices 64");
  if (!typed_.write.empty()) return write_file();

  PILOT_TRY(const auto mode, parse_progress_mode(typed_.progress));
  PILOT_TRY(const auto memory, pilot::parse_bytes(typed_.memory));
  PILOT_TRY(const auto queue, pilot::parse_bytes(typed_.queue));
  PILOT_TRY(auto source, open_source());
  for (const auto& note : notes_) print_note(note);
  PILOT_TRY(const auto config, client_config(typed_.cluster));

  const auto run_id = sources::random_run_id();
  sources::ScanFrames frames(std::move(source), typed_.slices_per_message, memory, run_id);
  PILOT_TRY(const auto options, run_options(frames.blocks()));
  PILOT_TRY_VOID(make_topic(config, frames.message_bytes()));
  kafka::ProducerOptions producer_options;
  producer_options.topic = typed_.topic;
  producer_options.queue = pilot::Bytes{std::max<std::uint64_t>(queue.count, 2 * frames.message_bytes())};
  PILOT_TRY(const auto producer, kafka::make_producer(config, producer_options));

  catch_stop_signals();
  ProgressPrinter printer(mode, clock_);
  PILOT_TRY_VOID(prepare(frames, printer));
  RecentRate rate;
  RecentRate byte_rate;
  auto report = sources::run_light_source(
      *producer, frames, run_id, options, stop_, clock_, [&](const sources::SourceProgress& progress) {
        const double messages = rate.update(progress.elapsed, progress.acked);
        const double bytes = byte_rate.update(progress.elapsed, progress.acked_bytes);
        const bool last = progress.flushing && progress.queued == 0;
        if (!printer.due() && !(last && printer.json())) return;
        printer.print(printer.json() ? sources::to_json_line(progress, messages)
                                     : sources::to_line(progress, messages, bytes));
      });
  printer.finish();
  report.notes = notes_;
  return finish(report);
}

pilot::Result<int> SourceLight::write_file() {
  if (typed_.phantom.empty()) return usage("--write needs --phantom: it writes a simulated scan");
  PILOT_TRY(const auto mode, parse_progress_mode(typed_.progress));
  PILOT_TRY(const auto options, phantom_options(typed_));
  catch_stop_signals();
  ProgressPrinter printer(mode, clock_);
  PILOT_TRY_VOID(sources::write_phantom_scan(typed_.write, options, [&](std::uint32_t done) {
    if (printer.due() && !printer.json())
      printer.print(fmt::format("writing {}: {} of {} slices", typed_.write, done, typed_.slices));
    return stop_.load() == 0;
  }));
  printer.finish();
  fmt::print(stderr, "wrote {}: {} angles x {} slices x {} columns, {} flats, {} darks\n", typed_.write,
             typed_.angles, typed_.slices, typed_.size, typed_.flats, typed_.darks);
  return 0;
}

pilot::Result<std::unique_ptr<sources::ScanSource>> SourceLight::open_source() {
  if (!typed_.phantom.empty()) {
    PILOT_TRY(const auto options, phantom_options(typed_));
    return sources::make_phantom_scan(options);
  }
  PILOT_TRY(const auto options, file_options(typed_));
  PILOT_TRY(auto source, sources::open_scan_file(typed_.input, options, notes_));
  if (!typed_.centre) return source;
  return std::unique_ptr<sources::ScanSource>(
      std::make_unique<WithCentre>(std::move(source), *typed_.centre));
}

pilot::Result<void> SourceLight::prepare(sources::ScanFrames& frames, ProgressPrinter& printer) const {
  const auto prepared = frames.prepare([&](std::uint32_t done) {
    if (printer.due() && !printer.json())
      printer.print(fmt::format("preparing the scan: {} of {} blocks", done, frames.blocks()));
    return stop_.load() == 0;
  });
  if (!prepared) return prepared.error();
  if (stop_.load() != 0) return pilot::make_error(ErrorCode::failed, "interrupted");
  return pilot::ok();
}

pilot::Result<void> SourceLight::make_topic(const kafka::ClientConfig& config,
                                            std::size_t message_bytes) const {
  if (typed_.no_create) return pilot::ok();  // make_producer says when it is missing
  PILOT_TRY(auto admin, kafka::Admin::make(config));
  PILOT_TRY(const auto cluster, admin.describe(15s));
  const auto* topic = cluster.find_topic(typed_.topic);
  if (topic != nullptr && (typed_.partitions == 0 || topic->partitions == typed_.partitions))
    return pilot::ok();
  kafka::TopicSpec spec;
  spec.name = typed_.topic;
  // The broker that was asked may not know yet of a topic that somebody has just made.
  spec.exact = typed_.partitions > 0;
  spec.partitions = spec.exact ? typed_.partitions : 2 * static_cast<int>(cluster.brokers.size());
  spec.replication = typed_.replication;
  // A topic's limit may be above the brokers' default; theirs counts for what they copy from each other.
  spec.config["max.message.bytes"] = std::to_string(std::max<std::size_t>(message_bytes + 65536, 33 << 20));
  PILOT_TRY_VOID(admin.create_topic(spec, 30s));
  return pilot::ok();
}

pilot::Result<sources::LightSourceOptions> SourceLight::run_options(std::uint32_t blocks) const {
  sources::LightSourceOptions options;
  options.topic = typed_.topic;
  PILOT_TRY(options.per_second, pilot::parse_rate(typed_.rate));
  if (typed_.count) options.count = static_cast<std::uint64_t>(*typed_.count);
  if (typed_.scans) options.count = static_cast<std::uint64_t>(*typed_.scans) * blocks;
  if (!typed_.duration.empty()) {
    PILOT_TRY(options.duration, pilot::parse_duration(typed_.duration));
  }
  if (options.count == 0 && !options.duration) options.count = blocks;
  return options;
}

int SourceLight::finish(const sources::SourceReport& report) const {
  if (typed_.json) fmt::print("{}\n", sources::to_json(report, true));
  fmt::print(stderr, "{}", sources::to_table(report));
  if (report.signal != 0) {
    fmt::print(stderr, "ended by {}\n", report.signal == SIGINT ? "Ctrl-C" : "SIGTERM");
    return 128 + report.signal;
  }
  if (report.error) return report_error(*report.error);
  if (report.complete()) return 0;
  return report_error(pilot::make_error(
      ErrorCode::partial, fmt::format("{} of {} messages were acknowledged", report.acked, report.sent)));
}

void add_scan_options(CLI::App& verb, Typed& typed) {
  const auto file = [&](CLI::Option* option) { option->group("Scan from a file"); };
  file(verb.add_option("-i,--input", typed.input, "HDF5 data exchange file")->type_name("FILE"));
  file(verb.add_option("--theta", typed.theta, "Angles in degrees, both included, instead of the file's")
           ->type_name("FIRST:LAST"));
  file(verb.add_option("--theta-units", typed.theta_units, "Unit of the file's angles")
           ->check(CLI::IsMember({"degrees", "radians"})));
  file(verb.add_option("--replace-nan", typed.replace_nan,
                       "Sent in place of NaN and infinity (else an error)"));

  const auto made = [&](CLI::Option* option) { option->group("Simulated scan"); };
  made(verb.add_option("--phantom", typed.phantom, "shepp-logan, dynamic (a bubble grows) or disc")
           ->type_name("NAME"));
  made(verb.add_option("--size", typed.size, "Detector columns")
           ->check(CLI::Range(8, 65536))
           ->capture_default_str());
  made(verb.add_option("--angles", typed.angles, "Projections over 180 degrees")
           ->check(CLI::Range(1, 1'000'000))
           ->capture_default_str());
  made(verb.add_option("--slices", typed.slices, "Detector rows")
           ->check(CLI::Range(1, 65536))
           ->capture_default_str());
  made(verb.add_option("--seed", typed.seed, "Same seed, same bits")
           ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
           ->capture_default_str());
  made(verb.add_option("--photons", typed.photons, "Mean counts of the open beam: fewer is noisier")
           ->check(CLI::Range(1.0, 60000.0))
           ->capture_default_str());
  made(verb.add_flag("--no-noise", typed.no_noise, "Exact counts"));
  made(verb.add_option("--flats", typed.flats, "Flat field frames")
           ->check(CLI::Range(1, 1000))
           ->capture_default_str());
  made(verb.add_option("--darks", typed.darks, "Dark field frames")
           ->check(CLI::Range(1, 1000))
           ->capture_default_str());
  made(verb.add_option("-w,--write", typed.write, "Only write the scan to a data exchange file")
           ->type_name("FILE"));
}

void add_stream_options(CLI::App& verb, Typed& typed) {
  const auto stream = [&](CLI::Option* option) { option->group("Stream"); };
  stream(verb.add_option("-r,--rate", typed.rate, "Messages: 20/s, 5/min or max")->capture_default_str());
  constexpr std::int64_t most = std::int64_t{1} << 40;
  auto* count = verb.add_option("-c,--count", typed.count, "Messages to send")
                    ->check(CLI::Range(std::int64_t{1}, most));
  auto* scans = verb.add_option("--scans", typed.scans, "Whole scans to send")
                    ->check(CLI::Range(std::int64_t{1}, most));
  scans->excludes(count);
  stream(count);
  stream(scans);
  stream(
      verb.add_option("-d,--duration", typed.duration, "Time to send for: 90s, 10m, 1h")->type_name("TIME"));
  stream(verb.add_option("--slices-per-message", typed.slices_per_message, "Slices in a block")
             ->check(CLI::Range(1, 65536))
             ->capture_default_str());
  stream(verb.add_option("--centre", typed.centre, "Rotation axis in columns, (columns-1)/2 is the middle")
             ->type_name("COLUMN"));
  stream(verb.add_option("--memory", typed.memory, "Keep up to this much of the scan encoded")
             ->capture_default_str());

  const auto topic = [&](CLI::Option* option) { option->group("Topic"); };
  topic(verb.add_option("-t,--topic", typed.topic, "Where to")->capture_default_str());
  topic(verb.add_option("--partitions", typed.partitions, "Partitions of a new topic [2 per broker]")
            ->check(CLI::Range(1, 10000)));
  topic(verb.add_option("--replication", typed.replication, "Replicas of a new topic [the brokers' default]")
            ->check(CLI::Range(1, 100)));
  topic(verb.add_flag("--no-create", typed.no_create, "A missing topic is an error"));
  topic(verb.add_option("--queue", typed.queue, "Bytes on their way before the source waits")
            ->capture_default_str());

  const auto output = [&](CLI::Option* option) { option->group("Output"); };
  output(verb.add_flag("--json", typed.json, "A JSON document on standard output: miniapp.source/1"));
  output(verb.add_option("--progress", typed.progress, "auto, json (lines on standard error) or none")
             ->capture_default_str());
}

}  // namespace

void add_source_light(CLI::App& source, Verb& chosen) {
  CLI::App& verb = *source.add_subcommand("light", about);
  const auto typed = std::make_shared<Typed>();
  add_scan_options(verb, *typed);
  add_stream_options(verb, *typed);
  add_cluster_options(verb, typed->cluster);
  verb.callback([&chosen, typed] { chosen = [typed] { return SourceLight(*typed).run(); }; });
}

}  // namespace miniapps::cli
