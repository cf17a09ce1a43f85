#include "model/cuda/prefill_attention.h"

#include <array>
#include <cstdint>

#include "common/base/arithmetic.h"
#include "model/aten/attention.h"

namespace lie::cuda {
namespace {

class PlainPrefillAttention final : public PrefillAttention {
 public:
  std::string name() const override { return "plain attention"; }
  std::string refusal(const AttentionShape&, at::ScalarType) override { return {}; }
  bool forward(const PrefillInputs& in, const at::Tensor& y) override {
    for (const Prefill& prefill : in.prefills) {
      y.narrow(0, prefill.first, prefill.rows).copy_(attend(in, prefill));
    }
    return true;
  }

 private:
  /// Computes the whole sequence, with zeros for the queries of earlier calls.
  static at::Tensor attend(const PrefillInputs& in, const Prefill& prefill) {
    const std::int64_t pages = divided_up(prefill.length(), Operators::kPageTokens);
    const at::Tensor both =  // [2, positions, K*E]
        in.pages.index_select(0, in.table[prefill.sequence].narrow(0, 0, pages))
            .permute({1, 0, 3, 2, 4})
            .reshape({2, pages * Operators::kPageTokens, in.shape.kv_cols()})
            .narrow(1, 0, prefill.length());
    const at::Tensor earlier =
        at::zeros({prefill.position, in.shape.q_cols()}, in.queries.options());
    const at::Tensor queries =
        at::cat({earlier, in.queries.narrow(0, prefill.first, prefill.rows)});
    const std::array<std::int32_t, 2> starts{0, static_cast<std::int32_t>(prefill.length())};
    const aten::AttentionOutput all =
        aten::attention(at::cat({queries, both[0]}, 1), both[1], in.shape, starts);
    return all.y.narrow(0, prefill.position, prefill.rows);
  }
};

}  // namespace

std::unique_ptr<PrefillAttention> make_plain_prefill_attention() {
  return std::make_unique<PlainPrefillAttention>();
}

}  // namespace lie::cuda
