#include "learner/loss/token_rule/distillation.h"

#include "common/base/error.h"

namespace lie {
namespace {

/// A smaller difference may be rounding: most tokens of a trained model have a log-prob near 0.
constexpr double kLikelier = 1e-3;

}  // namespace

void describe(FieldList& fields, DistillationOptions& options) {
  fields.add("coefficient", options.coefficient,
             {"On-policy distillation: a token's advantage gains this times log p_teacher - log "
              "p_old. 1 is usual. 0: off, and the teacher takes no memory.",
              "", 0});
  fields.add("teacher", options.teacher,
             {"Hugging Face directory of the teacher, which must have the tokenizer of model.path.",
              "path"});
  fields.add(
      "with_rewards", options.with_rewards,
      {"On-policy distillation in addition to the advantages of rewards. false: instead of them."});
}

void check_options(const DistillationOptions& options) {
  if (!options.teacher.empty()) return;
  fail(
      "policy_loss.distillation.coefficient is {}, but policy_loss.distillation.teacher is not "
      "set: "
      "name the Hugging Face directory of the teacher",
      options.coefficient);
}

std::size_t apply(const DistillationOptions& options, const MiniBatchTokens& tokens,
                  std::span<TokenTerm> terms) {
  std::size_t likelier = 0;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const double difference = static_cast<double>(tokens.teacher_log_probs[t]) -
                              static_cast<double>(tokens.old_log_probs[t]);
    likelier += difference > kLikelier ? 1 : 0;
    if (!options.with_rewards) terms[t].advantage = 0;
    terms[t].advantage += options.coefficient * difference;
  }
  return likelier;
}

}  // namespace lie
