#include "model/aten/aten_operators.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "model/aten/aten_attention.h"
#include "model/aten/aten_rows.h"
#include "model/aten/aten_tensor.h"

namespace lie {
namespace {

using aten::own;

class AtenWeight : public PackedWeight {
 public:
  AtenWeight(std::int64_t out, std::int64_t in, at::TensorOptions options)
      : PackedWeight(out, in), matrix(at::empty({out, in}, options)) {}
  at::Tensor matrix;  // [out, in]
};

class AtenOperators : public Operators {
 public:
  AtenOperators(at::Device device, DType dtype) : device_(device), dtype_(dtype) {}

  // ---- Memory
  DType activation_dtype() const override { return dtype_; }

  Buffer allocate(std::int64_t rows, std::int64_t cols, DType dtype) override {
    try {
      return own(at::empty({rows, cols}, options(aten::scalar_type(dtype))));
    } catch (const c10::Error&) {
      fail("device {}: cannot allocate {} bytes; use a smaller model, cache or micro-batch",
           device_.str(), rows * cols * dtype_bytes(dtype));
    }
  }
  Buffer hold(std::span<const float> host, std::int64_t rows, std::int64_t cols) override {
    return own(on_device(host, rows, cols));
  }
  Buffer borrow_gradient(std::span<float> host) override {
    return own(on_device(host, 1, std::ssize(host)));
  }
  void return_gradient(Buffer gradient, std::span<float> host) override {
    copy_to_host(gradient.view(), host);
  }
  Indices upload(std::span<const std::int32_t> host) override {
    uploads_.push_back(at::from_blob(const_cast<std::int32_t*>(host.data()), {std::ssize(host)},
                                     at::TensorOptions().dtype(at::kInt))
                           .to(device_, /*non_blocking=*/false, /*copy=*/true));
    return {uploads_.back().data_ptr<std::int32_t>(), std::ssize(host)};
  }
  void begin_pass() override { uploads_.clear(); }
  void zero(Tensor x) override { tensor(x).zero_(); }
  void copy(Tensor from, Tensor to) override { tensor(to).copy_(tensor(from)); }
  void copy_to_host(Tensor from, std::span<float> to) override {
    const at::Tensor host = tensor(from).to(at::kCPU, at::kFloat).contiguous();
    std::memcpy(to.data(), host.data_ptr<float>(), to.size_bytes());
  }
  void copy_from_host(std::span<const float> from, Tensor to) override {
    tensor(to).copy_(on_host(from, to.rows, to.cols));
  }

  // ---- Products
  std::unique_ptr<PackedWeight> make_weight(std::int64_t out, std::int64_t in) override {
    return std::make_unique<AtenWeight>(out, in, options(aten::scalar_type(dtype_)));
  }
  void pack(PackedWeight& weight, std::int64_t first_out, std::span<const float> host) override {
    const std::int64_t rows = std::ssize(host) / weight.in();
    matrix(weight).narrow(0, first_out, rows).copy_(on_host(host, rows, weight.in()));
  }
  void linear(Tensor x, const PackedWeight& w, Tensor y) override {
    at::Tensor out = tensor(y);
    at::mm_out(out, tensor(x), matrix(w).t());
  }
  void linear_add(Tensor x, const PackedWeight& w, Tensor residual, Tensor y) override {
    at::Tensor out = tensor(y);
    at::addmm_out(out, tensor(residual), tensor(x), matrix(w).t());
  }
  void linear_backward_input(Tensor dy, PackedWeight& w, Tensor dx) override {
    at::Tensor out = tensor(dx);
    at::mm_out(out, tensor(dy), matrix(w));
  }
  void linear_backward_weight(Tensor dy, Tensor x, Tensor dw) override {
    tensor(dw).add_(at::mm(tensor(dy).t(), tensor(x)));
  }

  // ---- Rows
  void embed(Tensor table, Indices tokens, Tensor y) override {
    tensor(y).copy_(tensor(table).index_select(0, tensor(tokens)));
  }
  void embed_backward(Tensor dy, Indices tokens, Tensor dtable) override {
    // index_put_ with accumulation sorts on CUDA, where index_add_ would add in any order.
    tensor(dtable).index_put_({tensor(tokens).to(at::kLong)}, tensor(dy).to(at::kFloat), /*accumulate=*/true);
  }
  void gather_rows(Tensor x, Indices rows, Tensor y) override {
    tensor(y).copy_(tensor(x).index_select(0, tensor(rows)));
  }
  void scatter_rows(Tensor y, Indices rows, Tensor x) override {
    tensor(x).zero_().index_copy_(0, tensor(rows).to(at::kLong), tensor(y));
  }
  void rms_norm(Tensor x, Tensor weight, float eps, Tensor y, Tensor inverse_rms) override {
    const aten::Norm norm = aten::rms_norm(tensor(x), vector(weight), eps);
    tensor(y).copy_(norm.y);
    if (!inverse_rms.empty()) vector(inverse_rms).copy_(norm.inverse_rms.squeeze(1));
  }
  void rms_norm_backward(Tensor dy, Tensor x, Tensor weight, Tensor inverse_rms, Tensor dx,
                         Tensor dweight) override {
    const aten::NormGradient gradient = aten::rms_norm_backward(
        tensor(dy), tensor(x), vector(weight), vector(inverse_rms).unsqueeze(1));
    tensor(dx).add_(gradient.dx);
    vector(dweight).add_(gradient.dweight);
  }
  void swiglu(Tensor gate_up, Tensor y) override { tensor(y).copy_(aten::swiglu(tensor(gate_up))); }
  void swiglu_backward(Tensor dy, Tensor gate_up, Tensor d_gate_up) override {
    tensor(d_gate_up).copy_(aten::swiglu_backward(tensor(dy), tensor(gate_up)));
  }

  // ---- Attention
  void qk_norm_rope(Tensor qkv, const QkNormRope& how, Tensor rotated) override {
    const Rotation rotation = rotation_of(how);
    const AttentionShape& shape = how.shape;
    for (const Part& part : {queries(shape, how.q_norm), keys(shape, how.k_norm)}) {
      at::Tensor x = heads(tensor(qkv), part);
      if (!part.norm.empty()) x = aten::rms_norm(x, vector(part.norm), how.eps).y;
      columns(tensor(rotated), part)
          .copy_(aten::rotate(x, rotation.cosines, rotation.sines).flatten(1));
    }
  }
  void qk_norm_rope_backward(Tensor d_rotated, Tensor qkv, const QkNormRope& how, Tensor d_qkv,
                             Tensor dq_norm, Tensor dk_norm) override {
    const Rotation rotation = rotation_of(how);
    const AttentionShape& shape = how.shape;
    for (const auto& [part, dnorm] : {std::pair(queries(shape, how.q_norm), dq_norm),
                                      std::pair(keys(shape, how.k_norm), dk_norm)}) {
      // The inverse of a rotation turns the other way.
      at::Tensor dx = aten::rotate(heads(tensor(d_rotated), part), rotation.cosines, -rotation.sines);
      if (!part.norm.empty()) dx = head_norm_backward(dx, heads(tensor(qkv), part), part, how.eps, dnorm);
      columns(tensor(d_qkv), part).copy_(dx.flatten(1));
    }
  }
  void store_kv(Tensor rotated, Tensor qkv, const AttentionShape& shape, const DecodeBatch& batch,
                KvPages pages) override {
    const at::Tensor slots = tensor(batch.slots).to(at::kLong);
    const at::Tensor page = slots.floor_divide(kPageTokens), place = slots.remainder(kPageTokens);
    const auto put = [&](std::int64_t which, const at::Tensor& rows) {
      const at::Tensor heads_of_rows = rows.reshape({-1, shape.kv_heads, shape.head_width});
      page_part(pages, shape, which).index_put_({page, place}, heads_of_rows);
    };
    put(0, tensor(rotated).narrow(1, shape.q_cols(), shape.kv_cols()));
    put(1, values(qkv, shape));
  }
  void attention_decode(Tensor rotated, const AttentionShape& shape, const DecodeBatch& batch,
                        KvPages pages, Tensor y) override {
    const at::Tensor table = tensor(batch.table).reshape({-1, batch.table_width});
    tensor(y).copy_(aten::attention_decode(tensor(rotated).narrow(1, 0, shape.q_cols()),
                                       page_part(pages, shape, 0), page_part(pages, shape, 1),
                                       table, tensor(batch.sequences), tensor(batch.positions), shape,
                                       batch.longest));
  }
  void attention(Tensor rotated, Tensor qkv, const AttentionShape& shape,
                 const PackedSequences& sequences, Tensor y, Tensor log_sum) override {
    const aten::AttentionOutput output =
        aten::attention(tensor(rotated), values(qkv, shape), shape, sequences.starts);
    tensor(y).copy_(output.y);
    if (!log_sum.empty()) tensor(log_sum).copy_(output.log_sum);
  }
  void attention_backward(Tensor dy, Tensor rotated, Tensor qkv, Tensor y, Tensor log_sum,
                          const AttentionShape& shape, const PackedSequences& sequences,
                          Tensor d_rotated, Tensor d_qkv) override {
    const aten::AttentionGradient gradient =
        aten::attention_backward(tensor(dy), tensor(rotated), values(qkv, shape), tensor(y), tensor(log_sum),
                                 shape, sequences.starts);
    tensor(d_rotated).copy_(gradient.d_rotated);
    values(d_qkv, shape).copy_(gradient.d_values);
  }

  // ---- Head
  void log_probs(Tensor logits, Indices targets, float temperature, Tensor log_probs,
                 Tensor entropies, Tensor log_sum) override {
    const aten::HeadOutput output = aten::log_probs(tensor(logits), tensor(targets), temperature);
    vector(log_probs).copy_(output.log_probs);
    vector(entropies).copy_(output.entropies);
    vector(log_sum).copy_(output.log_sum);
  }
  void log_probs_backward(Tensor logits, Indices targets, float temperature, Tensor entropies,
                          Tensor log_sum, Tensor d_log_probs, Tensor d_entropies) override {
    tensor(logits).copy_(aten::log_probs_backward(tensor(logits), tensor(targets), temperature,
                                              vector(entropies), vector(log_sum),
                                              vector(d_log_probs), vector(d_entropies)));
  }

 private:
  /// The query or the key heads within rows of qkv, rotated and their gradients.
  struct Part {
    std::int64_t first_column, head_count, head_width;
    Tensor norm;
  };
  static Part queries(const AttentionShape& shape, Tensor norm) {
    return {0, shape.heads, shape.head_width, norm};
  }
  static Part keys(const AttentionShape& shape, Tensor norm) {
    return {shape.q_cols(), shape.kv_heads, shape.head_width, norm};
  }
  static at::Tensor columns(const at::Tensor& x, const Part& part) {
    return x.narrow(1, part.first_column, part.head_count * part.head_width);
  }
  static at::Tensor heads(const at::Tensor& x, const Part& part) {  // [T, heads, E] fp32
    return columns(x, part).to(at::kFloat).reshape({-1, part.head_count, part.head_width});
  }

  struct Rotation {
    at::Tensor cosines, sines;  // [T, 1, E/2]
  };
  Rotation rotation_of(const QkNormRope& how) const {
    const auto halves = tensor(how.rope).index_select(0, tensor(how.positions)).unsqueeze(1).chunk(2, 2);
    return {halves[0], halves[1]};
  }

  at::Tensor head_norm_backward(const at::Tensor& dy, const at::Tensor& x, const Part& part,
                                float eps, Tensor dnorm) const {
    const at::Tensor weight = vector(part.norm);
    const aten::NormGradient gradient =
        aten::rms_norm_backward(dy, x, weight, aten::rms_norm(x, weight, eps).inverse_rms);
    vector(dnorm).add_(gradient.dweight);
    return gradient.dx;
  }

  /// Keys (0) or values (1) of one layer: [pages, kPageTokens, K, E].
  at::Tensor page_part(KvPages pages, const AttentionShape& shape, std::int64_t which) const {
    return tensor(pages.pool)
        .reshape({pages.pool.rows, -1, 2, kPageTokens, shape.kv_heads, shape.head_width})
        .select(1, pages.layer)
        .select(1, which);
  }
  at::Tensor values(Tensor qkv, const AttentionShape& shape) const {
    return tensor(qkv).narrow(1, shape.q_cols() + shape.kv_cols(), shape.kv_cols());
  }

  at::TensorOptions options(at::ScalarType type) const {
    return at::TensorOptions().dtype(type).device(device_);
  }
  static at::Tensor on_host(std::span<const float> host, std::int64_t rows, std::int64_t cols) {
    return at::from_blob(const_cast<float*>(host.data()), {rows, cols},
                         at::TensorOptions().dtype(at::kFloat));
  }
  at::Tensor on_device(std::span<const float> host, std::int64_t rows, std::int64_t cols) const {
    return on_host(host, rows, cols).to(device_, /*non_blocking=*/false, /*copy=*/true);
  }
  at::Tensor tensor(const Tensor& view) const { return aten::wrap(view, device_); }
  at::Tensor tensor(const Indices& indices) const { return aten::wrap(indices, device_); }
  at::Tensor vector(const Tensor& view) const { return tensor(view).reshape(-1); }
  static at::Tensor matrix(const PackedWeight& weight) {
    return static_cast<const AtenWeight&>(weight).matrix;
  }

  at::Device device_;
  DType dtype_;
  std::vector<at::Tensor> uploads_;  // alive until the next pass
};

at::Device parse_device(std::string_view name) {
  try {
    const at::Device device{std::string(name)};
    at::empty({1}, at::TensorOptions().device(device));  // says now whether it can be used
    return device;
  } catch (const c10::Error& e) {
    fail("model.device \"{}\": not available here ({}); use \"cpu\", or a build with LIE_CUDA=ON on "
         "a machine with a GPU",
         name, e.what_without_backtrace());
  }
}

}  // namespace

std::unique_ptr<Operators> make_aten_operators(std::string_view device, DType dtype) {
  return std::make_unique<AtenOperators>(parse_device(device), dtype);
}

}  // namespace lie
