// Memory, copies and rows of the CPU operators.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "common/base/dtype.h"
#include "common/base/error.h"
#include "model/cpu/bf16_operators.h"

namespace lie::cpu {
namespace {

constexpr std::int64_t kHugePage = std::int64_t{2} << 20;

void copy_row(const float* from, float* to, std::int64_t count) {
  std::copy_n(from, count, to);  // if count is 0, the pointers may be null
}

/// Converts between fp32 and bf16. Rows must be contiguous.
void convert(Tensor from, Tensor to) {
  const std::int64_t count = from.elements();
  if (to.dtype == DType::kBFloat16) {
    const auto* const wide = static_cast<const float*>(from.data);
    std::transform(wide, wide + count, static_cast<std::uint16_t*>(to.data), to_bfloat16);
  } else {
    const auto* const narrow = static_cast<const std::uint16_t*>(from.data);
    std::transform(narrow, narrow + count, static_cast<float*>(to.data), from_bfloat16);
  }
}

}  // namespace

AlignedFloats::AlignedFloats(std::int64_t count) : size_(count) {
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t alignment = bytes >= kHugePage / 2 ? kHugePage : 64;
  const auto rounded = static_cast<std::size_t>((bytes + alignment - 1) / alignment * alignment);
  if (rounded == 0) return;
  void* p = std::aligned_alloc(static_cast<std::size_t>(alignment), rounded);
  if (p == nullptr) fail("out of memory: {} bytes needed for model buffers", bytes);
  if (alignment == kHugePage) madvise(p, rounded, MADV_HUGEPAGE);  // optional: fewer TLB misses
  data_.reset(static_cast<float*>(p));
}

void AlignedFloats::Free::operator()(float* p) const { std::free(p); }

CpuOperators::CpuOperators(int threads, const SharingLimits& sharing, const SharedFloats& shared)
    : team_(threads),
      scratch_(static_cast<std::size_t>(team_.size())),
      sharing_(sharing),
      shared_(shared),
      samplers_(static_cast<std::size_t>(team_.size())) {}

void CpuOperators::reserve_scratch(std::int64_t floats_per_member) {
  for (AlignedFloats& scratch : scratch_) {
    if (scratch.size() < floats_per_member) {
      scratch = AlignedFloats();
      scratch = AlignedFloats(floats_per_member + floats_per_member / 2);
    }
  }
}

Buffer CpuOperators::allocate(std::int64_t rows, std::int64_t cols, DType dtype) {
  const std::int64_t bytes = std::max<std::int64_t>(rows * cols, 1) * dtype_bytes(dtype);
  AlignedFloats memory((bytes + 3) / 4);
  const Tensor view{memory.data(), rows, cols, cols, dtype};
  return {view, Buffer::Owner(
                    memory.release(), +[](void* p) { std::free(p); })};
}

Buffer CpuOperators::allocate_weights(std::int64_t count) {
  constexpr std::int64_t kLine = 16;  // elements of a cache line
  if (shared_.memory.empty()) return Operators::allocate_weights(count);
  const std::int64_t first = shared_used_;
  shared_used_ += (count + kLine - 1) / kLine * kLine;
  if (shared_used_ > std::ssize(shared_.memory)) {
    fail("shared memory of {} elements is too small for this model", shared_.memory.size());
  }
  const Tensor view{shared_.memory.data() + first, 1, count, count, DType::kFloat32};
  return {view, Buffer::Owner(
                    nullptr, +[](void*) {})};
}

Indices CpuOperators::upload(std::span<const std::int32_t> host) {
  return {host.data(), static_cast<std::int64_t>(host.size())};
}

void CpuOperators::zero(Tensor x) {
  if (x.dtype == DType::kBFloat16) {
    for (std::int64_t t = 0; t < x.rows; ++t) {
      std::fill_n(static_cast<std::uint16_t*>(x.rows_at(t, 1).data), x.cols, std::uint16_t{0});
    }
    return;
  }
  if (x.rows == 1) {
    return split(x.cols, 1024, x.cols / 8, [&](Range cols) {
      std::fill(floats(x) + cols.begin, floats(x) + cols.end, 0.0f);
    });
  }
  split(x.rows, 1, x.elements() / 8, [&](Range rows) {
    for (std::int64_t t = rows.begin; t < rows.end; ++t) std::fill_n(row(x, t), x.cols, 0.0f);
  });
}

void CpuOperators::copy(Tensor from, Tensor to) {
  if (from.dtype != to.dtype) return convert(from, to);
  const auto bytes = static_cast<std::size_t>(from.cols * dtype_bytes(from.dtype));
  split(from.rows, 1, from.elements() / 8, [&](Range rows) {
    for (std::int64_t t = rows.begin; bytes > 0 && t < rows.end; ++t) {
      std::memcpy(to.rows_at(t, 1).data, from.rows_at(t, 1).data, bytes);
    }
  });
}

void CpuOperators::copy_to_host(Tensor from, std::span<float> to) {
  copy(from, {to.data(), from.rows, from.cols, from.cols, DType::kFloat32});
}

ReceiveTokens CpuOperators::send_to_host(const DrawnTokens& drawn) {
  const auto* const first_id = static_cast<const std::int32_t*>(drawn.ids.data);
  const float* const first = floats(drawn.log_probs);
  return [of_ids = std::vector(first_id, first_id + drawn.ids.cols),
          of_log_probs = std::vector(first, first + drawn.log_probs.cols)](
             std::span<std::int32_t> ids, std::span<float> log_probs) {
    std::ranges::copy(of_ids, ids.begin());
    std::ranges::copy(of_log_probs, log_probs.begin());
  };
}

void CpuOperators::look_up_drawn(Indices tokens, Tensor drawn, Tensor to) {
  const auto* const ids = static_cast<const std::int32_t*>(drawn.data);
  auto* const found = static_cast<std::int32_t*>(to.data);
  std::transform(tokens.data, tokens.data + tokens.count, found,
                 [&](std::int32_t token) { return token < 0 ? ids[-1 - token] : token; });
}

void CpuOperators::copy_from_host(std::span<const float> from, Tensor to) {
  // The source is only read. A tensor's pointer is mutable because outputs share the type.
  copy({const_cast<float*>(from.data()), to.rows, to.cols, to.cols, DType::kFloat32}, to);
}

void CpuOperators::gather_rows(Tensor x, Indices rows, Tensor y) {
  split(rows.count, 1, rows.count * x.cols / 8, [&](Range range) {
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      copy_row(row(x, rows.data[r]), row(y, r), x.cols);
    }
  });
}

void CpuOperators::scatter_rows(Tensor y, Indices rows, Tensor x) {
  zero(x);
  split(rows.count, 1, rows.count * x.cols / 8, [&](Range range) {
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      copy_row(row(y, r), row(x, rows.data[r]), x.cols);
    }
  });
}

void CpuOperators::embed(Tensor table, Indices tokens, Tensor y) { gather_rows(table, tokens, y); }

void CpuOperators::embed(const PackedWeight& table, Indices tokens, Tensor y) {
  const auto& weight = static_cast<const PanelWeight&>(table);
  split(tokens.count, 1, tokens.count * y.cols / 8, [&](Range range) {
    for (std::int64_t t = range.begin; t < range.end; ++t) {
      weight.copy_row(tokens.data[t], row(y, t));
    }
  });
}

void CpuOperators::embed_backward(Tensor dy, Indices tokens, Tensor dtable) {
  split(dy.cols, 16, dy.elements() / 8, [&](Range cols) {
    for (std::int64_t t = 0; t < tokens.count; ++t) {
      add_row(row(dy, t) + cols.begin, row(dtable, tokens.data[t]) + cols.begin, cols.size());
    }
  });
}

}  // namespace lie::cpu

namespace lie {

std::unique_ptr<Operators> make_cpu_operators(int threads, const SharedFloats& shared,
                                              DType matmul_dtype) {
  if (threads < 1) fail("CPU operators with {} threads: expected 1 or more", threads);
  if (matmul_dtype == DType::kBFloat16) {
    return std::make_unique<cpu::Bf16Operators>(threads, cpu::SharingLimits{}, shared);
  }
  return std::make_unique<cpu::CpuOperators>(threads, cpu::SharingLimits{}, shared);
}

bool has_matrix_unit() { return cpu::has_tile_unit(); }

}  // namespace lie
