// Writes a model directory with random weights, so that a machine without files can train and
// generate with the shape of a large model. The weights are those of initial_weights(), rounded to
// bf16, and therefore the same for any number of threads.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <vector>

#include "common/base/dtype.h"
#include "model/operators/thread_team.h"
#include "model/weights/safetensors.h"
#include "model/weights/weights.h"
#include "tests/bench/arguments.h"
#include "tests/bench/bench_model.h"

namespace lie::bench {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string shape;
  fs::path directory, tokenizer = "assets/count_pairs/model";
  std::uint64_t seed = 1;
  std::int64_t response_tokens = 0;
  int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 64u));
};

ModelConfig shape_of(const std::string& name) {
  for (const char* size : {"1.7b", "4b"}) {
    if (name == fmt::format("qwen3-{}", size)) return qwen3_config(size);
  }
  return load_model_config(name);
}

/// Returns every `distance`-th token id. Random weights give all tokens about the same probability,
/// so responses that end at these ids have about this mean length.
std::vector<std::int32_t> ends(std::int64_t vocabulary, std::int64_t distance) {
  std::vector<std::int32_t> ids;
  for (std::int64_t id = distance - 1; id < vocabulary; id += distance) {
    ids.push_back(static_cast<std::int32_t>(id));
  }
  return ids;
}

/// Makes the elements of a parameter in parallel blocks and appends them to a file.
class ModelWriter {
 public:
  ModelWriter(const ModelConfig& config, std::uint64_t seed, int threads)
      : config_(config), seed_(seed), team_(threads) {}

  void write(const fs::path& file) {
    const std::vector<Parameter> layout = parameter_layout(config_);
    std::vector<TensorShape> shapes;
    for (const Parameter& p : layout) {
      const std::vector<std::int64_t> vector = {p.cols}, matrix = {p.rows, p.cols};
      shapes.push_back({p.name, p.decay ? matrix : vector, "BF16"});
    }
    SafetensorsWriter writer(file, shapes);
    for (std::size_t i = 0; i < layout.size(); ++i) append(layout[i], i, writer);
    writer.close();
  }

 private:
  static constexpr std::int64_t kBlock = 1 << 18, kBlocks = 256;

  void append(const Parameter& parameter, std::size_t number, SafetensorsWriter& writer) {
    const std::int64_t elements = parameter.rows * parameter.cols;
    for (std::int64_t first = 0; first < elements; first += kBlock * kBlocks) {
      halves_.resize(static_cast<std::size_t>(std::min(kBlock * kBlocks, elements - first)));
      const std::int64_t blocks = (std::ssize(halves_) + kBlock - 1) / kBlock;
      team_.each(blocks, [&](std::int64_t block, int) {
        const auto at = static_cast<std::size_t>(block * kBlock);
        const auto part = std::span(halves_).subspan(
            at, std::min(static_cast<std::size_t>(kBlock), halves_.size() - at));
        std::vector<float> values(part.size());
        set_initial(config_, seed_, parameter, number, first + block * kBlock, values);
        std::ranges::transform(values, part.begin(), to_bfloat16);
      });
      writer.append(std::span<const std::uint16_t>(halves_));
    }
  }

  const ModelConfig config_;
  const std::uint64_t seed_;
  ThreadTeam team_;
  std::vector<std::uint16_t> halves_;
};

void run(const Arguments& arguments) {
  ModelConfig config = shape_of(arguments.shape);
  if (arguments.response_tokens > 0) {
    config.end_of_sequence_ids = ends(config.vocabulary, arguments.response_tokens);
  }
  fs::create_directories(arguments.directory);
  save_model_config(config, arguments.directory);
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
    fs::copy_file(arguments.tokenizer / name, arguments.directory / name,
                  fs::copy_options::overwrite_existing);
  }
  ModelWriter(config, arguments.seed, arguments.threads)
      .write(arguments.directory / "model.safetensors");
  fmt::print("{} parameters in {}\n", parameter_count(parameter_layout(config)),
             arguments.directory.string());
}

}  // namespace
}  // namespace lie::bench

int main(int argc, char** argv) {
  CLI::App app("Writes a model directory with random weights in bf16: random_model SHAPE OUT_DIR");
  lie::bench::Arguments arguments;
  app.add_option("SHAPE", arguments.shape,
                 "qwen3-1.7b, qwen3-4b, or a directory with a config.json")
      ->required();
  app.add_option("OUT_DIR", arguments.directory, "The directory to write")->required();
  app.add_option("--tokenizer", arguments.tokenizer,
                 "Model directory whose tokenizer is copied; it may have fewer tokens than the "
                 "model")
      ->capture_default_str();
  app.add_option("--response-tokens", arguments.response_tokens,
                 "Mean length of responses (default: nearly all reach their limit)")
      ->check(lie::integers(1));
  app.add_option("--seed", arguments.seed)->capture_default_str();
  app.add_option("--threads", arguments.threads)->check(lie::integers(1, 1024));
  return lie::bench::run_bench(app, argc, argv, [&] { lie::bench::run(arguments); });
}
