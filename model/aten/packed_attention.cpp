#include "model/aten/packed_attention.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "model/aten/agreement.h"
#include "model/aten/attention.h"
#include "model/aten/flash_attention.h"

namespace lie::aten {
namespace {

void store(const AttentionOutput& output, const at::Tensor& y, const at::Tensor& log_sum) {
  y.copy_(output.y);
  log_sum.copy_(output.log_sum);
}
void store(const AttentionGradient& gradient, const at::Tensor& d_rotated,
           const at::Tensor& d_values) {
  d_rotated.copy_(gradient.d_rotated);
  d_values.copy_(gradient.d_values);
}

class PlainAttention final : public PackedAttention {
 public:
  std::string name() const override { return "plain attention"; }
  std::string refusal(const AttentionShape&, at::ScalarType) override { return {}; }
  void forward(const AttentionInputs& in, const at::Tensor& y, const at::Tensor& log_sum) override {
    store(attention(in.rotated, in.values, in.shape, in.starts), y, log_sum);
  }
  void backward(const AttentionInputs& in, const at::Tensor& dy, const at::Tensor& y,
                const at::Tensor& log_sum, const at::Tensor& d_rotated,
                const at::Tensor& d_values) override {
    store(attention_backward(dy, in.rotated, in.values, y, log_sum, in.shape, in.starts), d_rotated,
          d_values);
  }
};

class FlashAttention final : public PackedAttention {
 public:
  explicit FlashAttention(int multiprocessors) : multiprocessors_(multiprocessors) {}
  std::string name() const override { return "LibTorch's FlashAttention 2"; }
  std::string refusal(const AttentionShape& shape, at::ScalarType type) override {
    return flash_attention_supports(type, shape) ? "" : "it takes bf16 and widths of 8 n up to 256";
  }
  void forward(const AttentionInputs& in, const at::Tensor& y, const at::Tensor& log_sum) override {
    store(flash_attention(in.rotated, in.values, in.shape, in.device_starts, in.longest), y,
          log_sum);
  }
  void backward(const AttentionInputs& in, const at::Tensor& dy, const at::Tensor& y,
                const at::Tensor& log_sum, const at::Tensor& d_rotated,
                const at::Tensor& d_values) override {
    store(flash_attention_backward(dy, in.rotated, in.values, y, log_sum, in.shape,
                                   in.device_starts, in.longest, multiprocessors_),
          d_rotated, d_values);
  }

 private:
  int multiprocessors_;
};

/// The results of a forward and a backward pass.
struct Results {
  at::Tensor y, log_sum, d_rotated, d_values;

  Results(std::int64_t rows, const AttentionShape& shape, at::TensorOptions options)
      : y(at::zeros({rows, shape.q_cols()}, options)),
        log_sum(at::zeros({rows, shape.heads}, options.dtype(at::kFloat))),
        d_rotated(at::zeros({rows, shape.q_cols() + shape.kv_cols()}, options)),
        d_values(at::zeros({rows, shape.kv_cols()}, options)) {}

  struct Part {
    const char* name;
    const at::Tensor& tensor;
  };
  std::array<Part, 4> parts() const {
    return {{{"outputs", y},
             {"log-sums", log_sum},
             {"gradients of queries and keys", d_rotated},
             {"gradients of values", d_values}}};
  }
};

/// Six sequences of two magnitudes of length: some libraries process these apart, and pad the
/// number of sequences. Values and outputs are columns of wider tensors, as in a model.
class RaggedExample {
 public:
  RaggedExample(const AttentionShape& shape, at::Device device)
      : shape_(shape),
        options_(at::TensorOptions().dtype(at::kBFloat16).device(device)),
        device_starts_(at::tensor(kStarts, at::kInt).to(device)),
        rotated_(waves(shape.q_cols() + shape.kv_cols(), 0.37)),
        qkv_(waves(shape.qkv_cols(), 0.53)),
        dy_(waves(shape.q_cols(), 0.71)) {}

  Results compute(PackedAttention& by) const {
    Results results(kStarts.back(), shape_, options_);
    by.forward(inputs(), results.y, results.log_sum);
    const at::Tensor d_qkv = at::zeros_like(qkv_);
    by.backward(inputs(), dy_, results.y, results.log_sum, results.d_rotated, values_of(d_qkv));
    results.d_values.copy_(values_of(d_qkv));
    return results;
  }
  /// Computes in fp32, with gradients from the outputs of `rounded`.
  Results compute_plain(const Results& rounded) const {
    Results results(kStarts.back(), shape_, options_.dtype(at::kFloat));
    PlainAttention plain;
    plain.forward(inputs(), results.y, results.log_sum);
    plain.backward(inputs(), dy_, rounded.y, rounded.log_sum, results.d_rotated, results.d_values);
    return results;
  }

 private:
  static constexpr std::array<std::int32_t, 7> kStarts{0, 5, 6, 96, 696, 825, 1125};

  at::Tensor waves(std::int64_t cols, double pace) const {
    const at::Tensor steps = at::arange(kStarts.back() * cols, options_.dtype(at::kFloat)) * pace;
    return at::sin(steps).view({kStarts.back(), cols}).to(at::kBFloat16);
  }
  at::Tensor values_of(const at::Tensor& qkv) const {
    return qkv.narrow(1, shape_.q_cols() + shape_.kv_cols(), shape_.kv_cols());
  }
  AttentionInputs inputs() const {
    return {rotated_, values_of(qkv_), shape_, kStarts, device_starts_, /*longest=*/600};
  }

  const AttentionShape& shape_;
  at::TensorOptions options_;
  at::Tensor device_starts_, rotated_, qkv_, dy_;
};

/// Returns the error's norm relative to that of `expected`. It is NaN if a result is.
double relative_error(const at::Tensor& got, const at::Tensor& expected) {
  const at::Tensor difference = got.to(at::kFloat) - expected;
  return std::sqrt((difference * difference).sum().item<double>() /
                   (expected * expected).sum().item<double>());
}

std::string defect_of(PackedAttention& candidate, const RaggedExample& example) {
  const Results first = example.compute(candidate);
  const Results plain = example.compute_plain(first);
  for (std::size_t i = 0; i < first.parts().size(); ++i) {
    const double error = relative_error(first.parts()[i].tensor, plain.parts()[i].tensor);
    if (error <= kMostError) continue;  // and not if it is NaN
    return fmt::format("its {} differ from plain attention's by {:.2g} of them",
                       first.parts()[i].name, error);
  }
  for (int i = 1; i < kRepetitions; ++i) {
    const Results again = example.compute(candidate);
    for (std::size_t p = 0; p < first.parts().size(); ++p) {
      if (again.parts()[p].tensor.equal(first.parts()[p].tensor)) continue;
      return fmt::format("the bits of its {} do not repeat", first.parts()[p].name);
    }
  }
  return {};
}

}  // namespace

std::unique_ptr<PackedAttention> make_plain_attention() {
  return std::make_unique<PlainAttention>();
}

std::unique_ptr<PackedAttention> make_flash_attention(int multiprocessors) {
  return std::make_unique<FlashAttention>(multiprocessors);
}

std::string attention_defect(PackedAttention& candidate, const AttentionShape& heads,
                             at::Device device) {
  std::string refusal = candidate.refusal(heads, at::kBFloat16);
  if (!refusal.empty()) return refusal;
  return defect_or_exception([&] { return defect_of(candidate, RaggedExample(heads, device)); });
}

AttentionChoice choose_attention(PackedAttention& preferred, PackedAttention& other,
                                 const AttentionShape& heads, at::Device device) {
  const std::string defect = attention_defect(preferred, heads, device);
  return {defect.empty() ? &preferred : &other,
          choice_text(preferred.name(), other.name(), defect)};
}

}  // namespace lie::aten
