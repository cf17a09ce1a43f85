// Sends the steps of learner 0 to the other learners, which train on the same groups. A step is
// two broadcasts: a header, then the groups as common/comm/wire.h packs them. A header without
// groups is the end of the source. With one learner nothing is sent.
#pragma once

#include <optional>

#include "common/base/stream.h"
#include "common/comm/collective/collective.h"
#include "learner/step.h"

namespace lie {

/// One learner's end: on learner 0 it returns each step of `own` after sending it to the others.
class SharedGroups : public Source<StepGroups> {
 public:
  /// Keeps references to both. `own`: on learner 0; null on the others.
  SharedGroups(Source<StepGroups>* own, Collective& learners) : own_(own), learners_(learners) {}
  std::optional<StepGroups> receive() override;

 private:
  Source<StepGroups>* own_;
  Collective& learners_;
};

}  // namespace lie
