#include "tests/aten/pages.h"

#include <algorithm>
#include <limits>

#include "model/aten/attention.h"
#include "model/aten/matmul.h"

namespace lie::aten {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr std::int64_t kPage = Operators::kPageTokens;
constexpr std::int64_t kGatherElements = std::int64_t{32} << 20;  // of keys, and as many of values

/// Returns the pool as rows of `width` elements that start at this layer's keys or values. The rows
/// of page 0 come first; those of the next page follow after `pool columns / width` rows.
at::Tensor places(const PagedHeads& part, std::int64_t width, const AttentionShape& shape) {
  const at::Tensor all = part.pool.view({-1, width});
  const std::int64_t before = (part.layer * 2 + part.which) * kPage * shape.kv_cols() / width;
  return all.narrow(0, before, all.size(0) - before);
}

at::Tensor head_numbers(const at::Tensor& like, const AttentionShape& shape) {
  return at::arange(shape.kv_heads, like.options());
}

/// Returns the row numbers of the pages [c, w] of each kv-head, in rows of kPage * E elements: [c *
/// K * w].
at::Tensor page_places(const at::Tensor& pages, const PagedHeads& part,
                       const AttentionShape& shape) {
  const std::int64_t apart = part.pool.size(1) / (kPage * shape.head_width);
  return (pages.unsqueeze(1) * apart + head_numbers(pages, shape).unsqueeze(1)).flatten();
}

/// Gathers the keys or values of c rows: [c * K, w * kPage, E].
at::Tensor gather(const PagedHeads& part, const at::Tensor& places_of_pages, std::int64_t rows,
                  const AttentionShape& shape) {
  return places(part, kPage * shape.head_width, shape)
      .index_select(0, places_of_pages)
      .view({rows * shape.kv_heads, -1, shape.head_width});
}

/// Computes attention of a few rows. `pages` [c, w] and `positions` [c] are int64.
at::Tensor attend_rows(const at::Tensor& queries, const PagedHeads& keys, const PagedHeads& values,
                       const at::Tensor& pages, const at::Tensor& positions,
                       const AttentionShape& shape) {
  const std::int64_t rows = queries.size(0), length = pages.size(1) * kPage;
  const std::int64_t group = shape.heads / shape.kv_heads;
  const at::Tensor at_pages = page_places(pages, keys, shape);
  const at::Tensor k = gather(keys, at_pages, rows, shape);
  at::Tensor v = gather(values, at_pages, rows, shape);
  const at::Tensor q = queries.reshape({rows * shape.kv_heads, group, shape.head_width});
  const at::Tensor later =
      at::arange(length, positions.options()).unsqueeze(0) > positions.unsqueeze(1);  // [c, n]
  const auto by_row = [&](const at::Tensor& x) {
    return x.view({rows, shape.kv_heads, x.size(1), x.size(2)});
  };
  at::Tensor scores = batched_wide(q, k.transpose(1, 2)).mul_(score_scale(shape));  // [c*K, G, n]
  by_row(scores).masked_fill_(later.view({rows, 1, 1, length}), kMinusInfinity);
  // Slots after a sequence's end are undefined, and a weight of 0 times NaN would be NaN.
  by_row(v).masked_fill_(later.view({rows, 1, length, 1}), 0);
  return at::bmm(at::softmax(scores, -1).to(v.scalar_type()), v).view({rows, shape.q_cols()});
}

}  // namespace

void store(const PagedHeads& to, const at::Tensor& slots, const at::Tensor& rows,
           const AttentionShape& shape) {
  const std::int64_t width = shape.head_width;
  const at::Tensor slot = slots.to(at::kLong).unsqueeze(1);
  const at::Tensor page = slot.floor_divide(kPage), place = slot.remainder(kPage);
  const at::Tensor head = head_numbers(slot, shape);
  const at::Tensor at_place = page * (to.pool.size(1) / width) + head * kPage + place;  // [T, K]
  places(to, width, shape).index_copy_(0, at_place.flatten(), rows.reshape({-1, width}));
}

at::Tensor attention_decode(const at::Tensor& queries, const PagedHeads& keys,
                            const PagedHeads& values, const PagedRows& rows,
                            const AttentionShape& shape) {
  const std::int64_t count = queries.size(0), width = (rows.longest + kPage - 1) / kPage;
  const at::Tensor table = rows.table.narrow(1, 0, width).to(at::kLong);
  const at::Tensor positions = rows.positions.to(at::kLong);
  const std::int64_t at_once =
      std::clamp<std::int64_t>(kGatherElements / (width * kPage * shape.kv_cols()), 1, count);
  at::Tensor y = at::empty({count, shape.q_cols()}, queries.options());
  for (std::int64_t first = 0; first < count; first += at_once) {
    const std::int64_t some = std::min(at_once, count - first);
    const auto part = [&](const at::Tensor& x) { return x.narrow(0, first, some); };
    part(y).copy_(attend_rows(part(queries), keys, values,
                              table.index_select(0, part(rows.sequences)), part(positions), shape));
  }
  return y;
}

}  // namespace lie::aten
