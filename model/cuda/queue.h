// Where kernels go.
#pragma once

namespace lie::cuda {

struct Queue {
  int device = 0;
  void* stream = nullptr;  // cudaStream_t; null: the device's default one
};

/// ATen's stream of the moment on that device: the default one but while a step is recorded.
Queue current_queue(int device);

}  // namespace lie::cuda
