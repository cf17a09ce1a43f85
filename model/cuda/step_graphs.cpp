#include "model/cuda/step_graphs.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <exception>
#include <map>
#include <string_view>

#include "model/cuda/queue.h"

namespace lie::cuda {
namespace {

constexpr int kCallsBefore = 2;  // a step is recorded

class StepGraphs final : public StepRecorder {
 public:
  explicit StepGraphs(int device)
      : stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false,
                                             static_cast<c10::DeviceIndex>(device))) {
    if (c10::cuda::CUDACachingAllocator::isEnabled()) return;
    use_.refusal = "PYTORCH_NO_CUDA_MEMORY_CACHING is set, and graphs keep their memory in a cache";
  }

  void run(const StepKey& key, const std::function<void()>& step) override {
    Steps& steps = steps_[key];
    if (!steps.graph && (!use_.refusal.empty() || steps.calls++ < kCallsBefore)) return step();
    if (!steps.graph) steps.graph = record(step);
    if (!steps.graph) return step();
    steps.graph->replay();
    ++use_.repeated;
  }
  void forget() override {
    steps_.clear();
    pool_ = at::cuda::graph_pool_handle();  // without graphs the one before has ended
  }

 private:
  struct Steps {
    int calls = 0;
    std::unique_ptr<at::cuda::CUDAGraph> graph;
  };

  /// Null: refused. Other threads may allocate meanwhile.
  std::unique_ptr<at::cuda::CUDAGraph> record(const std::function<void()>& step) {
    auto graph = std::make_unique<at::cuda::CUDAGraph>();
    const c10::cuda::CUDAStreamGuard on_stream(stream_);
    std::exception_ptr failure;
    try {
      graph->capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
      attempt(failure, step);
      attempt(failure, [&] { graph->capture_end(); });
      if (failure) std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      cudaGetLastError();  // it is kept as an error, and would be the next kernel's
      const std::string_view reason = error.what();  // a backtrace follows ATen's own
      use_.refusal = reason.substr(0, reason.find('\n'));
      static_cast<void>(graph.release());  // ATen's allocator may ask it on
      return nullptr;
    }
    ++use_.recorded;
    return graph;
  }
  /// A recording ends whatever has failed in it; the first failure is the reason.
  static void attempt(std::exception_ptr& failure, const std::function<void()>& call) {
    try {
      call();
    } catch (const std::exception&) {
      if (!failure) failure = std::current_exception();
    }
  }

  // Recorded on, where nothing runs: the default stream cannot be. Always one, for which cuBLAS
  // keeps its memory.
  const c10::cuda::CUDAStream stream_;
  // Of all graphs' temporaries: they run one after another.
  c10::MempoolId_t pool_ = at::cuda::graph_pool_handle();
  std::map<StepKey, Steps> steps_;
};

}  // namespace

Queue current_queue(int device) {
  const auto index = static_cast<c10::DeviceIndex>(device);
  return {.device = device, .stream = c10::cuda::getCurrentCUDAStream(index).stream()};
}

std::unique_ptr<StepRecorder> step_graphs(int device) {
  return std::make_unique<StepGraphs>(device);
}

}  // namespace lie::cuda
