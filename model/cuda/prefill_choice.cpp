#include "model/cuda/prefill_choice.h"

#include "model/aten/agreement.h"
#include "model/aten/tensor.h"
#include "model/cuda/prefill_check.h"

namespace lie::cuda {

PrefillChoice::PrefillChoice(at::Device device)
    : device_(device),
      library_(device.is_cuda() ? make_cudnn_prefill_attention(device)
                                : make_plain_prefill_attention()) {}

bool PrefillChoice::attend(const Queue& queue, Tensor rotated, const AttentionShape& shape,
                           const DecodeBatch& batch, KvPages pages,
                           std::span<const Prefill> prefills, Tensor y) {
  if (prefills.empty() || !choice_for(queue, shape).uses_library) return false;
  constexpr std::int64_t kPage = Operators::kPageTokens;
  const std::int64_t part = 2 * kPage * shape.kv_cols();  // of a page, for one layer
  const at::Tensor layer = aten::wrap(pages.pool, device_).narrow(1, pages.layer * part, part);
  return library_->forward(
      {.queries = aten::wrap(rotated, device_).narrow(1, 0, shape.q_cols()),
       .pages = layer.unflatten(1, {2, shape.kv_heads, kPage, shape.head_width}),
       .table = aten::wrap(batch.table, device_).view({-1, batch.table_width}),
       .shape = shape,
       .prefills = prefills},
      aten::wrap(y, device_));
}

const PrefillChoice::Choice& PrefillChoice::choice_for(const Queue& queue,
                                                       const AttentionShape& heads) {
  const auto [found, is_new] =
      choices_.try_emplace({heads.heads, heads.kv_heads, heads.head_width});
  if (!is_new) return found->second;
  const std::string defect = prefill_defect(*library_, heads, device_, queue);
  library_->begin_pass();  // the inputs of the check are gone
  found->second = {defect.empty(), aten::choice_text(library_->name(), "the own kernel", defect)};
  return found->second;
}

}  // namespace lie::cuda
