#include "model/cuda/cuda_graphs.h"
#include "model/cuda/queue.h"

namespace lie::cuda {

Queue current_queue(int device) { return {.device = device}; }

std::unique_ptr<CudaGraphs> make_cuda_graphs(int) { return nullptr; }

}  // namespace lie::cuda
