#include "learner/loss/entropy_target.h"

#include <algorithm>

#include "common/base/error.h"

namespace lie {

void describe(FieldList& fields, EntropyTargetOptions& options) {
  fields.add(
      "nats", options.nats,
      {"Target of the mean token entropy (Skywork-OR1, arXiv:2505.22312, which uses 0.2): the "
       "coefficient of the entropy term adapts to it, and applies in steps whose entropy is "
       "not above the target. It costs a forward pass before the step's first update. 0: "
       "off, entropy_coefficient is constant.",
       "nats", 0});
  fields.add(
      "change", options.change,
      {"Entropy target: the coefficient rises by this after a step whose entropy is not above "
       "the target, and else falls by it, to at least 0.",
       "", 0});
}

void check_options(const EntropyTargetOptions& options) {
  if (!options.is_on() || options.change > 0) return;
  fail(
      "policy_loss.entropy_target.nats is {} and change is 0: the coefficient would stay at 0; set "
      "change above 0 (5e-3 is usual), or nats to 0",
      options.nats);
}

double applied_coefficient(const EntropyTargetOptions& options, double coefficient,
                           double entropy) {
  return entropy <= options.nats ? coefficient : 0.0;
}

double next_coefficient(const EntropyTargetOptions& options, double coefficient, double entropy) {
  if (entropy <= options.nats) return coefficient + options.change;
  return std::max(0.0, coefficient - options.change);
}

}  // namespace lie
