#include "miniapps/sources/scan_source.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <utility>

namespace miniapps::sources {
namespace {

// Calls work(i) for 0 <= i < count on up to `threads` threads.
template <typename Work>
void for_each_parallel(std::uint32_t count, int threads, const Work& work) {
  const unsigned cores = threads > 0 ? static_cast<unsigned>(threads) : std::thread::hardware_concurrency();
  std::atomic<std::uint32_t> next{0};
  const auto run = [&] {
    for (std::uint32_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> helpers;
  for (unsigned i = 1; i < std::clamp(cores, 1U, std::max(count, 1U)); ++i) helpers.emplace_back(run);
  run();
}

class FileSource final : public ScanSource {
 public:
  explicit FileSource(formats::DataExchangeFile file) : file_(std::move(file)) {
    description_ = {file_.shape(), file_.dtype(), file_.has_flats(), file_.centre(), file_.theta()};
  }
  const ScanDescription& description() const override { return description_; }
  pilot::Result<formats::ScanBlock> read(std::uint32_t begin, std::uint32_t count) override {
    return file_.read(begin, count);
  }
  pilot::Bytes bytes_per_read() const override { return {256ULL << 20}; }

 private:
  formats::DataExchangeFile file_;
  ScanDescription description_;
};

class PhantomSource final : public ScanSource {
 public:
  explicit PhantomSource(const PhantomOptions& options) : options_(options), scan_(options.scan) {
    const auto& spec = options.scan;
    description_.shape = {static_cast<std::uint32_t>(spec.angles), static_cast<std::uint32_t>(spec.slices),
                          static_cast<std::uint32_t>(spec.columns)};
    description_.centre = scan_.centre();
    description_.theta.assign(scan_.theta().begin(), scan_.theta().end());
  }
  const ScanDescription& description() const override { return description_; }
  pilot::Result<formats::ScanBlock> read(std::uint32_t begin, std::uint32_t count) override;
  pilot::Bytes bytes_per_read() const override { return {8ULL << 20}; }  // so that progress is seen

 private:
  PhantomOptions options_;
  generators::Scan scan_;
  ScanDescription description_;
};

pilot::Result<formats::ScanBlock> PhantomSource::read(std::uint32_t begin, std::uint32_t count) {
  const std::size_t columns = description_.shape.columns;
  const std::size_t values = columns * description_.shape.angles;
  formats::ScanBlock block;
  block.data.resize(count * values * sizeof(std::uint16_t));
  block.flat.resize(count * columns);
  block.dark.resize(count * columns);
  for_each_parallel(count, options_.threads, [&](std::uint32_t i) {
    const int slice = static_cast<int>(begin + i);
    std::vector<std::uint16_t> counts(values);
    scan_.raw_slice(slice, 0, 0, counts);
    std::memcpy(block.data.data() + i * values * sizeof(std::uint16_t), counts.data(),
                values * sizeof(std::uint16_t));
    scan_.mean_flat(slice, options_.flat_frames, std::span(block.flat).subspan(i * columns, columns));
    scan_.mean_dark(slice, options_.dark_frames, std::span(block.dark).subspan(i * columns, columns));
  });
  return block;
}

}  // namespace

pilot::Result<std::unique_ptr<ScanSource>> open_scan_file(const std::filesystem::path& path,
                                                          const formats::DataExchangeOptions& options,
                                                          std::vector<std::string>& notes) {
  PILOT_TRY(auto file, formats::DataExchangeFile::open(path, options));
  notes.insert(notes.end(), file.notes().begin(), file.notes().end());
  return std::unique_ptr<ScanSource>(std::make_unique<FileSource>(std::move(file)));
}

std::unique_ptr<ScanSource> make_phantom_scan(const PhantomOptions& options) {
  return std::make_unique<PhantomSource>(options);
}

pilot::Result<void> write_phantom_scan(const std::filesystem::path& path, const PhantomOptions& options,
                                       const std::function<bool(std::uint32_t)>& on_slice) {
  const generators::Scan scan(options.scan);
  const auto& spec = options.scan;
  formats::DataExchangeWriter::Content content;
  content.shape = {static_cast<std::uint32_t>(spec.angles), static_cast<std::uint32_t>(spec.slices),
                   static_cast<std::uint32_t>(spec.columns)};
  content.flat_frames = static_cast<std::uint32_t>(options.flat_frames);
  content.dark_frames = static_cast<std::uint32_t>(options.dark_frames);
  content.theta = scan.theta();
  content.centre = scan.centre();
  PILOT_TRY(auto writer, formats::DataExchangeWriter::create(path, content));

  const std::size_t columns = content.shape.columns;
  std::vector<std::uint16_t> data(columns * content.shape.angles);
  std::vector<std::uint16_t> flats(columns * content.flat_frames), darks(columns * content.dark_frames);
  for (int slice = 0; slice < spec.slices; ++slice) {
    scan.raw_slice(slice, 0, 0, data);
    for (int f = 0; f < options.flat_frames; ++f)
      scan.flat_frame(slice, f, std::span(flats).subspan(static_cast<std::size_t>(f) * columns, columns));
    for (int f = 0; f < options.dark_frames; ++f)
      scan.dark_frame(slice, f, std::span(darks).subspan(static_cast<std::size_t>(f) * columns, columns));
    PILOT_TRY_VOID(writer.write_slice(static_cast<std::uint32_t>(slice), data, flats, darks));
    if (on_slice && !on_slice(static_cast<std::uint32_t>(slice) + 1))
      return pilot::make_error(pilot::ErrorCode::failed, "writing '" + path.string() + "' was interrupted");
  }
  return writer.finish();
}

}  // namespace miniapps::sources
