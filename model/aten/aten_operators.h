// Memory, matmuls and the attention of training through LibTorch's ATen: the base of the CUDA
// operators, and of the operators with which tests compare.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "model/aten/cudnn_attention.h"
#include "model/aten/flash_attention.h"
#include "model/aten/matmul.h"
#include "model/aten/packed_attention.h"
#include "model/aten/tensor.h"
#include "model/operators/operators.h"

namespace lie::aten {

class AtenWeight : public PackedWeight {
 public:
  AtenWeight(std::int64_t out, std::int64_t in, at::TensorOptions options)
      : PackedWeight(out, in), matrix(at::empty({out, in}, options)) {}
  std::int64_t bytes() const override { return static_cast<std::int64_t>(matrix.nbytes()); }
  at::Tensor matrix;  // [out, in]
};

class AtenOperators : public Operators {
 public:
  AtenOperators(at::Device device, DType dtype)
      : device_(device), dtype_(dtype), flash_(dtype == DType::kBFloat16 && device.is_cuda()) {
    if (flash_) require_flash_attention(device);
    // cuBLAS adds the parts of split sums in fp32, not in bf16.
    at::globalContext().setAllowBF16ReductionCuBLAS(false);
  }

  // ---- Memory
  DType activation_dtype() const override { return dtype_; }

  Buffer allocate(std::int64_t rows, std::int64_t cols, DType dtype) override {
    try {
      return own(at::empty({rows, cols}, options(aten::scalar_type(dtype))), dtype);
    } catch (const c10::Error&) {
      fail("device {}: cannot allocate {} bytes; use a smaller model, cache or micro-batch",
           device_.str(), rows * cols * dtype_bytes(dtype));
    }
  }
  std::optional<std::int64_t> free_bytes() const override {
    if (!device_.is_cuda()) return {};
    auto& allocator = *at::getDeviceAllocator(at::kCUDA);
    const auto stats = allocator.getDeviceStats(device_.index());
    const std::int64_t cached = stats.reserved_bytes[0].current - stats.allocated_bytes[0].current;
    return static_cast<std::int64_t>(allocator.getMemoryInfo(device_.index()).first) + cached;
  }
  MemoryPlace place() const override {
    return {device_.is_cuda() ? int{device_.index()} : MemoryPlace::kHost};
  }
  Indices upload(std::span<const std::int32_t> host) override {
    uploads_.push_back(bytes_on_device(host.data(), host.size_bytes()));
    return {static_cast<const std::int32_t*>(uploads_.back().const_data_ptr()), std::ssize(host)};
  }
  void begin_pass() override { uploads_.clear(); }
  void zero(Tensor x) override { tensor(x).zero_(); }
  void copy(Tensor from, Tensor to) override { tensor(to).copy_(tensor(from)); }
  void copy_to_host(Tensor from, std::span<float> to) override {
    on_host(to, from.rows, from.cols).copy_(tensor(from));
  }
  ReceiveTokens send_to_host(const DrawnTokens& drawn) override {
    // The log-probs' bits are sent as integers, so that one transfer suffices.
    const at::Tensor both = at::stack({vector(drawn.ids), vector(drawn.log_probs).view(at::kInt)});
    const at::Tensor here = at::empty(both.sizes(), on_host_for_device(at::kInt));
    here.copy_(both, /*non_blocking=*/true);
    return
        [here, arrival = end_of_calls()](std::span<std::int32_t> ids, std::span<float> log_probs) {
          if (arrival) arrival->synchronize();
          std::memcpy(ids.data(), here[0].data_ptr(), ids.size_bytes());
          std::memcpy(log_probs.data(), here[1].data_ptr(), log_probs.size_bytes());
        };
  }
  void copy_from_host(std::span<const float> from, Tensor to) override {
    // Larger copies are synchronous, so that pinned memory, which ATen caches, stays small.
    constexpr std::size_t kMostPinned = std::size_t{16} << 20;
    if (from.size_bytes() > kMostPinned) {
      tensor(to).copy_(on_host(from, to.rows, to.cols));
      return;
    }
    const at::Tensor there = bytes_on_device(from.data(), from.size_bytes());
    tensor(to).copy_(there.view(at::kFloat).view({to.rows, to.cols}));
  }

  // ---- Matmuls
  std::unique_ptr<PackedWeight> make_weight(std::int64_t out, std::int64_t in,
                                            WeightUse use) override {
    if (use == WeightUse::kNf4) fail("operators in plain ATen have no NF4");
    return std::make_unique<AtenWeight>(out, in, options(aten::scalar_type(dtype_)));
  }
  void pack(PackedWeight& weight, std::int64_t first_out, Tensor part) override {
    matrix(weight).narrow(0, first_out, part.rows).copy_(tensor(part));
  }
  void linear(Tensor x, const PackedWeight& w, Tensor y) override {
    aten::multiply(tensor(y), tensor(x), matrix(w).t());
  }
  void linear_add(Tensor x, const PackedWeight& w, Tensor residual, Tensor y) override {
    at::Tensor out = tensor(y);
    if (residual.data != y.data) out.copy_(tensor(residual));
    out.addmm_(tensor(x), matrix(w).t());
  }
  void add_bias(Tensor x, Tensor bias) override { tensor(x).add_(vector(bias)); }
  void add_bias_backward(Tensor dy, Tensor dbias) override {
    vector(dbias).add_(tensor(dy).to(at::kFloat).sum(0));
  }
  void linear_backward_input(Tensor dy, PackedWeight& w, Tensor dx) override {
    aten::multiply(tensor(dx), narrowed(dy), matrix(w));
  }
  void linear_backward_input_add(Tensor dy, PackedWeight& w, Tensor dx) override {
    tensor(dx).addmm_(tensor(dy), matrix(w));
  }
  void linear_backward_weight(Tensor dy, Tensor x, std::span<const std::int32_t>,
                              Tensor dw) override {
    aten::multiply_add(tensor(dw), narrowed(dy).t(), tensor(x));
  }

  void scale(Tensor x, float factor) override { tensor(x).mul_(factor); }

  // ---- Rows
  void look_up_drawn(Indices tokens, Tensor drawn, Tensor to) override {
    const at::Tensor known = tensor(tokens), places = (-1 - known).clamp_min(0);
    vector(to).copy_(at::where(known.lt(0), vector(drawn).index_select(0, places), known));
  }
  void bar(Tensor logits, Indices rows, Indices ids) override {
    const Tensor all{logits.data, 1, (logits.rows - 1) * logits.stride + logits.cols,
                     logits.rows * logits.stride, logits.dtype};
    const at::Tensor some = tensor(rows).to(at::kLong), barred = tensor(ids).to(at::kLong);
    const at::Tensor places = (some.unsqueeze(1) * logits.stride + barred.unsqueeze(0)).view({-1});
    vector(all).index_fill_(0, places, -std::numeric_limits<double>::infinity());
  }
  void gather_rows(Tensor x, Indices rows, Tensor y) override {
    tensor(y).copy_(tensor(x).index_select(0, tensor(rows)));
  }
  void scatter_rows(Tensor y, Indices rows, Tensor x) override {
    tensor(x).zero_().index_copy_(0, tensor(rows).to(at::kLong), tensor(y));
  }

  // ---- Attention
  std::vector<std::string> choices(PassKind kind, const AttentionShape& heads) override {
    if (kind != PassKind::kTraining || attention_for(heads).reason.empty()) return {};
    return {"attention of training: " + attention_for(heads).reason};
  }
  void attention(Tensor rotated, Tensor qkv, const AttentionShape& shape,
                 const PackedSequences& sequences, Tensor y, Tensor log_sum) override {
    const at::Tensor sums =
        log_sum.empty() ? at::empty({y.rows, shape.heads}, options(at::kFloat)) : tensor(log_sum);
    attention_for(shape).used->forward(inputs(rotated, qkv, shape, sequences), tensor(y), sums);
  }
  void attention_backward(Tensor dy, Tensor rotated, Tensor qkv, Tensor y, Tensor log_sum,
                          const AttentionShape& shape, const PackedSequences& sequences,
                          Tensor d_rotated, Tensor d_qkv) override {
    attention_for(shape).used->backward(inputs(rotated, qkv, shape, sequences), tensor(dy),
                                        tensor(y), tensor(log_sum), tensor(d_rotated),
                                        values(d_qkv, shape));
  }

  // ---- Optimizer
  void add(Tensor from, Tensor to) override { vector(to).add_(vector(from)); }

 protected:
  virtual int multiprocessors() const { return 1; }
  at::Device device() const { return device_; }
  at::TensorOptions options(at::ScalarType type) const {
    return at::TensorOptions().dtype(type).device(device_);
  }
  at::Tensor tensor(const Tensor& view) const { return aten::wrap(view, device_); }
  at::Tensor tensor(const Indices& indices) const { return aten::wrap(indices, device_); }
  /// Returns the view as a vector, or an undefined tensor if the view is empty.
  at::Tensor vector(const Tensor& view) const {
    return view.empty() ? at::Tensor() : tensor(view).view(-1);
  }
  at::Tensor values(Tensor qkv, const AttentionShape& shape) const {
    return tensor(qkv).narrow(1, shape.q_cols() + shape.kv_cols(), shape.kv_cols());
  }
  /// Returns the weight in the activations' dtype [out, in]. The result is valid until the next
  /// call.
  virtual at::Tensor matrix(const PackedWeight& weight) {
    return static_cast<const AtenWeight&>(weight).matrix;
  }
  /// Copies host bytes to the device. The copy to a GPU goes through pinned memory and is
  /// asynchronous.
  at::Tensor bytes_on_device(const void* host, std::size_t bytes) const {
    const auto count = static_cast<std::int64_t>(bytes);
    const at::Tensor staged = at::empty({count}, on_host_for_device(at::kByte));
    if (count > 0) std::memcpy(staged.data_ptr(), host, bytes);
    return staged.to(device_, /*non_blocking=*/true);
  }

 private:
  /// Returns the options of host memory that the device can access directly.
  at::TensorOptions on_host_for_device(at::ScalarType type) const {
    return at::TensorOptions().dtype(type).pinned_memory(device_.is_cuda());
  }
  /// Returns an event that a GPU reaches after all calls so far, or null for other devices.
  std::shared_ptr<c10::Event> end_of_calls() const {
    if (!device_.is_cuda()) return nullptr;
    const auto end = std::make_shared<c10::Event>(device_.type());
    end->record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
    return end;
  }
  static at::Tensor on_host(std::span<const float> host, std::int64_t rows, std::int64_t cols) {
    return at::from_blob(const_cast<float*>(host.data()), {rows, cols},
                         at::TensorOptions().dtype(at::kFloat));
  }
  AttentionInputs inputs(Tensor rotated, Tensor qkv, const AttentionShape& shape,
                         const PackedSequences& sequences) const {
    return {tensor(rotated),
            values(qkv, shape),
            shape,
            sequences.starts,
            tensor(sequences.device_starts),
            sequences.longest};
  }
  /// Returns the attention for such heads, which is chosen at the first call for them.
  const AttentionChoice& attention_for(const AttentionShape& shape) {
    AttentionChoice& choice = attention_[{shape.heads, shape.kv_heads, shape.head_width}];
    if (choice.used == nullptr) choice = choose(shape);
    return choice;
  }
  AttentionChoice choose(const AttentionShape& shape) {
    if (!flash_ || !flash_attention_supports(aten::scalar_type(dtype_), shape)) {
      if (!plain_attention_) plain_attention_ = make_plain_attention();
      return {plain_attention_.get(), {}};
    }
    if (!flash_attention_) flash_attention_ = make_flash_attention(multiprocessors());
    if (!cudnn_attention_) cudnn_attention_ = make_cudnn_attention(device_, *flash_attention_);
    return choose_attention(*cudnn_attention_, *flash_attention_, shape, device_);
  }
  /// Converts to the weights' dtype, because gradients of logits are fp32.
  at::Tensor narrowed(const Tensor& dy) const { return tensor(dy).to(aten::scalar_type(dtype_)); }

  at::Device device_;
  DType dtype_;
  bool flash_;  // whether attention uses tensor cores
  std::unique_ptr<PackedAttention> plain_attention_, flash_attention_, cudnn_attention_;
  std::map<std::array<std::int64_t, 3>, AttentionChoice> attention_;  // by heads
  std::vector<at::Tensor> uploads_;                                   // alive until the next pass
};

}  // namespace lie::aten
