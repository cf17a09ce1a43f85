#include "learner/update/token_terms.h"

#include <cstddef>
#include <utility>

#include "learner/trainer/shared_values.h"

namespace lie {
namespace {

const Response& response_at(std::span<const ScoredGroup> groups, ResponseIndex index) {
  return groups[index.group].rollout.responses[index.sample];
}

void append(std::span<const float> values, std::vector<float>& all) {
  all.insert(all.end(), values.begin(), values.end());
}

std::vector<std::vector<float>*> values_of(TokenValues& values, std::size_t s) {
  std::vector<std::vector<float>*> all = {&values.log_probs[s], &values.entropies[s]};
  if (!values.teacher_log_probs.empty()) all.push_back(&values.teacher_log_probs[s]);
  return all;
}

void add_counts(std::vector<RuleCount> added, std::vector<RuleCount>& counts) {
  if (counts.empty()) return counts.swap(added);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i].selected += added[i].selected;
    counts[i].tokens += added[i].tokens;
  }
}

}  // namespace

void share_token_values(Collective& learners, std::span<const ScoredGroup> groups,
                        std::span<const ResponseIndex> mini_batch, TokenValues& values) {
  std::vector<float> all;
  for (std::size_t s = 0; s < mini_batch.size(); ++s) {
    const std::size_t tokens = response_at(groups, mini_batch[s]).ids.size();
    for (std::vector<float>* each : values_of(values, s)) {
      each->resize(tokens, 0.0F);
      append(*each, all);
    }
  }
  share_values(learners, all);
  auto next = all.begin();
  for (std::size_t s = 0; s < mini_batch.size(); ++s) {
    for (std::vector<float>* each : values_of(values, s)) {
      const auto count = static_cast<std::ptrdiff_t>(each->size());
      each->assign(next, next + count);
      next += count;
    }
  }
}

std::vector<std::vector<TokenTerm>> token_terms(const PolicyLossOptions& options,
                                                std::span<const ScoredGroup> groups,
                                                std::span<const GroupAdvantages> advantages,
                                                std::span<const ResponseIndex> mini_batch,
                                                const TokenValues& before, const RandomKey& draws,
                                                std::vector<RuleCount>& counts) {
  MiniBatchTokens tokens;
  tokens.draws = draws;
  std::vector<TokenTerm> all;
  std::vector<std::vector<TokenTerm>> terms(mini_batch.size());
  for (std::size_t s = 0; s < mini_batch.size(); ++s) {
    const Response& response = response_at(groups, mini_batch[s]);
    const double advantage = advantages[mini_batch[s].group].values[mini_batch[s].sample];
    terms[s].resize(response.ids.size(), {.advantage = advantage});
    if (!has_loss(options, response, advantages[mini_batch[s].group])) continue;
    append(options.recompute_old_log_probs ? before.log_probs[s] : response.behavior_log_probs,
           tokens.old_log_probs);
    append(response.behavior_log_probs, tokens.behavior_log_probs);
    if (reads_entropies(options)) append(before.entropies[s], tokens.entropies);
    if (!before.teacher_log_probs.empty()) {
      append(before.teacher_log_probs[s], tokens.teacher_log_probs);
    }
    all.insert(all.end(), terms[s].begin(), terms[s].end());
    tokens.starts.push_back(all.size());
  }
  add_counts(apply_rules(options, tokens, all), counts);
  auto next = all.begin();
  for (std::size_t s = 0; s < mini_batch.size(); ++s) {
    const GroupAdvantages& own = advantages[mini_batch[s].group];
    if (!has_loss(options, response_at(groups, mini_batch[s]), own)) continue;
    const auto count = std::ssize(terms[s]);
    terms[s].assign(next, next + count);
    next += count;
  }
  return terms;
}

}  // namespace lie
