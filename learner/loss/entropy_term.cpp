#include "learner/loss/entropy_term.h"

#include <algorithm>

namespace lie {

void describe(FieldList& fields, EntropyTermOptions& options) {
  fields.add("entropy_coefficient", options.entropy_coefficient,
             {"Weight of the mean token entropy, which is maximized. 0: off."});
}

double entropy_term(const EntropyTermOptions& options, const SequenceInput& input,
                    std::span<float> d_entropies) {
  const double slope = -input.weight * options.entropy_coefficient;
  std::ranges::fill(d_entropies, static_cast<float>(slope));
  double sum = 0;
  for (const float entropy : input.entropies) sum += static_cast<double>(entropy);
  return slope * sum;
}

}  // namespace lie
