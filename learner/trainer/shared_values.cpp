#include "learner/trainer/shared_values.h"

namespace lie {

void share_values(Collective& learners, std::span<float> values) {
  learners.all_reduce_sum(values);
  for (float& value : values)
    value += 0.0F;  // turns -0 into 0, as adding other learners' zeros does
}

}  // namespace lie
