// What all calls of cuDNN on a device need: its plans, the stream and workspaces.
#pragma once

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "model/aten/aten.h"
#include "model/cudnn/attention_plans.h"

namespace lie::aten {

class CudnnCalls {
 public:
  explicit CudnnCalls(at::Device device) : device_(device) {}

  at::Device device() const { return device_; }
  /// Returns the plans. The first call starts cuDNN on the current device.
  cudnn::AttentionPlans& plans() {
    if (!plans_) plans_.emplace();
    return *plans_;
  }
  void* stream() const {
    return c10::impl::VirtualGuardImpl(device_.type()).getStream(device_).native_handle();
  }
  /// Returns the workspace of a plan. It may be released after the launch, as all memory of ATen.
  at::Tensor workspace(const cudnn::AttentionPlan& plan) const {
    return at::empty({std::max<std::int64_t>(plan.workspace_bytes, 1)},
                     at::TensorOptions().dtype(at::kByte).device(device_));
  }
  /// Copies integers to the device. The host does not wait.
  at::Tensor upload(std::span<const std::int64_t> list) const {
    const auto options = at::TensorOptions().dtype(at::kLong);
    const at::Tensor staged =
        at::empty({std::ssize(list)}, options.pinned_memory(device_.is_cuda()));
    std::memcpy(staged.mutable_data_ptr(), list.data(), list.size_bytes());
    return staged.to(device_, /*non_blocking=*/true);
  }

 private:
  at::Device device_;
  std::optional<cudnn::AttentionPlans> plans_;  // made with the first use
};

/// Returns the address of an element of the first row.
inline void* address(const at::Tensor& x, std::int64_t element = 0) {
  return static_cast<char*>(x.data_ptr()) + element * static_cast<std::int64_t>(x.element_size());
}

/// Returns why cuDNN has no attention for such heads on any card, or an empty string.
inline const char* cudnn_refusal(std::int64_t head_width, at::ScalarType type) {
  const bool fits = type == at::kBFloat16 && head_width % 16 == 0 && head_width <= 128;
  return fits ? "" : "it takes bf16 and widths of 16 n up to 128";
}

}  // namespace lie::aten
