// The measurements of kernel_bench by section.
#pragma once

#include <cstdint>
#include <span>

#include "tests/bench/kernels/kernel_bench.h"

namespace lie::bench {

struct Section {
  const char* name;
  const char* help;
  void (*run)(KernelBench&);
};

inline double number(std::int64_t count) { return static_cast<double>(count); }

inline AttentionShape heads_of(const ModelConfig& model) {
  return {model.heads, model.kv_heads, model.head_width};
}

/// Returns all sections in the order in which they run.
std::span<const Section> all_sections();

void measure_rows(KernelBench& bench);
void measure_matmuls(KernelBench& bench);
void measure_head(KernelBench& bench);
void measure_optimizer(KernelBench& bench);
void measure_decode_attention(KernelBench& bench);
void measure_training_attention(KernelBench& bench);
void measure_prefill(KernelBench& bench);
void measure_decode_steps(KernelBench& bench);
void measure_training(KernelBench& bench);
void measure_exact(KernelBench& bench);

}  // namespace lie::bench
