#include "tools/plan/step_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "actors/generator.h"
#include "common/base/error.h"
#include "common/trajectory/run_reader.h"
#include "model/config/parameter_layout.h"
#include "model/transformer/kv_cache.h"

namespace lie::planning {

namespace {

/// The smallest length that the given share of the responses does not exceed.
std::int64_t quantile(std::span<const double> survivors, double share) {
  const auto first = std::ranges::find_if(survivors, [&](double s) { return s <= 1 - share; });
  return first - survivors.begin();
}

Lengths summed_up(std::vector<double> survivors, double prompt_mean) {
  Lengths lengths{.prompt_mean = prompt_mean, .survivors = std::move(survivors)};
  const auto& s = lengths.survivors;
  lengths.response_mean = std::accumulate(s.begin(), s.end(), 0.0);
  lengths.text = fmt::format("mean {:.0f}, median {}, 95 % {}, longest {} tokens",
                             lengths.response_mean, quantile(s, 0.5), quantile(s, 0.95), s.size());
  return lengths;
}

}  // namespace

Lengths logged_lengths(const std::filesystem::path& run_directory) {
  namespace c = schema::sample;
  const RunReader run(run_directory / "trajectories");
  std::vector<std::int32_t> tokens, prompts;
  run.read(std::array{run.into(tokens, c::kTokenCount), run.into(prompts, c::kPromptCount)});
  std::vector<double> survivors;
  double count = 0, prompt_tokens = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (run.samples()[i].key.purpose != 0) continue;
    const auto length = static_cast<std::size_t>(std::max(tokens[i], 1));
    if (survivors.size() < length) survivors.resize(length);
    ++survivors[length - 1];
    ++count;
    prompt_tokens += prompts[i];
  }
  if (count == 0) {
    fail("{} holds no response of a training step: name a run directory with such responses",
         run_directory.string());
  }
  double longer = 0;
  for (auto ended = survivors.rbegin(); ended != survivors.rend(); ++ended) {
    longer += *ended / count;
    *ended = longer;
  }
  Lengths lengths = summed_up(std::move(survivors), prompt_tokens / count);
  lengths.text = fmt::format("responses of {}: {}", run_directory.string(), lengths.text);
  return lengths;
}

Lengths log_normal_lengths(double median, double sigma, std::int64_t longest,
                           std::int64_t prompt_tokens) {
  std::vector<double> survivors = {1};
  for (std::int64_t t = 1; t < longest; ++t) {
    // A length is rounded, so that it exceeds t where the real number exceeds t + 1/2.
    const double z = std::log((static_cast<double>(t) + 0.5) / median) / std::max(sigma, 1e-9);
    survivors.push_back(0.5 * std::erfc(z / std::sqrt(2.0)));
  }
  while (survivors.size() > 1 && survivors.back() < 1e-12) survivors.pop_back();
  return summed_up(std::move(survivors), static_cast<double>(prompt_tokens));
}

namespace {

/// Returns how many responses an actor runs at once, by the generator's rule of admission
/// (actors/generator.h): as many as the KV cache holds at half their mean length, or without
/// preemption each at its longest.
std::int64_t responses_admitted(const TrainConfig& config, const ModelConfig& model, DType cached,
                                const Lengths& lengths) {
  const RolloutOptions& rollout = config.rollout;
  const std::int64_t samples = config.tickets.samples_per_prompt;
  const auto prompt = std::max<std::int64_t>(std::llround(lengths.prompt_mean), 1);
  const std::int64_t held =
      rollout.preemption ? std::llround(lengths.response_mean / 2) : rollout.longest_response();
  const std::int64_t of_sample = KvCache::pages_for(prompt + held) - prompt / KvCache::kPageTokens;
  const std::int64_t of_group = samples * of_sample + KvCache::pages_for(prompt);
  const std::int64_t admitted = kv_cache_pages(model, rollout, cached) * samples / of_group;
  return std::clamp<std::int64_t>(admitted, 1, rollout.slots);
}

/// The seconds in which `running` responses that start together end, given the share of them that
/// is still running after each token. A pass takes place where any of them is.
double tail_seconds(const RankCosts& costs, double running, const std::vector<double>& survivors) {
  double seconds = 0;
  for (const double share : survivors) {
    const double any = 1 - std::pow(1 - std::min(share, 1.0), running);
    if (any <= 0) break;
    seconds += any * costs.pass_seconds(std::llround(std::max(running * share / any, 1.0)));
  }
  return seconds;
}

/// Survivors of what is left of a response at a random moment of its life.
std::vector<double> residual(const Lengths& lengths) {
  std::vector<double> left(lengths.survivors.size());
  double longer = 0;
  for (std::size_t t = left.size(); t-- > 0;) {
    longer += lengths.survivors[t] / lengths.response_mean;
    left[t] = longer;
  }
  return left;
}

double forward_seconds(const RankCosts& costs, double responses, double in_flight,
                       const Lengths& lengths) {
  if (responses <= in_flight) return tail_seconds(costs, responses, lengths.survivors);
  const std::vector<double> left = residual(lengths);
  const double tail_tokens = in_flight * std::accumulate(left.begin(), left.end(), 0.0);
  const double full_tokens = std::max(responses * lengths.response_mean - tail_tokens, 0.0);
  const double full_pass = costs.pass_seconds(std::llround(in_flight));
  return full_tokens / in_flight * full_pass + tail_seconds(costs, in_flight, left);
}

RankCosts costs_of_role(const Costs& costs, const Machine& machine, const RoleLayout& layout,
                        Role role) {
  const std::int64_t threads =
      machine.threads > 0 ? machine.threads : layout.threads(layout.ranks(role).front(), role);
  return costs.with_threads(threads);
}

/// How many actors receive weights by broadcast; none in a world of one rank.
double receivers(const Machine& machine, const RoleLayout& layout) {
  if (layout.places.size() == 1) return 0;
  if (!machine.shares_weights) return static_cast<double>(layout.actors.size());
  std::set<std::string> hosts;
  for (const int actor : layout.actors) {
    hosts.insert(layout.places[static_cast<std::size_t>(actor)].host);
  }
  return static_cast<double>(hosts.size());
}

/// One exchange between learners: gradient sums along a tree, then each one's part of the weights.
double exchange_seconds(const Workload& work, const Costs& costs, double learners) {
  if (learners < 2) return 0;
  return (std::ceil(std::log2(learners)) + 1) * work.gradient_bytes / costs.bytes_per_second;
}

double core_seconds(const Costs& costs, const Machine& machine, const RoleLayout& layout,
                    double generate, double update) {
  const auto work = [&](Role role, double seconds) {
    const auto threads = costs_of_role(costs, machine, layout, role).threads;
    return static_cast<double>(layout.ranks(role).size()) * static_cast<double>(threads) * seconds;
  };
  return work(Role::kActor, generate) + work(Role::kLearner, update);
}

double hosts(const Machine& machine, const RoleLayout& layout) {
  if (machine.ranks_per_host == 0) return 1;
  return std::ceil(static_cast<double>(layout.places.size()) /
                   static_cast<double>(machine.ranks_per_host));
}

/// Where no core is shared each rank has one of its own.
RankPlace place_of(const Machine& machine, std::int64_t rank) {
  const std::int64_t host = machine.ranks_per_host > 0 ? rank / machine.ranks_per_host : 0;
  RankPlace place{fmt::format("host {}", host), {static_cast<int>(rank)}};
  if (machine.cores > 0) {
    place.cpus.resize(static_cast<std::size_t>(machine.cores));
    std::iota(place.cpus.begin(), place.cpus.end(), 0);
  }
  return place;
}

}  // namespace

Workload workload_of(const TrainConfig& config, const ModelConfig& model, DType cached,
                     const Lengths& lengths) {
  if (config.tickets.dynamic_sampling.enabled) {
    fail(
        "rollout.dynamic_sampling.enabled: how many prompts a step draws depends on its answers, "
        "which a plan does not know; plan with --set rollout.dynamic_sampling.enabled=false and "
        "rollout.prompts_per_step at what is drawn");
  }
  const auto elements = static_cast<double>(flat_elements(parameter_layout(model)));
  return {.prompts = static_cast<double>(config.tickets.prompts_per_step),
          .samples_per_prompt = static_cast<double>(config.tickets.samples_per_prompt),
          .max_staleness = config.tickets.max_staleness,
          .in_flight = responses_admitted(config, model, cached, lengths),
          .mini_batch_prompts = static_cast<double>(config.update.mini_batch_prompts),
          .epochs = static_cast<double>(config.update.epochs),
          .weights_bytes = elements * static_cast<double>(dtype_bytes(config.weight_sync.weights)),
          .gradient_bytes = elements * sizeof(float),
          .gradient_shards = config.update.gradient_shards};
}

RoleLayout layout_of(const RolesOptions& roles, const Machine& machine, std::int64_t ranks,
                     std::int64_t gradient_shards) {
  std::vector<RankPlace> places;
  for (std::int64_t rank = 0; rank < ranks; ++rank) places.push_back(place_of(machine, rank));
  return plan_roles(roles, std::move(places), gradient_shards);
}

StepTime step_time(const Workload& work, const Costs& costs, const Lengths& lengths,
                   const Machine& machine, const RoleLayout& layout) {
  const auto actors = static_cast<double>(layout.actors.size());
  const auto workers = static_cast<double>(layout.reward_workers.size());
  const auto learners = static_cast<double>(layout.learners.size());
  const RankCosts actor = costs_of_role(costs, machine, layout, Role::kActor);
  const RankCosts learner = costs_of_role(costs, machine, layout, Role::kLearner);
  const double responses = work.prompts * work.samples_per_prompt;
  const double response_tokens = responses * lengths.response_mean;

  const double acting =
      forward_seconds(actor, responses / actors, static_cast<double>(work.in_flight), lengths) +
      work.prompts / actors * lengths.prompt_mean * actor.prompt_token_seconds +
      actor.repack_seconds;
  const double scoring = responses * costs.scored_response_seconds / std::max(workers, 1.0);
  const double last_group = work.samples_per_prompt * costs.scored_response_seconds;
  const double updates = work.epochs * std::ceil(work.prompts / work.mini_batch_prompts);
  const double trained_tokens = work.epochs * (response_tokens + responses * lengths.prompt_mean);

  StepTime time;
  time.generate = std::max(acting + last_group, scoring);
  time.update =
      trained_tokens / learners * learner.trained_token_seconds +
      updates * (learner.optimizer_seconds / learners + exchange_seconds(work, costs, learners));
  time.publish =
      std::min(receivers(machine, layout), 2.0) * work.weights_bytes / costs.bytes_per_second;
  const double learning = time.update + time.publish + costs.step_seconds;
  if (work.max_staleness == 0) {
    time.step = time.generate + learning;
  } else {
    const double all = core_seconds(costs, machine, layout, acting, time.update);
    const double cores = static_cast<double>(machine.cores) * hosts(machine, layout);
    time.step = std::max({time.generate, learning, cores > 0 ? all / cores : 0.0});
  }
  time.tokens_per_second = response_tokens / time.step;
  time.idle_actor = 1 - acting / time.step;
  time.idle_reward_worker = 1 - scoring / time.step;
  time.idle_learner = std::max(1 - learning / time.step, 0.0);
  return time;
}

}  // namespace lie::planning
