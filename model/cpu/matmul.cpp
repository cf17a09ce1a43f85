// Matmuls of the CPU operators: packing of weights, and how threads share a matmul.
#include <algorithm>
#include <exception>

#include "common/base/dtype.h"
#include "common/base/error.h"
#include "model/cpu/nf4_weight.h"
#include "model/cpu/operators.h"

namespace lie::cpu {

namespace {

void put(float value, float& to) { to = value; }
void put(float value, std::uint16_t& to) { to = to_bfloat16(value); }
float wide(float value) { return value; }
float wide(std::uint16_t value) { return from_bfloat16(value); }

}  // namespace

CpuWeight::CpuWeight(std::int64_t out, std::int64_t in, WeightUse use, bool is_narrow,
                     Buffer panels)
    : PanelWeight(out, in, use, std::move(panels)), is_narrow_(is_narrow) {}

void CpuWeight::widen(Buffer panels) {
  const std::uint16_t* from = narrow();
  std::transform(from, from + layout().elements(), floats(panels.view()), from_bfloat16);
  memory_ = std::move(panels);
  is_narrow_ = false;
}

void PanelWeight::pack(ThreadTeam& team, std::int64_t first_out, std::int64_t rows,
                       const float* matrix) {
  const std::int64_t end_out = first_out + rows, first_panel = first_out / kPanel;
  team.each(panels_for(end_out) - first_panel, [&](std::int64_t task, int) {
    const std::int64_t panel = first_panel + task;
    const std::int64_t begin = std::max(panel * kPanel, first_out);
    pack_panel(panel, {begin % kPanel, std::min(end_out - panel * kPanel, kPanel)},
               matrix + (begin - first_out) * in());
  });
  transposed_current_ = false;
}

void CpuWeight::pack_panel(std::int64_t panel, Range columns, const float* matrix) {
  const std::int64_t filled = panel * kPanel + columns.end == out() ? kPanel : columns.end;
  const auto pack_into = [&](auto* panels) {
    for_k_blocks(in(), [&](std::int64_t first, std::int64_t depth) {
      auto* to = panels + layout().at(panel, first);
      for (std::int64_t k = first; k < first + depth; ++k, to += kPanel) {
        for (std::int64_t c = columns.begin; c < columns.end; ++c) {
          put(matrix[(c - columns.begin) * in() + k], to[c]);
        }
        std::fill(to + columns.end, to + filled, 0);
      }
    });
  };
  narrow() ? pack_into(narrow()) : pack_into(panels());
}

void CpuWeight::copy_row(std::int64_t out, float* to) const {
  const auto copy = [&](const auto* panels) {
    for_k_blocks(in(), [&](std::int64_t first, std::int64_t depth) {
      const auto* from = panels + layout().at(out / kPanel, first) + out % kPanel;
      for (std::int64_t k = 0; k < depth; ++k) *to++ = wide(from[k * kPanel]);
    });
  };
  narrow() ? copy(narrow()) : copy(panels());
}

template <typename Number>
void CpuWeight::transpose(ThreadTeam& team, const Number* panels, Number* transposed) const {
  const PanelLayout transposed_layout{out(), panels_for(in())};
  const std::int64_t block = k_block_size(in());
  team.each(transposed_layout.panels, [&](std::int64_t panel, int) {
    const std::int64_t k = panel * kPanel, count = std::min(kPanel, in() - k);
    for_k_blocks(out(), [&](std::int64_t first, std::int64_t depth) {
      Number* to = transposed + transposed_layout.at(panel, first);
      for (std::int64_t n = first; n < first + depth; ++n, to += kPanel) {
        const Number* from =
            panels + layout().at(n / kPanel, k / block * block, k % block) + n % kPanel;
        for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * kPanel];
        std::fill(to + count, to + kPanel, Number{0});
      }
    });
  });
}

CpuWeight::Transposed CpuWeight::transposed(ThreadTeam& team) {
  const std::int64_t elements = PanelLayout{out(), panels_for(in())}.elements();
  if (!is_narrow_) {
    return {transposed_by(elements, [&](float* to) { transpose(team, panels(), to); }), nullptr};
  }
  const float* const memory = transposed_by(elements / 2, [&](float* to) {
    transpose(team, narrow(), reinterpret_cast<std::uint16_t*>(to));
  });
  return {nullptr, reinterpret_cast<const std::uint16_t*>(memory)};
}

std::unique_ptr<PackedWeight> CpuOperators::make_weight(std::int64_t out, std::int64_t in,
                                                        WeightUse use) {
  if (use == WeightUse::kNf4) return make_nf4_weight(out, in);
  const std::int64_t count = PanelLayout{in, panels_for(out)}.elements();
  const bool is_shared = use != WeightUse::kFixed && !shared_.memory.empty();
  const bool is_narrow = use != WeightUse::kTrained && !is_shared;
  return std::make_unique<CpuWeight>(
      out, in, use, is_narrow,
      is_shared ? allocate_weights(count)
                : allocate(1, is_narrow ? count / 2 : count, DType::kFloat32));
}

std::unique_ptr<PackedWeight> CpuOperators::make_nf4_weight(std::int64_t out, std::int64_t in) {
  if (out * in % nf4::kBlock != 0) {
    fail("NF4 has blocks of {} weights, and a matrix has {}", nf4::kBlock, out * in);
  }
  return std::make_unique<Nf4Weight>(out, in, allocate_weights(Nf4Weight::floats(out, in)));
}

void CpuOperators::pack(PackedWeight& packed, std::int64_t first_out, Tensor part) {
  if (!writes_weights()) return;
  if (auto* const nf4 = dynamic_cast<Nf4Weight*>(&packed)) {
    return nf4->pack(team_, first_out, part.rows, floats(part));
  }
  auto& weight = static_cast<CpuWeight&>(packed);
  if (weight.narrow() &&
      !exact_in_bfloat16({floats(part), static_cast<std::size_t>(part.elements())})) {
    weight.widen(allocate(1, weight.layout().elements(), DType::kFloat32));
  }
  weight.pack(team_, first_out, part.rows, floats(part));
}

void CpuOperators::matmul_in_parts(const Matmul& matmul, std::int64_t rows) {
  split_matmul(rows, panels_for(matmul.out), matmul.in * matmul.out / 16,
               [&](Range some, Range panels, int) { multiply(matmul, some, panels); });
}

template <typename Dequantize>
void CpuOperators::matmul_by_panels(const Matmul& matmul, std::int64_t rows,
                                    const Dequantize& dequantize) {
  reserve_scratch(matmul.in * kPanel);
  split_matmul(rows, panels_for(matmul.out), matmul.in * matmul.out / 16,
               [&](Range some, Range panels, int member) {
                 for (std::int64_t panel = panels.begin; panel < panels.end; ++panel) {
                   dequantize(panel, scratch(member));
                   multiply(matmul.of_panel(panel, scratch(member)), some, {0, 1});
                 }
               });
}

void CpuOperators::linear(Tensor x, const PackedWeight& w, Tensor y) { linear_add(x, w, {}, y); }

void CpuOperators::linear_add(Tensor x, const PackedWeight& w, Tensor residual, Tensor y) {
  if (const auto* const nf4 = dynamic_cast<const Nf4Weight*>(&w)) {
    const Matmul matmul{
        .x = rows_of(x), .init = rows_of(residual), .y = rows_of(y), .in = w.in(), .out = w.out()};
    return matmul_by_panels(matmul, x.rows, [&](std::int64_t panel, float* to) {
      const Range outs{panel * kPanel, std::min((panel + 1) * kPanel, w.out())};
      if (outs.size() < kPanel) std::fill_n(to, w.in() * kPanel, 0.0F);
      nf4->dequantize(outs, {0, w.in()}, to, 1, kPanel);
    });
  }
  const auto& weight = static_cast<const CpuWeight&>(w);
  matmul_in_parts({rows_of(x), weight.panels(), weight.narrow(), rows_of(residual), rows_of(y),
                   w.in(), w.out()},
                  x.rows);
}

void CpuOperators::add_bias(Tensor x, Tensor bias) {
  split(x.rows, 1, x.elements() / 8, [&](Range rows) {
    for (std::int64_t t = rows.begin; t < rows.end; ++t) add_row(floats(bias), row(x, t), x.cols);
  });
}

void CpuOperators::add_bias_backward(Tensor dy, Tensor dbias) {
  split(dy.cols, 16, dy.elements() / 8, [&](Range cols) {
    for (std::int64_t t = 0; t < dy.rows; ++t) {
      add_row(row(dy, t) + cols.begin, floats(dbias) + cols.begin, cols.size());
    }
  });
}

void CpuOperators::backward_input(Tensor dy, PackedWeight& w, Tensor residual, Tensor dx) {
  if (const auto* const nf4 = dynamic_cast<const Nf4Weight*>(&w)) {
    const Matmul matmul{.x = rows_of(dy),
                        .init = rows_of(residual),
                        .y = rows_of(dx),
                        .in = w.out(),
                        .out = w.in()};
    return matmul_by_panels(matmul, dy.rows, [&](std::int64_t panel, float* to) {
      const Range ins{panel * kPanel, std::min((panel + 1) * kPanel, w.in())};
      if (ins.size() < kPanel) std::fill_n(to, w.out() * kPanel, 0.0F);
      nf4->dequantize({0, w.out()}, ins, to, kPanel, 1);
    });
  }
  const auto [panels, narrow] = static_cast<CpuWeight&>(w).transposed(team_);
  matmul_in_parts({rows_of(dy), panels, narrow, rows_of(residual), rows_of(dx), w.out(), w.in()},
                  dy.rows);
}

void CpuOperators::linear_backward_input(Tensor dy, PackedWeight& w, Tensor dx) {
  backward_input(dy, w, {}, dx);
}

void CpuOperators::linear_backward_input_add(Tensor dy, PackedWeight& w, Tensor dx) {
  backward_input(dy, w, dx, dx);
}

void CpuOperators::linear_backward_weight(Tensor dy, Tensor x, std::span<const std::int32_t>,
                                          Tensor dw) {
  const OuterProduct product{rows_of(dy), rows_of(x), rows_of(dw), dy.rows};
  const std::int64_t cycles = dy.rows * dy.cols * x.cols / 16;
  reserve_scratch(outer_product_scratch());
  constexpr std::int64_t kGradientRows = 14;  // rows of dw in a tile with AVX-512
  split_gradient(dw, kGradientRows, cycles, [&](Range out, Range in, int member) {
    add_outer_product(product, out, in, scratch(member));
  });
}

std::unique_ptr<CpuOperators> CpuOperators::single_threaded() const {
  return std::make_unique<CpuOperators>(1);
}

/// Weights that fit into the cores' caches are read by every worker, which avoids synchronization.
/// Larger weights are read once, by all threads together.
std::vector<Operators*> CpuOperators::workers(std::int64_t weights) {
  if (team_.size() == 1 || !are_cached(weights)) return {this};
  while (std::ssize(single_thread_workers_) < team_.size())
    single_thread_workers_.push_back(single_threaded());
  std::vector<Operators*> workers;
  for (const auto& worker : single_thread_workers_) workers.push_back(worker.get());
  return workers;
}

void CpuOperators::run_workers(std::int64_t count, const std::function<void(std::int64_t)>& work) {
  if (count == 1) return work(0);  // work(0) may share its operator calls among the threads
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(count));
  team_.run([&](int member) {
    if (member >= count) return;
    try {
      work(member);
    } catch (...) {
      thrown[static_cast<std::size_t>(member)] = std::current_exception();
    }
  });
  for (const std::exception_ptr& e : thrown) {
    if (e) std::rethrow_exception(e);
  }
}

std::int64_t CpuOperators::most_pass_tokens(std::int64_t weights) const {
  constexpr std::int64_t kInCache = 256;
  return team_.size() == 1 && are_cached(weights) ? kInCache : Operators::most_pass_tokens(weights);
}

}  // namespace lie::cpu
