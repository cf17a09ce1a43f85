// Attention of prefill by cuDNN's graphs over pages.
#include <c10/core/DeviceGuard.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "model/aten/cudnn_calls.h"
#include "model/cuda/placed_prefills.h"
#include "model/cuda/prefill_attention.h"
#include "model/cudnn/attention_plans.h"

namespace lie::cuda {
namespace {

class CudnnPrefillAttention final : public PrefillAttention {
 public:
  explicit CudnnPrefillAttention(at::Device device) : calls_(device) {}

  std::string name() const override {
    return fmt::format("cuDNN's attention ({})", cudnn::AttentionPlans::version());
  }
  std::string refusal(const AttentionShape& shape, at::ScalarType type) override {
    if (std::string none = aten::cudnn_refusal(shape.head_width, type); !none.empty()) return none;
    const c10::DeviceGuard guard(calls_.device());
    if (!calls_.plans().refusal().empty()) return calls_.plans().refusal();
    return calls_.plans().paged_plan(small_sizes(shape)).refusal;
  }
  void begin_pass() override { placed_.clear(); }
  bool forward(const PrefillInputs& in, const at::Tensor& y) override {
    const c10::DeviceGuard guard(calls_.device());
    const auto [found, is_new] = placed_.try_emplace(in.table.const_data_ptr());
    PlacedPrefills& placed = found->second;
    if (is_new) placed = PlacedPrefills(in, calls_);
    const cudnn::PagedSizes sizes = sizes_of(in, placed, y);
    const cudnn::AttentionPlan& plan = calls_.plans().paged_plan(sizes);
    if (!plan.refusal.empty()) return false;
    // The check at the start calls first. Another engine than that of the check has not passed it.
    const std::array heads{in.shape.heads, in.shape.kv_heads, in.shape.head_width};
    if (engines_.try_emplace(heads, plan.engine).first->second != plan.engine) return false;
    placed.clear_past_end(in.pages);
    const cudnn::PagedMemory memory{.queries = aten::address(in.queries),
                                    .keys = aten::address(in.pages.select(1, 0)),
                                    .values = aten::address(in.pages.select(1, 1)),
                                    .y = aten::address(y),
                                    .table = placed.table(),
                                    .row_counts = placed.rows(),
                                    .position_counts = placed.lengths(),
                                    .queries_offsets = placed.offsets(in.queries.stride(0)),
                                    .y_offsets = placed.offsets(y.stride(0))};
    calls_.plans().paged(calls_.stream(), sizes, memory, calls_.workspace(plan).mutable_data_ptr());
    return true;
  }

 private:
  static cudnn::PagedSizes sizes_of(const PrefillInputs& in, const PlacedPrefills& placed,
                                    const at::Tensor& y) {
    return {.sequences = placed.sequences(),
            .longest = placed.longest(),
            .heads = in.shape.heads,
            .kv_heads = in.shape.kv_heads,
            .head_width = in.shape.head_width,
            .queries_stride = in.queries.stride(0),
            .y_stride = y.stride(0),
            .pages = in.pages.size(0),
            .page_tokens = Operators::kPageTokens,
            .page_stride = in.pages.stride(0),
            .table_width = placed.table_width()};
  }

  /// Returns a call of one sequence, to ask whether cuDNN has a kernel for the heads.
  static cudnn::PagedSizes small_sizes(const AttentionShape& shape) {
    constexpr std::int64_t kRows = 64, kPage = Operators::kPageTokens;
    return {.sequences = 1,
            .longest = kRows,
            .heads = shape.heads,
            .kv_heads = shape.kv_heads,
            .head_width = shape.head_width,
            .queries_stride = shape.q_cols() + shape.kv_cols(),
            .y_stride = shape.q_cols(),
            .pages = kRows / kPage,
            .page_tokens = kPage,
            .page_stride = 2 * kPage * shape.kv_cols(),
            .table_width = kRows / kPage};
  }

  aten::CudnnCalls calls_;
  std::map<std::array<std::int64_t, 3>, std::string> engines_;  // of the check, by heads
  std::map<const void*, PlacedPrefills> placed_;                // of this pass, by table
};

}  // namespace

std::unique_ptr<PrefillAttention> make_cudnn_prefill_attention(at::Device device) {
  return std::make_unique<CudnnPrefillAttention>(device);
}

}  // namespace lie::cuda
