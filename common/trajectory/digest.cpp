#include "common/trajectory/digest.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "common/io/sha256.h"

namespace lie {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
static_assert(std::endian::native == std::endian::little, "the digest is over little-endian bytes");

void add_value(Sha256& hash, auto value) { hash.update(std::as_bytes(std::span(&value, 1))); }

/// Adds a value as an element of a column.
template <typename T>
void add(Sha256& hash, const schema::Column<T>&, auto value) {
  add_value(hash, static_cast<T>(value));
}

/// Adds a text or sequence after its length.
void add_all(Sha256& hash, const auto& values) {
  add_value(hash, std::int64_t{std::ssize(values)});
  hash.update(std::as_bytes(std::span(values)));
}

void add_problem(Sha256& hash, const RolloutGroup& group) {
  namespace c = schema::problem;
  const Ticket& ticket = group.ticket;
  add(hash, c::kPurpose, ticket.purpose);
  add(hash, c::kStep, ticket.step);
  add(hash, c::kGroup, ticket.group);
  add(hash, c::kProblem, ticket.prompt.problem);
  add_all(hash, ticket.prompt.text);
  add_all(hash, ticket.prompt.gold);
  add_all(hash, ticket.prompt.data_source);
  add_all(hash, group.prompt_ids);
}

/// Hashes the steps of a run, whose files may differ in their reward terms and further numbers.
class RunHash {
 public:
  explicit RunHash(const RunReader& run) : rewards_(run.rewards()), numbers_(run.numbers()) {
    hash_.update("lie trajectories 1");
    for (const std::string& name : numbers_) add_all(hash_, name);
  }

  void add_group(const GroupRecord& group, const RewardNames& own_rewards) {
    const std::size_t samples = group.scored.scores.size();
    if (samples > 0) add_problem(hash_, group.scored.rollout);
    for (std::size_t i = 0; i < samples; ++i) {
      const Response& response = group.scored.rollout.responses[i];
      LearnerResult result = group.results.empty() ? LearnerResult() : group.results[i];
      result.log_probs.resize(response.ids.size(), kNone);
      add_response(group.scored, i, result, own_rewards);
      add_all(hash_, group.scored.scores[i].extracted);
      add_all(hash_, response.ids);
      add_all(hash_, response.behavior_log_probs);
      add_all(hash_, result.log_probs);
      if (!response.versions.empty()) add_all(hash_, response.versions);
    }
  }
  std::string hex_digest() { return hash_.hex_digest(); }

 private:
  void add_response(const ScoredGroup& group, std::size_t number, const LearnerResult& result,
                    const RewardNames& own_rewards) {
    namespace c = schema::sample;
    const Ticket& ticket = group.rollout.ticket;
    const Response& response = group.rollout.responses[number];
    const Score& score = group.scores[number];
    add(hash_, c::kSample, number);
    add(hash_, c::kPolicyVersion, ticket.policy_version);
    add(hash_, c::kTokenCount, response.ids.size());
    add(hash_, c::kPromptCount, group.rollout.prompt_ids.size());
    add(hash_, c::kFinishReason, response.finish);
    add(hash_, c::kVerdict, score.verdict);
    add(hash_, c::kExtractedCount, score.extracted.size());
    add_rewards(score, own_rewards);
    add(hash_, c::kReward, score.reward());
    add(hash_, c::kAdvantage, result.advantage);
    add(hash_, c::kReferenceLength, ticket.prompt.reference_length);
    add(hash_, c::kTargetLength, score.target_length);
    add(hash_, c::kDistinctNgrams, score.coverage.distinct_ngrams);
    add(hash_, c::kNgrams, score.coverage.ngrams);
    add(hash_, c::kLargestRepeat, score.coverage.largest_repeat);
    add(hash_, c::kSequenceLogRatio, result.sequence_log_ratio);
    add(hash_, c::kClipped, result.clipped);
    add(hash_, c::kMiniBatch, result.mini_batch);
    add_numbers(score);
  }

  void add_rewards(const Score& score, const RewardNames& own_rewards) {
    for (const RewardName& term : rewards_) {
      const auto own = std::ranges::find(own_rewards, term.name, &RewardName::name);
      const auto index = static_cast<std::size_t>(own - own_rewards.begin());
      add_value(hash_, index < own_rewards.size() ? score.rewards[index] : kNone);
    }
  }

  void add_numbers(const Score& score) {
    for (const std::string& name : numbers_) {
      const auto own = std::ranges::find(score.numbers, name, &NamedNumber::name);
      add_value(hash_, own != score.numbers.end() ? own->value : double{kNone});
    }
  }

  RewardNames rewards_;
  std::vector<std::string> numbers_;
  Sha256 hash_;
};

}  // namespace

std::string trajectories_digest(const RunReader& run) {
  std::set<std::pair<std::uint8_t, std::int64_t>> steps;  // with their purpose
  for (const auto& [key, segment, row, problem] : run.samples()) {
    steps.emplace(key.purpose, key.step);
  }
  RunHash hash(run);
  for (const auto& [purpose, step] : steps) {
    const RewardNames& rewards = run.log().info_of(step).rewards;
    for (const GroupRecord& group : run.log().read(step).groups) {
      const Purpose own = group.scored.rollout.ticket.purpose;
      if (static_cast<std::uint8_t>(own) == purpose) hash.add_group(group, rewards);
    }
  }
  return hash.hex_digest();
}

}  // namespace lie
