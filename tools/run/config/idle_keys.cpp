#include "tools/run/config/idle_keys.h"

#include <fmt/ranges.h>

#include <string_view>
#include <utility>

namespace lie {
namespace {

/// Collects warnings of keys without effect.
class IdleKeys {
 public:
  /// Adds the keys of a section. `why` also names what would give them an effect.
  void add(std::string_view section, const std::vector<std::string>& keys, std::string_view why) {
    if (keys.empty()) return;
    warnings_.push_back(fmt::format("{}: {} {} no effect, because {}", section,
                                    fmt::join(keys, ", "), keys.size() == 1 ? "has" : "have", why));
  }

  std::vector<std::string> take() { return std::move(warnings_); }

 private:
  std::vector<std::string> warnings_;
};

/// Returns the keys of a section that differ from their defaults.
template <typename Options>
std::vector<std::string> set_keys(Options options) {
  Options usual;
  FieldList found, defaults;
  describe(found, options);
  describe(defaults, usual);
  return differing_keys(found, defaults);
}

void add_loss(const PolicyLossOptions& loss, IdleKeys& idle) {
  std::vector<std::string> tis;
  if (loss.tis_level != TisLevel::kToken) tis.emplace_back("tis_level");
  if (loss.tis_beyond != BeyondCap::kTruncate) tis.emplace_back("tis_beyond");
  if (loss.tis_cap == 0) idle.add("policy_loss", tis, "tis_cap is 0; 2 is usual");
  if (loss.kl_coefficient == 0) {
    idle.add("policy_loss", set_keys(static_cast<const KlTermOptions&>(loss)),
             "kl_coefficient is 0; leave them out, or set it");
  }
  idle.add("policy_loss", idle_keys(static_cast<const SurrogateOptions&>(loss)),
           fmt::format("the loss is {}; leave them out, or choose another", chosen_name(loss)));
  idle.add("policy_loss", idle_keys(static_cast<const TokenRuleOptions&>(loss)),
           "the token rule is off; leave them out, or switch it on");
}

void add_optimizer(const OptimizerOptions& optimizer, IdleKeys& idle) {
  if (optimizer.schedule != Schedule::kConstant) return;
  std::vector<std::string> keys;
  if (optimizer.decay_until != 0) keys.emplace_back("decay_until");
  if (optimizer.min_ratio != 0) keys.emplace_back("min_ratio");
  idle.add("optimizer", keys,
           "schedule is constant; leave them out, or set it to linear or cosine");
}

void add_rewards(const RewardOptions& rewards, IdleKeys& idle) {
  for (const IdleTermKeys& term : idle_keys(rewards)) {
    idle.add("reward." + term.term, term.keys, term.why);
  }
}

void add_verifier(const VerifierOptions& verifier, IdleKeys& idle) {
  if (verifier.mode == ExtractionMode::kLenient) return;
  std::vector<std::string> keys;
  if (!verifier.lenient_latex) keys.emplace_back("lenient_latex");
  if (!verifier.lenient_plain) keys.emplace_back("lenient_plain");
  if (!verifier.choices.empty()) keys.emplace_back("choices");
  if (verifier.boxed_priority != 0) keys.emplace_back("boxed_priority");
  idle.add("verifier", keys, "mode is reward; leave them out, or set it to lenient");
}

void add_rollout(const TrainConfig& config, IdleKeys& idle) {
  const DynamicSamplingOptions& sampling = config.tickets.dynamic_sampling;
  if (!sampling.enabled) {
    idle.add("rollout.dynamic_sampling", set_keys(sampling),
             "enabled is false; leave them out, or set it to true");
  }
  std::vector<std::string> barred;
  if (!config.rollout.barred_ids.empty()) barred.emplace_back("barred_ids");
  if (config.rollout.evaluation.min_response_tokens > 0) return;
  idle.add("rollout", barred,
           "tokens are barred before evaluation.min_response_tokens only, which is 0; leave it "
           "out, or set that");
}

}  // namespace

std::vector<std::string> idle_key_warnings(const TrainConfig& config) {
  IdleKeys idle;
  add_loss(config.policy_loss, idle);
  idle.add("advantage", idle_keys(config.advantage),
           fmt::format("advantage.estimator is {}; leave them out, or choose another",
                       config.advantage.estimator));
  if (!trains_adapter(config.model.lora)) {
    idle.add("model.lora", set_keys(config.model.lora),
             "rank is 0, so all weights are trained; leave them out, or set rank");
  }
  add_optimizer(config.optimizer, idle);
  add_rewards(config.reward, idle);
  add_verifier(config.verifier, idle);
  add_rollout(config, idle);
  return idle.take();
}

}  // namespace lie
