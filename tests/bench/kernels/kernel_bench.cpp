// Measures each kernel and its counterpart in a library at the shapes of Qwen3, next to the figure
// that the roofline of the card gives. kernel_bench.h describes the lines that it prints.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "common/base/error.h"
#include "model/cuda/operators.h"
#include "tests/aten/make_reference_operators.h"
#include "tests/bench/arguments.h"
#include "tests/bench/kernels/sections.h"

namespace lie::bench {

std::span<const Section> all_sections() {
  static constexpr Section kSections[] = {
      {"rows", "norms, rotation, SwiGLU, embedding", measure_rows},
      {"matmul", "a layer's matmuls and their gradients", measure_matmuls},
      {"head", "logits, log-probs, draws", measure_head},
      {"optimizer", "AdamW, norm, packing", measure_optimizer},
      {"decode-attention", "attention over pages", measure_decode_attention},
      {"training-attention", "attention over sequences", measure_training_attention},
      {"prefill", "prefill of a prompt and of a response, log-probs", measure_prefill},
      {"decode", "a decode step, with and without CUDA graphs", measure_decode_steps},
      {"train", "a micro-batch", measure_training},
      {"exact", "decoding and training on cuda-exact", measure_exact}};
  return kSections;
}

namespace {

struct Arguments {
  std::string device = "cuda", model = "1.7b";
  std::vector<std::string> sections;  // empty: all
};

Device device_of(const Arguments& arguments) {
  const bool is_emulated = arguments.device == "emulated";
  if (!is_emulated && usable_gpus() == 0) return {};
  const std::string name = is_emulated ? "cpu" : arguments.device;
  return {make_cuda_operators(name, DType::kBFloat16),
          make_reference_operators(name, DType::kBFloat16),
          make_cuda_operators(name, DType::kBFloat16, 0, CudaBits::kExact)};
}

void run(const Arguments& arguments) {
  const bool is_emulated = arguments.device == "emulated";
  KernelBench bench(is_emulated ? emulated_sizes() : full_sizes(arguments.model),
                    device_of(arguments));
  bench.begin();
  for (const Section& section : all_sections()) {
    const auto& wanted = arguments.sections;
    if (!wanted.empty() && std::ranges::find(wanted, section.name) == wanted.end()) continue;
    section.run(bench);
    bench.say_peak_memory(section.name);
  }
}

}  // namespace
}  // namespace lie::bench

int main(int argc, char** argv) {
  CLI::App app(
      "Speed of each kernel next to its roofline, a line each. Without a GPU, the roofline of each "
      "card");
  lie::bench::Arguments arguments;
  app.add_option("--device", arguments.device,
                 "cuda[:index]; or emulated, in a build without CUDA: small shapes, whose speed "
                 "says nothing");
  std::set<std::string> names;
  std::string help = "Sections, separated by commas (default: all)";
  for (const lie::bench::Section& section : lie::bench::all_sections()) {
    names.insert(section.name);
    help += fmt::format("\n  {}: {}", section.name, section.help);
  }
  app.add_option("--section", arguments.sections, help)
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_option("--model", arguments.model, "Shapes of Qwen3")
      ->check(CLI::IsMember({"1.7b", "4b"}))
      ->capture_default_str();
  return lie::bench::run_bench(app, argc, argv, [&] { lie::bench::run(arguments); });
}
