// Sends the steps of learner 0 to the other learners, which train on the same groups. A step is two
// broadcasts: a header, then the groups as common/comm/wire.h packs them. A header without groups
// is the end of the source. With one learner nothing is sent.
#pragma once

#include <optional>

#include "common/base/stream.h"
#include "common/comm/collective/collective.h"
#include "learner/step.h"

namespace lie {

/// The sender on learner 0: returns each step of `own` after sending it to the other learners.
class SharedGroups : public Source<StepGroups> {
 public:
  /// Keeps references to both.
  SharedGroups(Source<StepGroups>& own, Collective& learners) : own_(own), learners_(learners) {}
  std::optional<StepGroups> receive() override;

 private:
  Source<StepGroups>& own_;
  Collective& learners_;
};

/// The receiver on the other learners.
class GroupsOfLearner0 : public Source<StepGroups> {
 public:
  explicit GroupsOfLearner0(Collective& learners) : learners_(learners) {}
  std::optional<StepGroups> receive() override;

 private:
  Collective& learners_;
};

}  // namespace lie
