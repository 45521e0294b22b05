// The verb as it is typed, against librdkafka's mock brokers.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "miniapps/cli/command_tree.hpp"
#include "miniapps/formats/frame.hpp"
#include "miniapps/formats/volume_file.hpp"
#include "miniapps/generators/scan.hpp"
#include "miniapps/processors/volume.hpp"
#include "miniapps/transports/kafka/mock_cluster.hpp"
#include "miniapps/transports/kafka/producer.hpp"
#include "pilot/base/clock.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace miniapps::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string out, err;
};

constexpr std::uint32_t columns = 24, angles = 12, slices = 8, block = 2;

// Block `sequence` of run 5, which is cut into scans of four blocks.
std::vector<std::byte> frame(std::uint64_t sequence) {
  formats::FrameHeader header;
  header.run_id.fill(5);
  header.sequence = sequence;
  header.scan_id = sequence / (slices / block);
  header.slice_begin = static_cast<std::uint32_t>(sequence * block % slices);
  header.slice_count = block;
  header.slices_total = slices;
  header.angles = angles;
  header.columns = columns;
  header.dtype = formats::DataType::f32;
  header.centre = 12;
  header.source_time_ns = static_cast<std::uint64_t>(pilot::system_clock().wall().time_since_epoch().count());
  std::vector<float> theta(angles), data(block * angles * columns);
  for (std::uint32_t a = 0; a < angles; ++a) theta[a] = 0.26f * static_cast<float>(a);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = 0.2f + 0.01f * static_cast<float>((i * 7 + sequence * 13) % 60);
  return formats::encode_frame(header, theta, {}, {}, std::as_bytes(std::span(data)));
}

class ProcessGridrecVerb : public testing::Test {
 protected:
  ProcessGridrecVerb() {
    fs::create_directories(folder_);
    for (const char* variable : {"PILOT_KAFKA_CONFIG", "KAFKA_BOOTSTRAP_SERVERS"}) unsetenv(variable);
  }
  void SetUp() override {
    cluster_ = std::make_unique<transports::kafka::MockCluster>(1);
    cluster_->make_topic("frames", 3);
  }
  ~ProcessGridrecVerb() override { fs::remove_all(folder_); }

  void send(const std::vector<std::vector<std::byte>>& messages) {
    auto producer = transports::kafka::make_producer(cluster_->config(), {.topic = "frames"});
    ASSERT_TRUE(producer.has_value()) << producer.error().text();
    for (std::size_t i = 0; i < messages.size(); ++i)
      ASSERT_TRUE(producer.value()->send(std::make_shared<transports::Buffer>(messages[i]), "k", i).value());
    ASSERT_TRUE(producer.value()->flush(20s).has_value());
  }
  static std::vector<std::vector<std::byte>> frames(std::uint64_t begin, std::uint64_t end) {
    std::vector<std::vector<std::byte>> list;
    for (auto i = begin; i < end; ++i) list.push_back(frame(i));
    return list;
  }
  std::string output(const std::string& name) const { return (folder_ / name).string(); }

  Outcome gridrec(std::vector<std::string> words) {
    const std::vector<std::string> first = {
        "miniapp", "process",    "gridrec", "--bootstrap", cluster_->config().bootstrap(),
        "--json",  "--progress", "none"};
    words.insert(words.begin(), first.begin(), first.end());
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Outcome outcome;
    outcome.code = run_command_tree(static_cast<int>(argv.size()), argv.data());
    outcome.out = testing::internal::GetCapturedStdout();
    outcome.err = testing::internal::GetCapturedStderr();
    return outcome;
  }
  // All files with their content, but for temporary ones of a process that was killed.
  std::map<std::string, std::string> content(const std::string& name) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / name))
      if (entry.is_regular_file())
        files[fs::relative(entry.path(), folder_ / name)] = pilot::read_file(entry.path()).value();
    std::erase_if(files, [](const auto& file) { return file.first.starts_with(".blocks/."); });
    return files;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("gridrec-" + pilot::random_hex(6));
  std::unique_ptr<transports::kafka::MockCluster> cluster_;
};

TEST_F(ProcessGridrecVerb, ReconstructsWhatWasSentAndReports) {
  send(frames(0, 20));
  const auto outcome =
      gridrec({"--output", output("a"), "--count", "20", "--parallelism", "2", "--until-idle", "20s"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["schema"], "miniapp.process/1");
  EXPECT_EQ(report["stored"], 20);
  EXPECT_EQ(report["ended_by"], "count");
  EXPECT_EQ(report["scans"].size(), 5u);
  EXPECT_GT(report["latency_ms"]["p50"].get<double>(), 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("Processed topic 'frames'"), HasSubstr("5 complete, 0 not")));
  EXPECT_TRUE(fs::exists(folder_ / "a" / "scan-05050505-4-slice-4.png"));
}

TEST_F(ProcessGridrecVerb, SecondRunOfTheGroupGoesOnWhereTheFirstEnded) {
  send(frames(0, 6));
  EXPECT_EQ(gridrec({"--output", output("a"), "--count", "6"}).code, 0);
  send(frames(6, 8));
  const auto second = gridrec({"--output", output("a"), "--count", "8", "--until-idle", "20s"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(nlohmann::json::parse(second.out)["messages"], 2) << "the first six were committed";
}

TEST_F(ProcessGridrecVerb, AnotherGroupGetsTheSameMessagesAndTheSameBytes) {
  send(frames(0, 12));
  EXPECT_EQ(gridrec({"--output", output("a"), "--group", "a", "--count", "12"}).code, 0);
  EXPECT_EQ(gridrec({"--output", output("b"), "--group", "b", "--count", "12", "-n", "3"}).code, 0);
  EXPECT_EQ(content("a"), content("b"));
  const auto again = gridrec({"--output", output("a"), "--group", "c", "--until-idle", "5s"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["duplicates"], 12);
  EXPECT_EQ(content("a"), content("b"));
}

TEST_F(ProcessGridrecVerb, UnusableMessagesMakeItPartlyDone) {
  auto messages = frames(0, 4);
  messages[2] = std::vector<std::byte>(64, std::byte{7});
  send(messages);
  const auto outcome = gridrec({"--output", output("a"), "--count", "4", "--until-idle", "20s"});
  EXPECT_EQ(outcome.code, 6);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("1 messages could not be used"), HasSubstr("/dead-letters")));
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["dead_letters"], 1);
}

TEST_F(ProcessGridrecVerb, CountThatIsNotReachedIsPartlyDone) {
  send(frames(0, 3));
  const auto outcome = gridrec({"--output", output("a"), "--count", "5", "--until-idle", "5s"});
  EXPECT_EQ(outcome.code, 6);
  EXPECT_THAT(outcome.err, HasSubstr("3 of 5 blocks are in '"));
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["ended_by"], "idle");
}

TEST_F(ProcessGridrecVerb, OutputWithOtherParametersIsRefused) {
  send(frames(0, 4));
  EXPECT_EQ(gridrec({"--output", output("a"), "--count", "4"}).code, 0);
  const auto outcome = gridrec({"--output", output("a"), "--group", "b", "--filter", "hann", "--count", "4"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("filter=hann"), HasSubstr("--output")));
}

TEST_F(ProcessGridrecVerb, BadInputIsSaidBeforeAnythingStarts) {
  const auto refused = [&](std::vector<std::string> words, int code, const std::string& text) {
    const auto outcome = gridrec(std::move(words));
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  };
  refused({"--filter", "shep"}, 2, "there is no filter 'shep'\nhint: did you mean 'shepp'?");
  refused({"--slice", "upper"}, 2, "'upper' is no slice");
  refused({"--centre", "left"}, 2, "'left' is no rotation axis\nhint: --centre takes a column");
  refused({"--remove-rings", "20"}, 2, "a window of 20 columns can't be");
  refused({"--padding", "9"}, 2, "padding 9 is out of range");
  refused({"--parallelism", "0"}, 2, "--parallelism");
  refused({"--until-idle", "soon"}, 2, "soon");
  refused({"--outptu", "x"}, 2, "did you mean '--output'?");
  std::ofstream(folder_ / "file") << "x";
  refused({"--output", output("file")}, 1, "cannot make the output folder");
  EXPECT_FALSE(fs::exists("out")) << "the default folder is not made for a refused command";
}

// A scan with its axis off the middle, as a source sends that does not know it.  Returns the truth of a
// slice.
constexpr std::uint32_t wide = 256;
constexpr double axis = 133.4;
const generators::Scan& shifted_scan() {
  static const generators::Scan scan({.columns = wide, .angles = 200, .slices = 8, .centre = axis});
  return scan;
}

std::vector<std::vector<std::byte>> shifted_frames(double message_centre) {
  const auto& scan = shifted_scan();
  const std::vector<float> theta(scan.theta().begin(), scan.theta().end());
  const std::size_t slice = theta.size() * wide;
  std::vector<std::vector<std::byte>> list;
  for (std::uint32_t s = 0; s < 8; s += 2) {
    formats::FrameHeader header;
    header.run_id.fill(5);
    header.sequence = s / 2;
    header.slice_begin = s, header.slice_count = 2, header.slices_total = 8;
    header.angles = static_cast<std::uint32_t>(theta.size()), header.columns = wide;
    header.has_flats = true;
    header.centre = message_centre;
    std::vector<float> flat(2 * wide), dark(2 * wide);
    std::vector<std::uint16_t> raw(2 * slice);
    for (std::uint32_t k = 0; k < 2; ++k) {
      scan.raw_slice(static_cast<int>(s + k), 0, 0, std::span(raw).subspan(k * slice, slice));
      scan.mean_flat(static_cast<int>(s + k), 10, std::span(flat).subspan(k * wide, wide));
      scan.mean_dark(static_cast<int>(s + k), 10, std::span(dark).subspan(k * wide, wide));
    }
    list.push_back(formats::encode_frame(header, theta, flat, dark, std::as_bytes(std::span(raw))));
  }
  return list;
}

// Root mean square distance of a slice from the phantom.
double error_of(const fs::path& file, std::uint32_t slice) {
  const auto volume = processors::Volume::open(file).value();
  const auto image = volume->read_slice(slice).value();
  const auto& scan = shifted_scan();
  std::vector<float> truth(image.size());
  generators::rasterize(scan.section(static_cast<int>(slice), 0), scan.spec().radius * wide / 2, wide, 4,
                        truth);
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i)
    sum += std::pow(image[i] / scan.attenuation_per_bin() - truth[i], 2);
  return std::sqrt(sum / static_cast<double>(truth.size()));
}

TEST_F(ProcessGridrecVerb, FindsTheAxisThatTheMessagesDoNotKnow) {
  send(shifted_frames(std::nan("")));
  const auto file = [&](const std::string& name) { return folder_ / name / "scan-05050505-0.h5"; };
  const auto process = [&](const std::string& name, std::vector<std::string> words) {
    for (const auto& word : {std::string("--output"), output(name), std::string("--group"), name,
                             std::string("--count"), std::string("4")})
      words.push_back(word);
    const auto outcome = gridrec(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  };
  process("given", {"--centre", "133.4"});
  process("found", {});
  process("auto", {"--centre", "auto", "-n", "2"});
  process("wrong", {"--centre", "127.5"});
  const double best = error_of(file("given"), 4);
  EXPECT_LT(error_of(file("found"), 4), 1.01 * best);
  EXPECT_LT(error_of(file("auto"), 4), 1.01 * best);
  EXPECT_GT(error_of(file("wrong"), 4), 2 * best);
  const auto found = formats::read_volume_layout(file("found")).value().description;
  EXPECT_NEAR(found.centre, axis, 0.1);
  EXPECT_EQ(found.centre_source, "found");
}

TEST_F(ProcessGridrecVerb, AllBlocksOfAScanHaveTheAxisThatWasFoundFirstAlsoAfterARestart) {
  const auto frames = shifted_frames(std::nan(""));
  send({frames[3]});
  EXPECT_EQ(gridrec({"--output", output("a"), "--count", "1"}).code, 0);
  send({frames[0], frames[1], frames[2]});
  EXPECT_EQ(gridrec({"--output", output("a"), "--count", "4"}).code, 0);
  const auto volume = processors::Volume::open(folder_ / "a" / "scan-05050505-0.h5").value();
  const auto centre = fmt::format("{}", volume->description().centre);
  EXPECT_EQ(gridrec({"--output", output("b"), "--group", "b", "--count", "4", "--centre", centre}).code, 0);
  const auto given = processors::Volume::open(folder_ / "b" / "scan-05050505-0.h5").value();
  for (std::uint32_t slice = 0; slice < 8; ++slice)
    EXPECT_EQ(volume->read_slice(slice).value(), given->read_slice(slice).value()) << slice;
}

TEST_F(ProcessGridrecVerb, AutoFindsTheAxisInsteadOfTheMessagesWrongOne) {
  send(shifted_frames(127.5));
  EXPECT_EQ(gridrec({"--output", output("a"), "--group", "a", "--count", "4"}).code, 0);
  EXPECT_EQ(gridrec({"--output", output("b"), "--group", "b", "--count", "4", "--centre", "auto"}).code, 0);
  EXPECT_EQ(formats::read_volume_layout(folder_ / "a" / "scan-05050505-0.h5").value().description.centre,
            127.5);
  EXPECT_NEAR(formats::read_volume_layout(folder_ / "b" / "scan-05050505-0.h5").value().description.centre,
              axis, 0.1);
}

// Ends a child that runs the verb; what it left must be complete, and a second one must finish the work.
class ProcessGridrecSignal : public ProcessGridrecVerb, public testing::WithParamInterface<int> {
 protected:
  // Forks before the brokers are made, whose threads would not be in the child.
  ProcessGridrecSignal() {
    if (::pipe(bootstrap_pipe_) != 0) std::abort();
    child_ = ::fork();
    if (child_ != 0) return;
    char bootstrap[256] = {};
    if (::read(bootstrap_pipe_[0], bootstrap, sizeof bootstrap - 1) <= 0) ::_exit(99);
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, 1), ::dup2(nowhere, 2);
    const std::string out = output("a");
    const char* argv[] = {"miniapp",     "process", "gridrec",   "--output", out.c_str(),
                          "--bootstrap", bootstrap, "--padding", "8",        nullptr};
    ::_exit(run_command_tree(9, const_cast<char**>(argv)));
  }
  ~ProcessGridrecSignal() override {
    ::close(bootstrap_pipe_[0]), ::close(bootstrap_pipe_[1]);
    if (child_ > 0 && !reaped_) ::kill(child_, SIGKILL), ::waitpid(child_, nullptr, 0);
  }
  void tell_child(const std::string& bootstrap) {
    ASSERT_EQ(::write(bootstrap_pipe_[1], bootstrap.data(), bootstrap.size()),
              static_cast<ssize_t>(bootstrap.size()));
  }
  int bootstrap_pipe_[2];
  pid_t child_ = -1;
  bool reaped_ = false;
};

TEST_P(ProcessGridrecSignal, EndsInOrderOrAtOnceAndTheRestIsDoneLater) {
  send(frames(0, 40));
  tell_child(cluster_->config().bootstrap());
  const pilot::Deadline deadline(pilot::system_clock(), 30s);
  const auto begun = [&] {
    std::error_code ignored;
    return fs::exists(folder_ / "a" / "scan-05050505-0.h5", ignored);
  };
  while (!begun() && !deadline.passed()) ::usleep(1000);
  ASSERT_TRUE(begun());
  ::kill(child_, GetParam());
  int status = 0;
  ASSERT_EQ(::waitpid(child_, &status, 0), child_);
  reaped_ = true;
  if (GetParam() == SIGKILL) {
    EXPECT_TRUE(WIFSIGNALED(status));
  } else {
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + GetParam());
  }
  const auto rest = gridrec({"--output", output("a"), "--padding", "8", "--group", "other", "--count", "40"});
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(
      gridrec({"--output", output("b"), "--padding", "8", "--group", "undisturbed", "--count", "40"}).code,
      0);
  EXPECT_EQ(content("a"), content("b"));
}

INSTANTIATE_TEST_SUITE_P(Signals, ProcessGridrecSignal, testing::Values(SIGINT, SIGTERM, SIGKILL));

}  // namespace
}  // namespace miniapps::cli
