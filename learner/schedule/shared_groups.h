// Every learner trains on the same groups: learner 0's source reaches the others, both ends. One
// step is two broadcasts from learner 0: a header, then the groups as common/comm/wire.h packs
// them; the end of the source is a header alone. A group of one learner sends nothing.
#pragma once

#include <optional>

#include "common/base/stream.h"
#include "common/comm/collective/collective.h"
#include "learner/step.h"

namespace lie {

/// Learner 0's end: passes on what `own` gives, and shows it to the others.
class SharedGroups : public Source<StepGroups> {
 public:
  /// Keeps references to both.
  SharedGroups(Source<StepGroups>& own, Collective& learners) : own_(own), learners_(learners) {}
  std::optional<StepGroups> receive() override;

 private:
  Source<StepGroups>& own_;
  Collective& learners_;
};

/// The end of the other learners.
class GroupsOfLearner0 : public Source<StepGroups> {
 public:
  explicit GroupsOfLearner0(Collective& learners) : learners_(learners) {}
  std::optional<StepGroups> receive() override;

 private:
  Collective& learners_;
};

}  // namespace lie
