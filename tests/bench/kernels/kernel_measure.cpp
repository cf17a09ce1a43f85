#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "common/base/error.h"
#include "tests/bench/bench_model.h"
#include "tests/bench/kernels/device_clock.h"
#include "tests/bench/kernels/kernel_bench.h"

namespace lie::bench {
namespace {

constexpr double kColdBytes = 256e6;  // several times the cache of a GPU
constexpr double kRunSeconds = 2e-3;  // of one timed run, so that launching overlaps computing
constexpr double kLongSeconds = 1;    // longer executions are timed once
constexpr double kHeldBytes = 4e9;    // of all copies of the inputs
constexpr int kRuns = 7;
constexpr std::size_t kMostCopies = 64;

template <typename... Fields>
void print_line(fmt::format_string<Fields...> format, Fields&&... fields) {
  fmt::print(format, std::forward<Fields>(fields)...);
  fmt::print("\n");
  std::fflush(stdout);
}

const char* unit_of(const Cost& cost) { return is_by_flops(cost) ? "TFLOP/s" : "GB/s"; }

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Returns whether a failure means that the device has too little memory for this measurement.
bool is_out_of_memory(const std::string& reason) {
  return reason.find("cannot allocate") != std::string::npos ||
         reason.find("out of memory") != std::string::npos;
}

Cost copy_cost(const Sizes& sizes) { return {.bytes = 8.0 * static_cast<double>(sizes.copied)}; }

KernelBench::Work copy_ceiling(const Sizes& sizes, Inputs in) {
  const Tensor from = in.memory.floats(1, sizes.copied), to = in.memory.floats(1, sizes.copied);
  return [=, &ops = in.operators] { ops.copy(from, to); };
}

Cost matmul_cost(const Sizes& sizes) {
  const auto n = static_cast<double>(sizes.matmul);
  return {.bytes = 6 * n * n, .flops = 2 * n * n * n};
}

KernelBench::Work matmul_ceiling(const Sizes& sizes, Inputs in) {
  const std::int64_t n = sizes.matmul;
  const Tensor x = in.memory.activations(n, n), y = in.memory.activations(n, n);
  const PackedWeight& w = in.memory.weight(n, n);
  return [=, &w, &ops = in.operators] { ops.linear(x, w, y); };
}

}  // namespace

Sizes emulated_sizes() {
  return {.name = "emulated",
          .model = bench_config(),
          .copied = 1 << 16,
          .matmul = 64,
          .batches = {1, 4},
          .contexts = {32},
          .train_tokens = 64,
          .head_rows = 8,
          .optimizer_elements = 1 << 12,
          .prompt = 16,
          .response = 72};  // enough rows for prefill
}

Sizes full_sizes(const std::string& model) {
  return {.name = model,
          .model = qwen3_config(model),
          .copied = 1 << 28,
          .matmul = 8192,
          .batches = {16, 64, 256},
          .contexts = {512, 4096, 8192, 32768},
          .train_tokens = 16384,
          .head_rows = 4096,
          .optimizer_elements = 1 << 28,
          .prompt = 512,
          .response = 8192};
}

void KernelBench::begin() {
  const Make copy = [&](Inputs in) { return copy_ceiling(sizes_, in); };
  const Make matmul = [&](Inputs in) { return matmul_ceiling(sizes_, in); };
  if (device_.own) {
    const std::string name = device_name(*device_.own);
    card_ = card_of(name);
    say(fmt::format("card {}", name.empty() ? "emulated" : name), "MEASURED",
        card_ ? fmt::format("compared with the roofline of {}", card_->name) : "no expectations");
    const double bytes = copy_cost(sizes_).bytes, flops = matmul_cost(sizes_).flops;
    ceilings_ = {bytes / measured_seconds(*device_.own, copy_cost(sizes_), copy),
                 flops / measured_seconds(*device_.own, matmul_cost(sizes_), matmul)};
    say_measured("copy", copy_cost(sizes_), bytes / ceilings_.bytes_per_second);
    say_measured("matmul", matmul_cost(sizes_), flops / ceilings_.flops_per_second);
    return;
  }
  measure("copy", copy_cost(sizes_), copy);
  measure("matmul", matmul_cost(sizes_), matmul);
}

void KernelBench::measure(const std::string& name, const Cost& cost, const Make& make) {
  measure_on(device_.own.get(), name, cost, make);
}

void KernelBench::measure_library(const std::string& name, const Cost& cost, const Make& make) {
  if (device_.library) measure_on(device_.library.get(), name, cost, make);
}

bool KernelBench::measure_on(Operators* operators, const std::string& name, const Cost& cost,
                             const Make& make) {
  if (operators == nullptr) {
    say_expected(name, cost);
    return false;
  }
  try {
    say_measured(name, cost, measured_seconds(*operators, cost, make));
    return true;
  } catch (const std::exception& error) {
    const std::string reason = first_line(error.what());
    const bool is_skipped = is_out_of_memory(reason);
    say(name, is_skipped ? "SKIP" : "FAIL", is_skipped ? "does not fit into memory" : reason);
    return false;
  }
}

double KernelBench::measured_seconds(Operators& operators, const Cost& cost,
                                     const Make& make) const {
  std::deque<DeviceMemory> memories;
  std::vector<Work> works;
  double moved = 0, held = 0;
  do {
    works.push_back(make({operators, memories.emplace_back(operators)}));
    works.back()();  // loads the kernels and allocates temporaries
    moved += cost.bytes;
    held += static_cast<double>(memories.back().bytes());
  } while (!is_emulated() && works.size() < kMostCopies && moved < kColdBytes && held < kHeldBytes);
  const double once = device_seconds(operators, works[0]);
  if (is_emulated() || once > kLongSeconds) return once;
  const int repeats = static_cast<int>(std::clamp(kRunSeconds / once, 1.0, 200.0));
  std::vector<double> seconds;
  for (std::size_t at = 0; std::ssize(seconds) < kRuns;) {
    seconds.push_back(device_seconds(operators, [&] {
      for (int i = 0; i < repeats; ++i) works[at++ % works.size()]();
    }));
  }
  return median(seconds) / repeats;
}

void KernelBench::say_expected(const std::string& name, const Cost& cost) const {
  for (const Card& card : kCards) {
    const double seconds = expected_seconds(cost, card), figure = rate(cost, seconds);
    print_line("{} {}: {}|EXPECTED|{:.4g}|{}|-|{:.4g}|{:.4g}", card.name, sizes_.name, name, figure,
               unit_of(cost), figure, 1e6 * seconds);
  }
}

void KernelBench::say_measured(const std::string& name, const Cost& cost, double seconds) const {
  const std::string expected =
      card_ ? fmt::format("{:.4g}", rate(cost, expected_seconds(cost, *card_))) : "-";
  print_line("{}: {}|MEASURED|{:.4g}|{}|{:.3f}|{}|{:.4g}", sizes_.name, name, rate(cost, seconds),
             unit_of(cost), transfer_seconds(cost, ceilings_) / seconds, expected, 1e6 * seconds);
}

void KernelBench::say(const std::string& name, const char* result, const std::string& text) const {
  print_line("{}: {}|{}|-|{}|-|-|-", sizes_.name, name, result, text);
}

void KernelBench::say_peak_memory(const std::string& section) {
  if (!device_.own) return;
  const std::optional<double> bytes = take_peak_bytes(*device_.own);
  if (!bytes) return;
  print_line("{}: peak memory of {}|MEASURED|{:.4g}|GiB|-|-|-", sizes_.name, section,
             *bytes / (1 << 30));
}

}  // namespace lie::bench
