// The entropy term of the loss: entropy_coefficient times the mean token entropy, which is
// maximized.
#pragma once

#include <span>

#include "common/config/options.h"
#include "learner/loss/surrogate/sequence_input.h"

namespace lie {

struct EntropyTermOptions {
  double entropy_coefficient = 0;  // weight of the entropy bonus; 0: off
};
void describe(FieldList& fields, EntropyTermOptions& options);

/// Returns the term of a response, its weighted contribution to the mini-batch's loss. Overwrites
/// `d_entropies` [T] with its derivatives.
double entropy_term(const EntropyTermOptions& options, const SequenceInput& input,
                    std::span<float> d_entropies);

}  // namespace lie
