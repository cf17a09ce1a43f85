// Causal attention over packed sequences and over pages by cuDNN's graphs, which run on the tensor
// cores of sm_90 and sm_100. A plan is a graph that cuDNN has compiled for one shape; it takes any
// memory of that shape. This header needs neither cuDNN nor CUDA. A build without them has a stub
// that supports nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>

namespace lie::cudnn {

/// The shape of a call. Equal shapes share a plan, so sequences, longest and tokens are rounded up
/// by the caller. Strides are elements between the rows of a tensor.
struct AttentionSizes {
  std::int64_t sequences = 0, longest = 0;  // sequences that are absent have no rows
  std::int64_t tokens = 0;                  // rows of all tensors, at most
  std::int64_t heads = 0, kv_heads = 0, head_width = 0;
  std::int64_t rotated_stride = 0, values_stride = 0, y_stride = 0, log_sum_stride = 0;
  std::int64_t dy_stride = 0, d_rotated_stride = 0, d_kv_stride = 0;  // of a backward pass
  auto operator<=>(const AttentionSizes&) const = default;
};

/// The device memory of a call. Offsets [sequences + 1] are the elements before the first row of
/// each sequence in a tensor, and at last before the end of all.
struct AttentionMemory {
  const void *queries = nullptr, *keys = nullptr, *values = nullptr;
  void *y = nullptr, *log_sum = nullptr;  // log_sum is fp32, the rest bf16
  const void* dy = nullptr;
  void *d_queries = nullptr, *d_keys = nullptr, *d_values = nullptr;
  const std::int32_t* lengths = nullptr;  // [sequences]
  const std::int64_t *rotated_offsets = nullptr, *values_offsets = nullptr, *y_offsets = nullptr,
                     *log_sum_offsets = nullptr, *dy_offsets = nullptr,
                     *d_rotated_offsets = nullptr, *d_kv_offsets = nullptr;
};

/// The shape of a call over pages: the last rows of some sequences, whose keys and values are in
/// pages [page, 2, K, page tokens, E] of a pool. Strides are elements.
struct PagedSizes {
  std::int64_t sequences = 0, longest = 0;  // longest: rows of a sequence in this call
  std::int64_t heads = 0, kv_heads = 0, head_width = 0;
  std::int64_t queries_stride = 0, y_stride = 0;
  std::int64_t pages = 0, page_tokens = 0, page_stride = 0;  // of the pool
  std::int64_t table_width = 0;                              // pages of a sequence, at most
  auto operator<=>(const PagedSizes&) const = default;
};

/// The device memory of a call over pages. The last row of a sequence attends to all its positions.
struct PagedMemory {
  const void *queries = nullptr, *keys = nullptr, *values = nullptr;
  void* y = nullptr;
  const std::int32_t* table = nullptr;                                   // [sequences, table_width]
  const std::int32_t *row_counts = nullptr, *position_counts = nullptr;  // [sequences]
  const std::int64_t *queries_offsets = nullptr, *y_offsets = nullptr;   // [sequences + 1]
};

/// What cuDNN answered to a shape.
struct AttentionPlan {
  std::string refusal;               // why cuDNN has no kernel for the shape; empty if it has one
  std::string engine;                // cuDNN's name of the chosen engine and its settings
  std::int64_t workspace_bytes = 0;  // device memory that a call needs besides
};

/// The plans of one device. Calls must come from one thread.
class AttentionPlans {
 public:
  /// Makes plans for the current CUDA device. With `properties`, a device as cuDNN describes it in
  /// JSON, the plans are for that device: they can be built without a GPU, but not run.
  explicit AttentionPlans(std::string properties = {});
  ~AttentionPlans();
  AttentionPlans(const AttentionPlans&) = delete;
  AttentionPlans& operator=(const AttentionPlans&) = delete;

  /// Returns why no plan can be built at all, for example because this build lacks cuDNN. Empty if
  /// there is no reason.
  const std::string& refusal() const { return refusal_; }
  /// Returns the version of cuDNN that is loaded, such as "9.19.0".
  static std::string version();

  /// Return the plan for a shape. The first call for it compiles, for a tenth of a second to
  /// seconds. The backward pass is deterministic.
  const AttentionPlan& forward_plan(const AttentionSizes& sizes);
  const AttentionPlan& backward_plan(const AttentionSizes& sizes);
  const AttentionPlan& paged_plan(const PagedSizes& sizes);
  /// Launch a plan without a refusal on `stream`, a cudaStream_t. `workspace` has its bytes.
  /// Throws Error if cuDNN fails.
  void forward(void* stream, const AttentionSizes& sizes, const AttentionMemory& memory,
               void* workspace);
  void backward(void* stream, const AttentionSizes& sizes, const AttentionMemory& memory,
                void* workspace);
  void paged(void* stream, const PagedSizes& sizes, const PagedMemory& memory, void* workspace);

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string refusal_;
};

/// The largest product of probabilities that a deterministic backward pass on sm_90 may store:
/// 2 * sequences * heads * longest^2 bytes. cuDNN from 9.25 on orders its sums without storing it
/// where it would be larger, with less speed.
inline constexpr std::int64_t kMostStoredBytes = std::int64_t{9} << 28;  // 2.25 GiB

}  // namespace lie::cudnn
