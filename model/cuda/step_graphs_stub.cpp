#include "model/cuda/queue.h"
#include "model/cuda/step_graphs.h"

namespace lie::cuda {

Queue current_queue(int device) { return {.device = device}; }

std::unique_ptr<StepRecorder> step_graphs(int) { return nullptr; }

}  // namespace lie::cuda
