// Measures one RL step: a Qwen3 model of 0.85 M parameters, 16 prompts x 8 samples of at most 256
// tokens, one update. rl_step.sh compares it with TRL's GRPOTrainer.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "actors/generator.h"
#include "common/base/error.h"
#include "learner/advantage/group_relative.h"
#include "learner/update/update.h"
#include "model/operators/operators.h"
#include "model/transformer/transformer.h"
#include "model/weights/weights.h"
#include "rewards/reward_worker.h"
#include "tests/bench/arguments.h"
#include "tests/bench/bench_model.h"
#include "tests/bench/instructions.h"

namespace {

using namespace lie;

constexpr std::int64_t kPrompts = 16;
constexpr std::int32_t kSamples = 8;
constexpr std::int32_t kPromptTokens = 16;
constexpr std::int64_t kResponseTokens = 256;

ModelConfig model_shape() {
  ModelConfig model = bench::bench_config();
  model.end_of_sequence_ids = {1};
  return model;
}

// Returns the prompts of rl_step_trl.py.
std::vector<std::int32_t> prompt_ids(const Prompt& prompt) {
  std::vector<std::int32_t> ids;
  for (std::int32_t i = 0; i < kPromptTokens; ++i) {
    ids.push_back(2 + (static_cast<std::int32_t>(prompt.problem) * 37 + i * 11) % 500);
  }
  return ids;
}

// Computes the reward of rl_step_trl.py, whether the first token is odd, here by the verifier.
std::string decode(std::span<const std::int32_t> ids) {
  std::string text;
  for (const std::int32_t id : ids) text += fmt::format("t{} ", id);
  return text + fmt::format("\\boxed{{{}}}", ids.front() % 2);
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct StepFigures {
  double generate_seconds = 0, reward_seconds = 0, update_seconds = 0, sync_seconds = 0;
  std::int64_t tokens = 0;
  UpdateSeconds update;
  double total() const { return generate_seconds + reward_seconds + update_seconds + sync_seconds; }
};

// Runs actor, reward worker and learner one after another in one thread.
class Step {
 public:
  Step(const ModelConfig& model, int threads, DType products, std::int64_t micro_batch_tokens,
       std::int64_t slots)
      : operators_(make_cpu_operators(threads, {}, products)),
        learners_(solo_collective()),
        trainer_({.max_micro_batch_tokens = micro_batch_tokens}, {.warmup = 0},
                 initial_weights(model, 1, *operators_), *learners_),
        generator_(trainer_.policy(), *operators_, model, rollout_options(slots), 1, prompt_ids),
        scorer_(scoring_options()),
        updater_(update_options(), trainer_) {}

  const Weights& weights() const { return trainer_.weights(); }

  StepFigures run(std::int64_t step) {
    StepFigures figures;
    double begun = seconds();
    const auto lap = [&begun] { return seconds() - std::exchange(begun, seconds()); };
    std::vector<RolloutGroup> groups = generate(step);
    figures.generate_seconds = lap();
    std::vector<ScoredGroup> scored;
    std::vector<GroupAdvantages> advantages;
    for (RolloutGroup& group : groups) {
      for (const Response& response : group.responses) figures.tokens += std::ssize(response.ids);
      scored.push_back(score_group(scorer_, std::move(group), decode));
      advantages.push_back(group_advantages(scored.back().scores, {}));
    }
    figures.reward_seconds = lap();
    figures.update = updater_.run(step, scored, advantages).seconds;
    figures.update_seconds = lap();
    trainer_.gather_weights();
    figures.sync_seconds = lap();
    return figures;
  }

 private:
  static RolloutOptions rollout_options(std::int64_t slots) {
    RolloutOptions options{.slots = slots, .max_prompt_tokens = kPromptTokens};
    options.sampling.max_response_tokens = kResponseTokens;
    options.evaluation = options.sampling;
    return options;
  }

  static ScoringOptions scoring_options() {
    ScoringOptions options{.max_response_tokens = kResponseTokens};
    options.rewards.of<LengthRewardOptions>().enabled = false;
    return options;
  }

  static UpdateOptions update_options() {
    UpdateOptions options;
    options.batch.mini_batch_prompts = kPrompts;
    options.loss.algorithm = "grpo";
    return options;
  }

  std::vector<RolloutGroup> generate(std::int64_t step) {
    for (std::int64_t row = 0; row < kPrompts; ++row) {
      Ticket ticket{.step = step, .group = row, .samples = kSamples, .prompt = {}};
      ticket.prompt.problem = row;
      ticket.prompt.gold = std::string("1");
      generator_.add(std::move(ticket));
    }
    std::vector<RolloutGroup> groups(kPrompts);
    while (!generator_.idle()) {
      for (RolloutGroup& group : generator_.step()) {
        groups[static_cast<std::size_t>(group.ticket.group)] = std::move(group);
      }
    }
    return groups;
  }

  std::unique_ptr<Operators> operators_;
  std::unique_ptr<Collective> learners_;
  ShardedTrainer trainer_;
  Generator generator_;
  Scorer scorer_;
  PolicyUpdater updater_;
};

void print(const StepFigures& f) {
  fmt::print(
      "step {:.3f} s = generate {:.3f} ({:.0f} tokens/s) + reward {:.4f} + update {:.3f} (forward "
      "{:.3f}, backward {:.3f}, optimizer {:.4f}; {:.0f} tokens/s) + repack {:.4f}; {} tokens\n",
      f.total(), f.generate_seconds, static_cast<double>(f.tokens) / f.generate_seconds,
      f.reward_seconds, f.update_seconds, f.update.forward, f.update.backward, f.update.optimizer,
      static_cast<double>(f.tokens) / f.update_seconds, f.sync_seconds, f.tokens);
}

struct Arguments {
  int steps = 5;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  std::int64_t micro_batch_tokens = 4096;
  std::int64_t slots = 32;  // at once; with all 128, keys and values leave the cache
  DType products = DType::kFloat32;
  std::string write_model;  // a directory; empty: none
};

void run(const Arguments& given) {
  Step step(model_shape(), given.threads, given.products, given.micro_batch_tokens, given.slots);
  if (!given.write_model.empty()) {
    std::filesystem::create_directories(given.write_model);
    save_weights(step.weights(), given.write_model);
    return;
  }
  print(step.run(1));  // warms up
  double sum = 0, best = 1e9, tokens = 0;
  for (int i = 0; i < given.steps; ++i) {
    const StepFigures figures = step.run(i + 2);
    print(figures);
    sum += figures.total();
    best = std::min(best, figures.total());
    tokens += static_cast<double>(figures.tokens);
  }
  fmt::print("lie seconds_per_step {:.3f} tokens_per_step {:.0f} best {:.3f} threads {}\n",
             sum / given.steps, tokens / given.steps, best, given.threads);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("One RL step on the shape that TRL is measured with");
  Arguments given;
  lie::bench::add_count(app, "--steps", given.steps);
  lie::bench::add_count(app, "--threads", given.threads);
  lie::bench::add_count(app, "--micro-batch-tokens", given.micro_batch_tokens);
  lie::bench::add_count(app, "--slots", given.slots);
  lie::bench::add_products(app, given.products);
  lie::bench::add_instructions(app);
  app.add_option("--write-model", given.write_model, "only write the model to this directory");
  return lie::bench::run_bench(app, argc, argv, [&] { run(given); });
}
