// The native engine: one thread receives, a bounded queue, workers that decode and reconstruct, one
// thread that makes results permanent and only then acknowledges their messages.
//
//     receive -> queue -> worker 0..n-1 -> done -> write, sync, mark, acknowledge
//
// Back-pressure goes from right to left: results that are not written yet bound the workers, the queue
// bounds the receiver, and what the receiver leaves stays with the broker.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "miniapps/processors/block_worker.hpp"
#include "miniapps/processors/bounded_queue.hpp"
#include "miniapps/processors/dead_letters.hpp"
#include "miniapps/processors/in_flight.hpp"
#include "miniapps/processors/process_metrics.hpp"
#include "miniapps/processors/reconstructor.hpp"
#include "miniapps/processors/undecided_blocks.hpp"
#include "miniapps/processors/volume_store.hpp"
#include "miniapps/transports/transport.hpp"
#include "pilot/base/clock.hpp"
#include "pilot/base/units.hpp"

namespace miniapps::processors {

struct ProcessorOptions {
  std::shared_ptr<Algorithm> algorithm;
  VolumeStore::Options store;
  std::string topic;  // for dead letters and the report
  std::string group;
  std::string isa;
  int parallelism = 1;
  int processes = 1;                     // for the report
  std::size_t dead_letter_limit = 1000;  // kept in the folder
  pilot::Bytes queue{32ULL << 20};       // messages that wait for a worker, per worker
  pilot::Bytes unsynced{128ULL << 20};   // results that wait for the disk, about
  const pilot::Clock* clock = &pilot::system_clock();
};

class Processor {
 public:
  // Errors: failed (output folder).
  static pilot::Result<std::unique_ptr<Processor>> open(ProcessorOptions options);
  ~Processor();
  Processor(const Processor&) = delete;
  Processor& operator=(const Processor&) = delete;

  // For the consumer's options.  revoked() finishes what is being worked on in these partitions, so that
  // their next owner need not repeat it, and gives up what still waits.
  void assigned();
  void revoked(const std::vector<std::int32_t>& partitions);

  // Starts the threads.  Once.
  void start(std::unique_ptr<transports::Consumer> consumer);

  // Receives no more; what was received is finished.  From any thread.
  void request_stop();
  // All threads are done: stopped, or failed.
  bool finished() const { return finished_; }
  // Waits until then, for at most `limit`.
  void wait_finished(pilot::Duration limit);
  // Waits for the threads; the first error, if any.
  pilot::Result<void> join();

  ProcessReport report() const;

 private:
  explicit Processor(ProcessorOptions options, std::unique_ptr<VolumeStore> store);
  void receive_all();
  void work(std::size_t index);
  bool handle(BlockWorker& worker, std::vector<transports::Message> messages);
  void give_up(const std::function<bool(const transports::Message&)>& unwanted);
  void make_permanent();
  pilot::Result<void> commit(std::vector<Done>& batch);
  void fail(pilot::Error error);
  void shut_down();

  const ProcessorOptions options_;
  std::unique_ptr<VolumeStore> store_;
  DeadLetters dead_letters_;
  ProcessMetrics metrics_;
  InFlight in_flight_;
  UndecidedBlocks undecided_;
  ResultBufferPool buffers_;
  BoundedQueue<transports::Message> queue_;
  BoundedQueue<Done> done_;
  std::unique_ptr<transports::Consumer> consumer_;
  std::thread receiver_;
  std::vector<std::thread> workers_;
  std::thread committer_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> finished_{false};
  std::mutex finished_mutex_;
  std::condition_variable finished_changed_;
  std::atomic<std::int64_t> lag_{0};
  std::mutex failure_mutex_;
  std::optional<pilot::Error> failure_;
};

}  // namespace miniapps::processors
