#include "model/aten/cudnn_attention.h"

#include <c10/core/DeviceGuard.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "model/aten/cudnn_calls.h"
#include "model/aten/sequence_classes.h"

namespace lie::aten {
namespace {

using cudnn::AttentionMemory;
using cudnn::AttentionPlan;
using cudnn::AttentionPlans;
using cudnn::AttentionSizes;

/// A class of sequences, and its lists on the device.
class PlacedClass {
 public:
  PlacedClass(std::int64_t longest, at::Tensor firsts, const at::Tensor& lengths)
      : longest_(longest), firsts_(std::move(firsts)), lengths_(lengths.to(at::kInt)) {}

  std::int64_t longest() const { return longest_; }
  std::int64_t sequences() const { return lengths_.numel(); }
  const std::int32_t* lengths() const { return lengths_.const_data_ptr<std::int32_t>(); }
  /// Returns the elements before each sequence in a tensor whose rows are `stride` apart.
  const std::int64_t* offsets(std::int64_t stride) {
    at::Tensor& found = offsets_[stride];
    if (!found.defined()) found = firsts_ * stride;
    return found.const_data_ptr<std::int64_t>();
  }

 private:
  std::int64_t longest_;
  at::Tensor firsts_, lengths_;
  std::map<std::int64_t, at::Tensor> offsets_;  // by stride
};

/// Uploads the lists of all classes at once.
std::vector<PlacedClass> place(std::span<const std::int32_t> starts, const CudnnCalls& calls) {
  const std::vector<SequenceClass> classes = sequence_classes(starts);
  std::vector<std::int64_t> lists;
  for (const SequenceClass& c : classes) {
    lists.insert(lists.end(), c.firsts.begin(), c.firsts.end());
    lists.insert(lists.end(), c.lengths.begin(), c.lengths.end());
  }
  const at::Tensor there = calls.upload(lists);
  std::vector<PlacedClass> placed;
  std::int64_t at = 0;
  for (const SequenceClass& c : classes) {
    const std::int64_t count = std::ssize(c.lengths);
    placed.emplace_back(c.longest, there.narrow(0, at, count + 1),
                        there.narrow(0, at + count + 1, count));
    at += 2 * count + 1;
  }
  return placed;
}

class CudnnAttention final : public PackedAttention {
 public:
  CudnnAttention(at::Device device, PackedAttention& other) : calls_(device), other_(other) {}

  std::string name() const override {
    return fmt::format("cuDNN's attention ({})", AttentionPlans::version());
  }
  std::string refusal(const AttentionShape& shape, at::ScalarType type) override {
    if (std::string none = cudnn_refusal(shape.head_width, type); !none.empty()) return none;
    const c10::DeviceGuard guard(calls_.device());
    if (!plans().refusal().empty()) return plans().refusal();
    const AttentionSizes sizes = checked_sizes(shape);
    const std::string& refusal = plans().forward_plan(sizes).refusal;
    return refusal.empty() ? plans().backward_plan(sizes).refusal : refusal;
  }
  void forward(const AttentionInputs& in, const at::Tensor& y, const at::Tensor& log_sum) override {
    const c10::DeviceGuard guard(calls_.device());
    std::vector<AttentionSizes> sizes;
    for (const PlacedClass& c : placed(in)) {
      sizes.push_back(forward_sizes(in, c, y, log_sum));
      if (!plans().forward_plan(sizes.back()).refusal.empty()) {
        return other_.forward(in, y, log_sum);
      }
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const at::Tensor workspace = calls_.workspace(plans().forward_plan(sizes[i]));
      plans().forward(calls_.stream(), sizes[i],
                      memory_of(in, placed_[i], Slice{0, 0, in.shape}, y, log_sum),
                      workspace.mutable_data_ptr());
    }
  }
  void backward(const AttentionInputs& in, const at::Tensor& dy, const at::Tensor& y,
                const at::Tensor& log_sum, const at::Tensor& d_rotated,
                const at::Tensor& d_values) override {
    const c10::DeviceGuard guard(calls_.device());
    std::vector<AttentionSizes> sizes;
    for (const PlacedClass& c : placed(in)) {
      AttentionSizes of = forward_sizes(in, c, y, log_sum);
      of.dy_stride = dy.stride(0);
      of.d_rotated_stride = d_rotated.stride(0);
      of.d_kv_stride = in.shape.kv_cols();
      share_heads(of);
      sizes.push_back(of);
      const AttentionPlan& plan = plans().backward_plan(of);
      if (!plan.refusal.empty() || stores_too_much(of, plan)) {
        return other_.backward(in, dy, y, log_sum, d_rotated, d_values);
      }
    }
    const at::Tensor d_kv =
        at::empty({2, d_values.size(0), in.shape.kv_cols()}, d_values.options());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const at::Tensor workspace = calls_.workspace(plans().backward_plan(sizes[i]));
      for (std::int64_t kv_head = 0; kv_head < in.shape.kv_heads; kv_head += sizes[i].kv_heads) {
        const Slice heads{kv_head * in.shape.heads / in.shape.kv_heads, kv_head, in.shape};
        AttentionMemory memory = memory_of(in, placed_[i], heads, y, log_sum);
        memory.dy = address(dy, heads.query_column());
        memory.d_queries = address(d_rotated, heads.query_column());
        memory.d_keys = address(d_kv[0], heads.kv_column());
        memory.d_values = address(d_kv[1], heads.kv_column());
        memory.dy_offsets = placed_[i].offsets(dy.stride(0));
        memory.d_rotated_offsets = placed_[i].offsets(d_rotated.stride(0));
        memory.d_kv_offsets = placed_[i].offsets(in.shape.kv_cols());
        plans().backward(calls_.stream(), sizes[i], memory, workspace.mutable_data_ptr());
      }
    }
    d_rotated.narrow(1, in.shape.q_cols(), in.shape.kv_cols()).copy_(d_kv[0]);
    d_values.copy_(d_kv[1]);
  }

 private:
  /// The first heads of a call.
  struct Slice {
    std::int64_t head, kv_head;
    const AttentionShape& shape;
    std::int64_t query_column() const { return head * shape.head_width; }
    std::int64_t kv_column() const { return kv_head * shape.head_width; }
  };

  AttentionPlans& plans() { return calls_.plans(); }
  /// Returns the classes of the sequences. The layers of a pass have the same.
  std::vector<PlacedClass>& placed(const AttentionInputs& in) {
    if (!std::ranges::equal(placed_starts_, in.starts)) {
      placed_ = place(in.starts, calls_);
      placed_starts_.assign(in.starts.begin(), in.starts.end());
    }
    return placed_;
  }
  static AttentionSizes heads_of(const AttentionShape& shape) {
    AttentionSizes sizes;
    sizes.heads = shape.heads;
    sizes.kv_heads = shape.kv_heads;
    sizes.head_width = shape.head_width;
    return sizes;
  }
  /// Returns the sizes of the short sequences of attention_defect(), so that their plan is compiled
  /// once. Without it the check would pass on the results of other_.
  static AttentionSizes checked_sizes(const AttentionShape& shape) {
    AttentionSizes sizes = heads_of(shape);
    sizes.sequences = 8;
    sizes.longest = 512;
    sizes.tokens = 2048;
    sizes.rotated_stride = sizes.d_rotated_stride = shape.q_cols() + shape.kv_cols();
    sizes.values_stride = shape.qkv_cols();
    sizes.y_stride = sizes.dy_stride = shape.q_cols();
    sizes.log_sum_stride = shape.heads;
    sizes.d_kv_stride = shape.kv_cols();
    return sizes;
  }
  static AttentionSizes forward_sizes(const AttentionInputs& in, const PlacedClass& c,
                                      const at::Tensor& y, const at::Tensor& log_sum) {
    AttentionSizes sizes = heads_of(in.shape);
    sizes.sequences = c.sequences();
    sizes.longest = c.longest();
    sizes.tokens = power_of_two(in.rotated.size(0));
    sizes.rotated_stride = in.rotated.stride(0);
    sizes.values_stride = in.values.stride(0);
    sizes.y_stride = y.stride(0);
    sizes.log_sum_stride = log_sum.stride(0);
    return sizes;
  }
  /// Returns the bytes of the products of all heads.
  static std::int64_t product_bytes(const AttentionSizes& sizes) {
    return 2 * sizes.sequences * sizes.heads * sizes.longest * sizes.longest;
  }
  /// Reduces the heads of a backward pass so that its stored products fit.
  static void share_heads(AttentionSizes& sizes) {
    const std::int64_t group = sizes.heads / sizes.kv_heads;
    sizes.kv_heads = kv_heads_at_once(sizes.kv_heads, product_bytes(sizes) / sizes.kv_heads,
                                      cudnn::kMostStoredBytes);
    sizes.heads = group * sizes.kv_heads;
  }
  /// Returns whether cuDNN stores the products although one kv-head's do not fit.
  static bool stores_too_much(const AttentionSizes& sizes, const AttentionPlan& plan) {
    const std::int64_t bytes = product_bytes(sizes);
    return bytes > cudnn::kMostStoredBytes && plan.workspace_bytes >= bytes;
  }
  static AttentionMemory memory_of(const AttentionInputs& in, PlacedClass& c, const Slice& heads,
                                   const at::Tensor& y, const at::Tensor& log_sum) {
    AttentionMemory memory;
    memory.queries = address(in.rotated, heads.query_column());
    memory.keys = address(in.rotated, in.shape.q_cols() + heads.kv_column());
    memory.values = address(in.values, heads.kv_column());
    memory.y = address(y, heads.query_column());
    memory.log_sum = address(log_sum, heads.head);
    memory.lengths = c.lengths();
    memory.rotated_offsets = c.offsets(in.rotated.stride(0));
    memory.values_offsets = c.offsets(in.values.stride(0));
    memory.y_offsets = c.offsets(y.stride(0));
    memory.log_sum_offsets = c.offsets(log_sum.stride(0));
    return memory;
  }

  CudnnCalls calls_;
  PackedAttention& other_;
  std::vector<PlacedClass> placed_;
  std::vector<std::int32_t> placed_starts_;  // of placed_
};

}  // namespace

std::unique_ptr<PackedAttention> make_cudnn_attention(at::Device device, PackedAttention& other) {
  return std::make_unique<CudnnAttention>(device, other);
}

}  // namespace lie::aten
