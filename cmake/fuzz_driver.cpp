// Runs a fuzz target without libFuzzer, as a test of bounded length: first every file of the corpus, then
// mutations of them (flipped bits, cuts, insertions, two files joined) for a second, and at least 2000 of
// them.  The series is the same in every run; a crash prints the number and the bytes that caused it.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

const Input* current = nullptr;  // for the handler of a crash
long number = 0;

void print_and_die(int signal) {
  std::fprintf(stderr, "input %ld ends in signal %d; its %zu bytes in hexadecimal:\n", number, signal,
               current->size());
  for (auto byte : *current) std::fprintf(stderr, "%02x", byte);
  std::fputc('\n', stderr);
  _exit(1);
}

std::vector<Input> read_corpus(const char* folder) {
  std::vector<Input> corpus;
  if (folder != nullptr) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      std::ifstream file(entry.path(), std::ios::binary);
      if (entry.is_regular_file())
        corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    if (corpus.empty()) {
      std::fprintf(stderr, "no file in the corpus '%s'\n", folder);
      std::exit(1);
    }
  }
  corpus.push_back({});
  return corpus;
}

Input mutate(const std::vector<Input>& corpus, std::mt19937& random) {
  static const std::uint8_t telling[] = {0,   1,   0x7f, 0x80, 0xff, '"',  '{', '}',
                                         '[', ':', ',',  '\n', '-',  '\\', '$'};
  const auto below = [&random](std::size_t limit) { return random() % (limit == 0 ? 1 : limit); };
  Input input = corpus[below(corpus.size())];
  for (auto steps = 1 + below(8); steps > 0; --steps) {
    const auto at = static_cast<std::ptrdiff_t>(below(input.size() + 1));
    const bool inside = static_cast<std::size_t>(at) < input.size();
    const auto byte =
        below(2) != 0U ? telling[below(std::size(telling))] : static_cast<std::uint8_t>(random());
    switch (below(6)) {
      case 0:
        if (inside) input[static_cast<std::size_t>(at)] ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 1:
        if (inside) input[static_cast<std::size_t>(at)] = byte;
        break;
      case 2:
        input.insert(input.begin() + at, 1 + below(4), byte);
        break;
      case 3:
        input.erase(input.begin() + at,
                    input.begin() + at +
                        static_cast<std::ptrdiff_t>(below(input.size() - static_cast<std::size_t>(at))));
        break;
      case 4:
        if (below(4) == 0) input.resize(static_cast<std::size_t>(at));
        break;
      default: {
        const auto& other = corpus[below(corpus.size())];
        const auto from = static_cast<std::ptrdiff_t>(below(other.size() + 1));
        input.insert(input.begin() + at, other.begin() + from, other.end());
      }
    }
  }
  return input;
}

void feed(const Input& input) {
  current = &input;
  ++number;
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  for (int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL}) std::signal(signal, print_and_die);
  const auto corpus = read_corpus(argc > 1 ? argv[1] : nullptr);
  for (const auto& input : corpus) feed(input);
  std::mt19937 random(20261129);  // NOLINT: the same series each time is the purpose
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (int i = 0; i < 2000 || std::chrono::steady_clock::now() < end; ++i) feed(mutate(corpus, random));
  std::printf("%ld inputs, %zu of them from the corpus\n", number, corpus.size() - 1);
}
