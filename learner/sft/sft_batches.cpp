#include "learner/sft/sft_batches.h"

#include <numeric>
#include <utility>

#include "common/base/random.h"
#include "learner/trainer/packing.h"

namespace lie {
namespace {

/// Shuffles by Fisher-Yates with counter-based random numbers: a pure function of its arguments.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  RandomKey key{.seed = seed, .stream = kShuffleStream, .step = static_cast<std::uint32_t>(epoch)};
  for (std::size_t i = count; i > 1; --i) {
    key.index = static_cast<std::uint32_t>(i);
    std::swap(order[i - 1], order[random_bits(key) % i]);
  }
  return order;
}

}  // namespace

std::vector<std::vector<std::size_t>> sft_batches(std::span<const SftExample> examples,
                                                  const SftOptions& options, std::int64_t epoch) {
  std::vector<std::vector<std::size_t>> batches;
  std::int64_t held = 0;
  for (const std::size_t i :
       shuffled(examples.size(), static_cast<std::uint64_t>(options.seed), epoch)) {
    const std::int64_t tokens = SequenceTokens{examples[i].prompt, examples[i].response}.tokens();
    const bool full = batches.empty() ||
                      static_cast<std::int64_t>(batches.back().size()) == options.batch_sequences ||
                      held + tokens > options.max_batch_tokens;
    if (full) {
      batches.emplace_back();
      held = 0;
    }
    batches.back().push_back(i);
    held += tokens;
  }
  return batches;
}

namespace {

constexpr std::int64_t kStepsPerWarmupStep = 10;  // of runs that end within the default warm-up

}  // namespace

SftOptions with_schedule(SftOptions options, std::span<const SftExample> examples) {
  if (options.steps == 0) {
    for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
      options.steps += std::ssize(sft_batches(examples, options, epoch));
    }
  }
  if (options.optimizer.schedule != Schedule::kConstant && options.optimizer.decay_until == 0) {
    OptimizerOptions& optimizer = options.optimizer;
    optimizer.decay_until = options.steps;
    const bool is_default = optimizer.warmup == SftOptions().optimizer.warmup;
    if (is_default && optimizer.warmup >= options.steps) {
      optimizer.warmup = options.steps / kStepsPerWarmupStep;
    }
  }
  check_options(options.optimizer);
  return options;
}

}  // namespace lie
