#include "learner/loss/surrogate/aggregation.h"

#include "common/base/error.h"

namespace lie {

const char* name_of(Aggregation aggregation) {
  switch (aggregation) {
    case Aggregation::kSequenceMean: return "sequence-mean-token-mean";
    case Aggregation::kTokenMean: return "token-mean";
    case Aggregation::kConstant: return "constant";
  }
  fail("policy loss: unknown aggregation");
}

double token_weight(Aggregation aggregation, double constant_divisor, const Denominators& whole,
                    std::int64_t tokens) {
  const double sequences = static_cast<double>(whole.sequences);
  switch (aggregation) {
    case Aggregation::kSequenceMean: return 1.0 / (sequences * static_cast<double>(tokens));
    case Aggregation::kTokenMean: return 1.0 / static_cast<double>(whole.tokens);
    case Aggregation::kConstant: return 1.0 / (sequences * constant_divisor);
  }
  fail("policy loss: unknown aggregation");
}

}  // namespace lie
