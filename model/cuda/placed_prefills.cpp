#include "model/cuda/placed_prefills.h"

#include <algorithm>

#include "common/base/arithmetic.h"
#include "model/aten/sequence_classes.h"

namespace lie::cuda {
namespace {

constexpr std::int64_t kPage = Operators::kPageTokens;

}  // namespace

PlacedPrefills::PlacedPrefills(const PrefillInputs& in, const aten::CudnnCalls& calls) {
  for (const Prefill& prefill : in.prefills) {
    longest_ = std::max(longest_, prefill.rows);
    table_width_ = std::max(table_width_, divided_up(prefill.length(), kPage));
  }
  longest_ = aten::power_of_two(longest_);
  table_width_ = aten::power_of_two(table_width_);
  // Places are those of a page in the table, `held` counts the positions in a last page.
  std::vector<std::int64_t> firsts, rows, lengths, places, last_places, held;
  for (const Prefill& prefill : in.prefills) {
    const std::int64_t row = prefill.sequence * in.table.size(1),
                       last = divided_up(prefill.length(), kPage) - 1;
    firsts.push_back(prefill.first);
    rows.push_back(prefill.rows);
    lengths.push_back(prefill.length());
    for (std::int64_t p = 0; p < table_width_; ++p) places.push_back(row + std::min(p, last));
    if (prefill.length() % kPage == 0) continue;
    last_places.push_back(row + last);
    held.push_back(prefill.length() % kPage);
  }
  const auto sequences = static_cast<std::size_t>(aten::power_of_two(std::ssize(in.prefills)));
  firsts.resize(sequences + 1, in.prefills.back().end());
  rows.resize(sequences, 0);
  lengths.resize(sequences, 0);
  places.resize(sequences * static_cast<std::size_t>(table_width_), places.front());

  std::vector<std::int64_t> joined;
  for (const auto* list : {&firsts, &rows, &lengths, &places, &last_places, &held}) {
    joined.insert(joined.end(), list->begin(), list->end());
  }
  const at::Tensor there = calls.upload(joined);
  std::int64_t done = 0;
  const auto next = [&](const std::vector<std::int64_t>& list) {
    done += std::ssize(list);
    return there.narrow(0, done - std::ssize(list), std::ssize(list));
  };
  const at::Tensor pages = in.table.flatten();
  firsts_ = next(firsts);
  rows_ = next(rows).to(at::kInt);
  lengths_ = next(lengths).to(at::kInt);
  table_ = pages.index_select(0, next(places));
  if (held.empty()) return;
  last_pages_ = pages.index_select(0, next(last_places)).to(at::kLong);
  const at::Tensor counts = next(held);
  past_end_ = at::arange(kPage, counts.options())
                  .ge(counts.unsqueeze(1))
                  .view({std::ssize(held), 1, 1, kPage, 1});
}

const std::int64_t* PlacedPrefills::offsets(std::int64_t stride) {
  at::Tensor& found = offsets_[stride];
  if (!found.defined()) found = firsts_ * stride;
  return found.const_data_ptr<std::int64_t>();
}

void PlacedPrefills::clear_past_end(const at::Tensor& pages) const {
  if (!last_pages_.defined()) return;
  const at::Tensor cleared = pages.index_select(0, last_pages_).masked_fill(past_end_, 0);
  at::Tensor(pages).index_copy_(0, last_pages_, cleared);
}

}  // namespace lie::cuda
