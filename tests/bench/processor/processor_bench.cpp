// MB/s of raw input that one core turns into results on disk; see README.md.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "miniapps/formats/frame.hpp"
#include "miniapps/kernels/kernels.h"
#include "miniapps/processors/gridrec.hpp"
#include "miniapps/processors/processor.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace {

namespace fs = std::filesystem;
using namespace miniapps;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t angles = 181, columns = 640, block = 2, slices = 64;

struct Settings {
  fs::path output = fs::temp_directory_path();
  std::uint64_t messages = 200;
  int repeats = 3;
  std::vector<double> paddings = {1.0, 2.0};
  std::vector<formats::DataType> dtypes = {formats::DataType::f32, formats::DataType::u16};
  bool json = false;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Two discs seen through noise-free optics, with flats and darks, as counts.
std::vector<std::byte> make_frame(formats::DataType dtype, std::uint32_t slice_begin) {
  formats::FrameHeader header;
  header.run_id.fill(0x5a);
  header.slice_begin = slice_begin;
  header.slice_count = block;
  header.slices_total = slices;
  header.angles = angles;
  header.columns = columns;
  header.dtype = dtype;
  header.has_flats = true;
  header.centre = 296;
  std::vector<float> theta(angles), flat(block * columns, 40'000), dark(block * columns, 300);
  std::vector<float> counts(std::size_t{block} * angles * columns);
  for (std::uint32_t a = 0; a < angles; ++a) {
    theta[a] = 3.14159265f * static_cast<float>(a) / angles;
    for (std::uint32_t s = 0; s < block; ++s)
      for (std::uint32_t c = 0; c < columns; ++c) {
        const double d = c - header.centre, e = d - 80 * std::cos(theta[a]);
        double path = 2 * std::sqrt(std::max(0.0, 200.0 * 200 - d * d)) * 0.002;
        path += 2 * std::sqrt(std::max(0.0, 50.0 * 50 - e * e)) * 0.004;
        counts[(std::size_t{s} * angles + a) * columns + c] =
            static_cast<float>(300 + 39'700 * std::exp(-path));
      }
  }
  if (dtype == formats::DataType::f32)
    return formats::encode_frame(header, theta, flat, dark, std::as_bytes(std::span(counts)));
  const std::vector<std::uint16_t> raw(counts.begin(), counts.end());
  return formats::encode_frame(header, theta, flat, dark, std::as_bytes(std::span(raw)));
}

// A topic in memory: scan after scan of the same blocks, restamped as a source does it.
class EncodedScans final : public transports::Consumer {
 public:
  EncodedScans(formats::DataType dtype, std::uint64_t messages) : messages_(messages) {
    for (std::uint32_t begin = 0; begin < slices; begin += block) scan_.push_back(make_frame(dtype, begin));
  }
  std::size_t bytes_per_message() const { return scan_.front().size(); }
  bool all_acknowledged() const { return acknowledged_ == messages_; }

  pilot::Result<std::optional<transports::Message>> receive(pilot::Duration limit) override {
    if (next_ == messages_) {
      std::this_thread::sleep_for(std::min<pilot::Duration>(limit, std::chrono::milliseconds(1)));
      return std::optional<transports::Message>();
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    auto copy = std::make_unique<Copy>(scan_[next_ % scan_.size()]);
    formats::restamp_frame(copy->bytes, next_, next_ / scan_.size(), static_cast<std::uint64_t>(now.count()));
    const std::span<const std::byte> payload(copy->bytes);
    return std::optional(
        transports::Message(std::move(copy), payload, {}, {0, static_cast<std::int64_t>(next_++)}));
  }
  void acknowledge(transports::Position) override { ++acknowledged_; }
  pilot::Result<void> commit() override { return pilot::ok(); }
  bool at_end() const override { return next_ == messages_; }
  bool resumed_at_end() const override { return false; }
  std::int64_t lag() const override { return 0; }
  pilot::Result<void> close() override { return pilot::ok(); }

 private:
  struct Copy final : transports::Message::Storage {
    explicit Copy(std::vector<std::byte> b) : bytes(std::move(b)) {}
    std::vector<std::byte> bytes;
  };
  std::vector<std::vector<std::byte>> scan_;
  const std::uint64_t messages_;
  std::uint64_t next_ = 0;
  std::atomic<std::uint64_t> acknowledged_{0};
};

[[noreturn]] void give_up(const pilot::Error& error) {
  fmt::print(stderr, "processor_bench: {}\n", error.text());
  std::exit(1);
}

template <typename T>
T value_or_exit(pilot::Result<T> result) {
  if (!result) give_up(result.error());
  return std::move(result).value();
}

std::shared_ptr<processors::Algorithm> gridrec(double padding) {
  processors::GridrecParameters parameters;
  parameters.padding = padding;
  return value_or_exit(processors::make_gridrec(parameters));
}

struct Measurement {
  double mb_per_s = 0;
  double mb_per_cpu_s = 0;  // by the processor time that all our threads took: what others take is left out
};

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// From the first message to the last acknowledgement.
Measurement run_engine(const Settings& settings, formats::DataType dtype, double padding) {
  const auto folder = settings.output / ("processor-bench-" + pilot::random_hex(6));
  processors::ProcessorOptions options;
  options.algorithm = gridrec(padding);
  options.store.folder = folder;
  options.topic = "bench";
  auto processor = value_or_exit(processors::Processor::open(options));
  auto consumer = std::make_unique<EncodedScans>(dtype, settings.messages);
  const auto& scans = *consumer;
  const double megabytes = static_cast<double>(scans.bytes_per_message() * settings.messages) / 1e6;
  const auto begin = Clock::now();
  const double cpu_begin = cpu_seconds();
  processor->start(std::move(consumer));
  while (!scans.all_acknowledged() && !processor->finished())
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const double seconds = seconds_since(begin), cpu = cpu_seconds() - cpu_begin;
  processor->request_stop();
  if (auto joined = processor->join(); !joined) give_up(joined.error());
  const auto report = processor->report();
  fs::remove_all(folder);
  if (report.stored != settings.messages)
    give_up({pilot::ErrorCode::failed, "not all blocks were stored", {}});
  return {megabytes / seconds, megabytes / cpu};
}

// Decoding and reconstruction alone.
double run_kernel(const Settings& settings, formats::DataType dtype, double padding) {
  const auto algorithm = gridrec(padding);
  const auto reconstructor = algorithm->make_reconstructor();
  const std::size_t together = algorithm->slices_per_call() / block;
  const auto message = make_frame(dtype, 0);
  std::vector<float> image(together * block * columns * columns);
  const auto once = [&] {
    std::vector<formats::FrameView> frames;
    while (frames.size() < together) frames.push_back(value_or_exit(formats::decode_frame(message)));
    const std::vector<double> centres(frames.size(), frames.front().header.centre);
    if (auto made = reconstructor->run(frames, centres, image); !made) give_up(made.error());
  };
  once();
  const auto count = std::max<std::uint64_t>(5, settings.messages / 4 / together);
  const auto begin = Clock::now();
  for (std::uint64_t i = 0; i < count; ++i) once();
  return static_cast<double>(message.size() * count * together) / 1e6 / seconds_since(begin);
}

// What the disk takes of the same results, written and synced by itself; in MB/s of the raw input.
double run_disk(const Settings& settings, std::size_t message_bytes) {
  const auto path = settings.output / ("processor-bench-" + pilot::random_hex(6));
  const std::vector<char> result(std::size_t{block} * columns * columns * sizeof(float), 'x');
  const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  const auto begin = Clock::now();
  bool written = fd >= 0;
  for (std::uint64_t i = 0; written && i < settings.messages; ++i)
    written = ::write(fd, result.data(), result.size()) == static_cast<ssize_t>(result.size());
  written = written && ::fdatasync(fd) == 0;
  const double seconds = seconds_since(begin);
  if (!written) give_up(pilot::errno_error("cannot write to the output folder", errno));
  ::close(fd);
  fs::remove(path);
  return static_cast<double>(message_bytes * settings.messages) / 1e6 / seconds;
}

void pin_to_one_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(std::max(0, ::sched_getcpu())), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0)
    give_up(pilot::errno_error("cannot pin to a core", errno));
}

nlohmann::ordered_json measure(const Settings& settings, formats::DataType dtype, double padding) {
  std::vector<double> engine, kernel, disk, cpu;
  const auto message_bytes = make_frame(dtype, 0).size();
  for (int i = 0; i < settings.repeats; ++i) {
    kernel.push_back(run_kernel(settings, dtype, padding));
    const auto whole = run_engine(settings, dtype, padding);
    engine.push_back(whole.mb_per_s);
    cpu.push_back(whole.mb_per_cpu_s);
    disk.push_back(run_disk(settings, message_bytes));
  }
  return {{"dtype", dtype == formats::DataType::f32 ? "f32" : "u16"},
          {"padding", padding},
          {"message_bytes", message_bytes},
          {"mb_per_s_per_core", median(engine)},
          {"mb_per_s_kernel_alone", median(kernel)},
          {"mb_per_s_disk_alone", median(disk)},
          {"mb_per_cpu_s", median(cpu)}};
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--json") {
      settings.json = true;
      continue;
    }
    if (option == "--output")
      settings.output = value;
    else if (option == "--messages")
      settings.messages = std::strtoull(value, nullptr, 10);
    else if (option == "--padding")
      settings.paddings = {std::atof(value)};
    else if (option == "--dtype")
      settings.dtypes = {std::string(value) == "u16" ? formats::DataType::u16 : formats::DataType::f32};
    else if (option == "--repeats")
      settings.repeats = std::atoi(value);
    else
      give_up({pilot::ErrorCode::usage, "unknown option " + option, "see tests/bench/processor/README.md"});
    ++i;
  }
  if (settings.messages == 0 || settings.repeats < 1)
    give_up({pilot::ErrorCode::usage, "--messages and --repeats are at least 1", {}});
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  const auto settings = parse(argc, argv);
  pin_to_one_core();
  nlohmann::ordered_json result = {
      {"schema", "pilot.bench.processor/1"},
      {"isa", pk_isa()},
      {"shape", {{"angles", angles}, {"columns", columns}, {"slices_per_message", block}}},
      {"messages", settings.messages},
      {"repeats", settings.repeats},
      {"rows", nlohmann::ordered_json::array()}};
  for (auto dtype : settings.dtypes)
    for (double padding : settings.paddings) {
      const auto row = measure(settings, dtype, padding);
      result["rows"].push_back(row);
      if (!settings.json)
        fmt::print(
            "{} padding {}: {:6.1f} MB/s on one core, {:6.1f} MB per second of processor time "
            "(decoding and kernel alone {:.1f} MB/s, disk alone {:.1f} MB/s)\n",
            row["dtype"].get<std::string>(), padding, row["mb_per_s_per_core"].get<double>(),
            row["mb_per_cpu_s"].get<double>(), row["mb_per_s_kernel_alone"].get<double>(),
            row["mb_per_s_disk_alone"].get<double>());
    }
  if (settings.json) fmt::print("{}\n", result.dump(2));
  return 0;
}
