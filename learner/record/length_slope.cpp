#include "learner/record/length_slope.h"

#include <cmath>

#include "common/base/arithmetic.h"

namespace lie {

void SlopeWithinGroups::add(std::span<const double> tokens, std::span<const double> correct) {
  const double middle = mean_of(tokens), accuracy = mean_of(correct);
  Sums sums;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    sums.lengths += (tokens[i] - middle) * (tokens[i] - middle);
    sums.products += (tokens[i] - middle) * (correct[i] - accuracy);
  }
  if (sums.lengths > 0) groups_.push_back(sums);
}

Slope SlopeWithinGroups::slope() const {
  double lengths = 0, products = 0;
  for (const Sums& sums : groups_) {
    lengths += sums.lengths;
    products += sums.products;
  }
  if (groups_.empty()) return {};
  Slope slope{.value = products / lengths, .groups = std::ssize(groups_)};
  if (groups_.size() < 2) return slope;
  double squares = 0;
  for (const Sums& sums : groups_) {
    const double score = sums.products - slope.value * sums.lengths;
    squares += score * score;
  }
  const auto count = static_cast<double>(groups_.size());
  slope.error = std::sqrt(squares * count / (count - 1)) / lengths;
  return slope;
}

}  // namespace lie
