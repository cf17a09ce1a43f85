#include "model/cuda/cuda_graphs.h"

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

constexpr int kWarmUpCalls = 2;  // executions of a step before it is captured

class CapturedGraphs final : public CudaGraphs {
 public:
  explicit CapturedGraphs(int device)
      : stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false,
                                             static_cast<c10::DeviceIndex>(device))) {
    if (c10::cuda::CUDACachingAllocator::isEnabled()) return;
    usage_.refusal =
        "PYTORCH_NO_CUDA_MEMORY_CACHING is set, but CUDA graphs need the caching allocator";
  }

  void run(const CudaGraphKey& key, const std::function<void()>& step) override {
    Step& known = steps_[key];
    if (!known.graph && (!usage_.refusal.empty() || known.calls++ < kWarmUpCalls)) return step();
    if (!known.graph) known.graph = capture(step);
    if (!known.graph) return step();
    known.graph->replay();
    ++usage_.replayed;
  }
  void clear() override {
    steps_.clear();
    pool_ = at::cuda::graph_pool_handle();  // destroying all graphs has ended the previous pool
  }

 private:
  struct Step {
    int calls = 0;  // up to kWarmUpCalls
    std::unique_ptr<at::cuda::CUDAGraph> graph;
  };

  /// Captures `step`. Returns null and sets the refusal if that fails. Other threads may allocate
  /// at the same time.
  std::unique_ptr<at::cuda::CUDAGraph> capture(const std::function<void()>& step) {
    auto graph = std::make_unique<at::cuda::CUDAGraph>();
    const c10::cuda::CUDAStreamGuard on_stream(stream_);
    std::exception_ptr failure;
    try {
      graph->capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
      attempt(failure, step);
      attempt(failure, [&] { graph->capture_end(); });
      if (failure) std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      cudaGetLastError();  // clears the error, which the next kernel would report as its own
      const std::string_view reason = error.what();  // ATen appends a backtrace after a newline
      usage_.refusal = reason.substr(0, reason.find('\n'));
      static_cast<void>(graph.release());  // leaked: ATen's allocator may still use it
      return nullptr;
    }
    ++usage_.captured;
    return graph;
  }
  /// Calls `call` and keeps the first exception. A capture must be ended even after a failure in
  /// it.
  static void attempt(std::exception_ptr& failure, const std::function<void()>& call) {
    try {
      call();
    } catch (const std::exception&) {
      if (!failure) failure = std::current_exception();
    }
  }

  // Steps are captured on this otherwise idle stream, because the default stream cannot capture.
  // It stays the same, because cuBLAS keeps a workspace per stream.
  const c10::cuda::CUDAStream stream_;
  // The memory pool of all graphs' temporaries. Graphs can share it since they run one at a time.
  c10::MempoolId_t pool_ = at::cuda::graph_pool_handle();
  std::map<CudaGraphKey, Step> steps_;
};

}  // namespace

Queue current_queue(int device) {
  const auto index = static_cast<c10::DeviceIndex>(device);
  return {.device = device, .stream = c10::cuda::getCurrentCUDAStream(index).stream()};
}

std::unique_ptr<CudaGraphs> make_cuda_graphs(int device) {
  return std::make_unique<CapturedGraphs>(device);
}

}  // namespace lie::cuda
