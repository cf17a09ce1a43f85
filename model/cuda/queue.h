// The device and stream on which kernels are launched.
#pragma once

namespace lie::cuda {

struct Queue {
  int device = 0;
  void* stream = nullptr;  // cudaStream_t; null: the device's default one
};

/// Returns ATen's current stream on that device. It is the default stream except during the capture
/// of a CUDA graph.
Queue current_queue(int device);

}  // namespace lie::cuda
