#include "tools/replay/replay_stages.h"

#include "common/process/log.h"
#include "learner/record/off_policy.h"

namespace lie::replay {

void OffPolicyWarning::record(StepOutcome& step) {
  const double share = effective_sample_share(step.groups, step.update);
  if (share < least_) least_ = share, least_step_ = step.step;
  if (!(share < bound_) || warned_) return;
  warned_ = true;
  Log("learner", 0)
      .warn(
          "FAR OFF POLICY FROM STEP {} ON: the effective sample size is {:.3f} of the responses, "
          "below {}; the policy is far from the one that wrote the log, so further steps say "
          "little about a run that generates (effective_sample_share in metrics.jsonl)",
          step.step, share, bound_);
}

}  // namespace lie::replay
