#include "tools/plan/costs.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "actors/generator.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/comm/collective/collective.h"
#include "learner/update/update.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/run/config/devices.h"
#include "tools/run/roles/role_runners.h"

namespace lie::planning {
namespace {

constexpr double RankCosts::*kSeconds[] = {
    &RankCosts::prompt_token_seconds, &RankCosts::repack_seconds, &RankCosts::trained_token_seconds,
    &RankCosts::optimizer_seconds};

/// Returns whether there are items, and their `key` is at least 1 and ascends.
template <typename Item>
bool ascends(const std::vector<Item>& items, std::int64_t Item::*key) {
  const auto falls = [&](const Item& a, const Item& b) { return a.*key >= b.*key; };
  return !items.empty() && items.front().*key >= 1 &&
         std::ranges::adjacent_find(items, falls) == items.end();
}

/// Returns what is wrong with costs; empty if they can be used.
std::string fault_of(const Costs& costs) {
  if (!ascends(costs.ranks, &RankCosts::threads)) return "the threads of ranks are to ascend";
  bool is_positive = costs.bytes_per_second > 0;
  for (const RankCosts& rank : costs.ranks) {
    if (!ascends(rank.passes, &PassCost::rows)) return "the rows of passes are to ascend";
    for (const PassCost& pass : rank.passes) is_positive = is_positive && pass.seconds > 0;
    for (const auto member : kSeconds) is_positive = is_positive && rank.*member >= 0;
  }
  is_positive = is_positive && costs.scored_response_seconds >= 0 && costs.step_seconds >= 0;
  return is_positive ? "" : "a cost is negative, or a pass or the bandwidth is 0";
}

double between(double from, double to, double share) { return from + share * (to - from); }

/// Interpolates geometrically; 0 stays 0.
double between_geometrically(double from, double to, double share) {
  return from > 0 && to > 0 ? from * std::pow(to / from, share) : between(from, to, share);
}

RankCosts between(const RankCosts& from, const RankCosts& to, std::int64_t threads) {
  const double share =
      std::log(static_cast<double>(threads) / static_cast<double>(from.threads)) /
      std::log(static_cast<double>(to.threads) / static_cast<double>(from.threads));
  RankCosts costs{.threads = threads, .passes = from.passes};
  for (PassCost& pass : costs.passes) {
    pass.seconds = between_geometrically(pass.seconds, to.pass_seconds(pass.rows), share);
  }
  for (const auto member : kSeconds) {
    costs.*member = between_geometrically(from.*member, to.*member, share);
  }
  return costs;
}

}  // namespace

double RankCosts::pass_seconds(std::int64_t rows) const {
  if (rows <= passes.front().rows || passes.size() == 1) return passes.front().seconds;
  auto next = std::ranges::lower_bound(passes, rows, {}, &PassCost::rows);
  if (next == passes.end()) --next;
  const PassCost &low = *(next - 1), &high = *next;
  const double share =
      static_cast<double>(rows - low.rows) / static_cast<double>(high.rows - low.rows);
  return std::max(between(low.seconds, high.seconds, share), 0.0);
}

RankCosts Costs::with_threads(std::int64_t threads) const {
  const auto next = std::ranges::lower_bound(ranks, threads, {}, &RankCosts::threads);
  if (next == ranks.end()) return ranks.back();
  if (next == ranks.begin() || next->threads == threads) return *next;
  return between(*(next - 1), *next, threads);
}

Costs read_costs(const std::filesystem::path& path) {
  const Json file = read_json(path);
  Costs costs;
  std::string fault;
  try {
    costs = file.contains("costs") ? file["costs"].get<Costs>() : file.get<Costs>();
    fault = fault_of(costs);
  } catch (const Json::exception& error) {
    fault = error.what();
  }
  if (!fault.empty()) {
    fail("{}: costs: {}; lie_cluster plan --json writes such a file", path.string(), fault);
  }
  costs.origin = "given by " + path.string();
  return costs;
}

namespace {

constexpr std::int64_t kPasses = 64;           // timed passes for each number of responses
constexpr double kEnoughSeconds = 0.5;         // after this time fewer passes or repeats suffice
constexpr std::int64_t kTrainedTokens = 8192;  // tokens of the timed update
constexpr int kLeastRepeats = 3, kMostRepeats = 20;

/// Returns the least of several timings, since other load on the machine only ever adds time.
template <typename Measure>
double least_of_repeats(const Measure& measure) {
  const Stopwatch watch;
  double least = measure();
  for (int i = 1; i < kMostRepeats; ++i) {
    if (i >= kLeastRepeats && watch.seconds() > kEnoughSeconds) break;
    least = std::min(least, measure());
  }
  return least;
}

double seconds_of(const auto& work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

/// The policy, its reference and their operators with a given number of threads.
class Bench {
 public:
  Bench(const CalibrationWork& work, int threads)
      : work_(work),
        threads_(threads),
        tokenizer_(Tokenizer::load(work.config.model.path)),
        operators_(make_operators(work.config.model, threads)),
        weights_(load_weights(work.config.model.path, *operators_)),
        policy_(weights_) {}

  RankCosts measure() {
    RankCosts costs{.threads = threads_, .passes = {}};
    costs.repack_seconds =
        least_of_repeats([&] { return seconds_of([&] { policy_.weights_changed(); }); });
    const RolloutOptions& rollout = work_.config.rollout;
    const std::int64_t asked =
        work_.config.tickets.prompts_per_step * work_.config.tickets.samples_per_prompt;
    const std::int64_t most = std::max<std::int64_t>(std::min(rollout.slots, asked), 1);
    for (std::int64_t rows = 1; rows < most; rows *= 4) time_passes(rows, costs);
    time_passes(most, costs);
    time_update(costs);
    return costs;
  }

  /// Returns the seconds to score one response with one thread.
  double scored_response() {
    ScoringOptions options = scoring_options(work_.config);
    Scorer scorer(options, {});
    const auto decode = [&](std::span<const std::int32_t> ids) {
      return tokenizer_.decode(ids, /*skip_special=*/true);
    };
    const RolloutGroup group = rollout_of(0, work_.config.tickets.samples_per_prompt);
    const double seconds =
        least_of_repeats([&] { return seconds_of([&] { score_group(scorer, group, decode); }); });
    return seconds / static_cast<double>(group.responses.size());
  }

 private:
  /// Returns the prompt of a problem, repeated up to `tokens` tokens.
  std::vector<std::int32_t> prompt_ids(std::size_t problem, std::int64_t tokens) const {
    const Prompt& prompt = work_.prompts[problem % work_.prompts.size()];
    const std::vector<std::int32_t> ids = tokenizer_.encode(prompt.text);
    std::vector<std::int32_t> drawn_out(
        static_cast<std::size_t>(std::max<std::int64_t>(tokens, 1)));
    for (std::size_t i = 0; i < drawn_out.size(); ++i) drawn_out[i] = ids[i % ids.size()];
    return drawn_out;
  }

  /// Times passes in the middle of a typical response; no response ends during them.
  void time_passes(std::int64_t rows, RankCosts& costs) {
    const std::int64_t context = work_.prompt_tokens + work_.response_tokens / 2;
    RolloutOptions options = work_.config.rollout;
    options.slots = rows;
    options.end_of_sequence_ids = {-1};
    const std::int64_t fits = weights_.config().max_positions - options.longest_response();
    options.max_prompt_tokens = std::max<std::int64_t>(std::min(context, fits), 1);
    Generator generator(policy_, *operators_, weights_.config(), options, 1, [&](const Prompt& p) {
      return prompt_ids(static_cast<std::size_t>(p.problem), options.max_prompt_tokens);
    });
    generator.add({.samples = static_cast<std::int32_t>(rows), .prompt = {}});
    const double prefill = seconds_of([&] {
      while (generator.tokens_generated() == 0) generator.step();
    });
    double least = 0, spent = 0;
    for (std::int64_t pass = 0; pass < kPasses && spent < kEnoughSeconds; ++pass) {
      if (generator.idle()) break;
      const double seconds = seconds_of([&] { generator.step(); });
      least = pass == 0 ? seconds : std::min(least, seconds);
      spent += seconds;
    }
    costs.passes.push_back({rows, least});
    if (rows > 1) return;
    costs.prompt_token_seconds =
        std::max(prefill - least, 0.0) / static_cast<double>(options.max_prompt_tokens);
  }

  RolloutGroup rollout_of(std::int64_t group, std::int64_t samples) const {
    const auto problem = static_cast<std::size_t>(group) % work_.prompts.size();
    RolloutGroup rollout;
    rollout.ticket = {.step = 1,
                      .group = group,
                      .samples = static_cast<std::int32_t>(samples),
                      .prompt = work_.prompts[problem]};
    rollout.prompt_ids = prompt_ids(problem, work_.prompt_tokens);
    for (std::int64_t i = 0; i < samples; ++i) {
      Response& response = rollout.responses.emplace_back();
      response.ids = prompt_ids(problem, work_.response_tokens);
      response.behavior_log_probs.assign(response.ids.size(), -1.0F);
    }
    return rollout;
  }

  /// Returns groups of a mini-batch, as many as one update is timed with.
  std::vector<ScoredGroup> scored_groups() const {
    const std::int64_t samples = work_.config.tickets.samples_per_prompt;
    const std::int64_t of_group = samples * (work_.prompt_tokens + work_.response_tokens);
    const std::int64_t count = std::clamp<std::int64_t>(kTrainedTokens / of_group, 1,
                                                        work_.config.update.mini_batch_prompts);
    std::vector<ScoredGroup> groups(static_cast<std::size_t>(count));
    for (std::int64_t g = 0; g < count; ++g) {
      groups[static_cast<std::size_t>(g)].rollout = rollout_of(g, samples);
    }
    return groups;
  }

  void time_update(RankCosts& costs) {
    AdamW optimizer(work_.config.optimizer, weights_);
    const auto learners = solo_collective();
    std::optional<Transformer> reference;
    if (work_.config.policy_loss.kl_coefficient > 0) {
      reference.emplace(Transformer::fixed(work_.config.model.path, *operators_));
    }
    PolicyUpdater updater(
        {work_.config.update, work_.config.policy_loss, work_.config.rollout.sampling.temperature},
        {.weights = weights_,
         .policy = policy_,
         .reference = reference ? &*reference : nullptr,
         .optimizer = optimizer,
         .learners = *learners});
    const std::vector<ScoredGroup> groups = scored_groups();
    std::vector<GroupAdvantages> advantages(groups.size());
    std::int64_t tokens = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (std::size_t i = 0; i < groups[g].rollout.responses.size(); ++i) {
        advantages[g].values.push_back(i % 2 == 0 ? 1 : -1);
        tokens += sequence_tokens(groups, {g, i}).tokens();
      }
    }
    const auto epochs = work_.config.update.epochs;
    std::vector<double> optimizing;
    const double whole = least_of_repeats([&] {
      const Stopwatch watch;
      const StepUpdate update = updater.run(1, groups, advantages);
      optimizing.push_back(update.seconds.optimizer);
      return watch.seconds();
    });
    const double of_optimizer = std::ranges::min(optimizing);
    costs.optimizer_seconds = of_optimizer / static_cast<double>(epochs);
    costs.trained_token_seconds =
        std::max(whole - of_optimizer, 0.0) / static_cast<double>(tokens * epochs);
  }

  const CalibrationWork& work_;
  int threads_;
  Tokenizer tokenizer_;
  std::unique_ptr<Operators> operators_;
  Weights weights_;
  Transformer policy_;
};

}  // namespace

Costs measure_costs(const CalibrationWork& work, std::span<const int> threads) {
  const Stopwatch watch;
  Costs costs;
  for (const int count : threads) {
    Bench bench(work, count);
    costs.ranks.push_back(bench.measure());
    if (count == threads.front()) costs.scored_response_seconds = bench.scored_response();
  }
  costs.origin = fmt::format("measured on this machine in {:.1f} s", watch.seconds());
  return costs;
}

}  // namespace lie::planning
