// Named ranges of a thread's time, for profilers. No result depends on them.
#pragma once

#include <atomic>
#include <cstdint>

namespace lie {

/// The functions of a profiler that begin and end a range. Ranges of a thread nest.
struct Tracer {
  void (*begin)(const char* name, std::int64_t index);  // index -1: the name alone
  void (*end)();
};

/// The tracer of ranges that begin from now on; null, as at the start, for none. It must outlive
/// them.
inline std::atomic<const Tracer*> current_tracer{nullptr};

/// A range from construction to destruction, such as ("layer", 3).
class TraceRange {
 public:
  explicit TraceRange(const char* name, std::int64_t index = -1)
      : tracer_(current_tracer.load(std::memory_order_relaxed)) {
    if (tracer_ != nullptr) tracer_->begin(name, index);
  }
  ~TraceRange() {
    if (tracer_ != nullptr) tracer_->end();
  }
  TraceRange(const TraceRange&) = delete;
  TraceRange& operator=(const TraceRange&) = delete;

 private:
  const Tracer* tracer_;
};

}  // namespace lie
