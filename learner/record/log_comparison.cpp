#include "learner/record/log_comparison.h"

#include <bit>
#include <cstring>
#include <vector>

#include "common/process/log.h"

namespace lie {
namespace {

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

bool group_has_logged_bits(const StepOutcome& step, std::size_t group) {
  const std::vector<LearnerResult>& logged = step.logged_results[group];
  for (std::size_t i = 0; i < logged.size(); ++i) {
    const auto advantage = static_cast<float>(step.advantages[group].values[i]);
    const auto& log_probs = step.update.responses[group][i].learner_log_probs;
    if (!same_bits(advantage, logged[i].advantage) || !same_bits(log_probs, logged[i].log_probs)) {
      return false;
    }
  }
  return true;
}

bool has_logged_bits(const StepOutcome& step) {
  for (std::size_t group = 0; group < step.logged_results.size(); ++group) {
    if (!group_has_logged_bits(step, group)) return false;
  }
  return true;
}

}  // namespace

void LogComparison::record(StepOutcome& step) {
  if (differs_ || has_logged_bits(step)) return;
  differs_ = true;
  Log("learner", 0)
      .warn(
          "FROM STEP {} ON, RELEARNED STEPS DIFFER FROM THE LOG: the run continues from weights "
          "that "
          "equal the logged run's up to rounding only, as after a change of machine, build or "
          "roles.learners; the log keeps the original values",
          step.step);
}

}  // namespace lie
