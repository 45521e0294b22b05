#include "miniapps/processors/result_buffer.hpp"

#include <new>

namespace miniapps::processors {

ResultBuffer::ResultBuffer(std::size_t floats)
    : data_(static_cast<float*>(::operator new (floats * sizeof(float), std::align_val_t{disk_alignment}))),
      capacity_(floats) {}

ResultBuffer::~ResultBuffer() {
  ::operator delete (data_, std::align_val_t{disk_alignment});
}

ResultBufferPool::ResultBufferPool(std::size_t kept) : shelf_(std::make_shared<Shelf>()) {
  shelf_->kept = kept;
}

std::shared_ptr<ResultBuffer> ResultBufferPool::take(std::size_t floats) {
  std::unique_ptr<ResultBuffer> buffer;
  {
    const std::lock_guard lock(shelf_->mutex);
    auto& shelved = shelf_->buffers;
    for (auto it = shelved.begin(); it != shelved.end() && !buffer; ++it) {
      if ((*it)->capacity() < floats) continue;
      buffer = std::move(*it);
      shelved.erase(it);
      break;
    }
    // None was large enough: the shapes have changed, so the smaller ones will not be asked for again.
    if (!buffer) shelved.clear();
  }
  if (!buffer) buffer = std::make_unique<ResultBuffer>(floats);
  return {buffer.release(), [shelf = shelf_](ResultBuffer* used) {
            std::unique_ptr<ResultBuffer> back(used);
            const std::lock_guard lock(shelf->mutex);
            if (shelf->buffers.size() < shelf->kept) shelf->buffers.push_back(std::move(back));
          }};
}

}  // namespace miniapps::processors
