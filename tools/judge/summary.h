// Measured responses as a table by ranges of steps, as JSON, and how far two passes agree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/io/json.h"
#include "tools/judge/measures.h"
#include "tools/judge/sampled_responses.h"
#include "tools/statistics/intervals.h"

namespace lie::judge {

/// One response, measured once or twice.
struct Measured {
  std::int64_t step = 0;
  std::vector<Values> passes;
};

/// One measure of a range of steps, responses taken as independent. A response's value is the mean
/// of the passes that have one; a response without any is left out.
struct MeasureSummary {
  std::int64_t responses = 0;  // that have a value
  Estimate mean;               // with the bootstrap's 95 % interval over responses
  Estimate share;              // of responses with a value above 0 in any pass, with Wilson's
};
MeasureSummary summarize(std::span<const Measured> measured, const NumberRange& range,
                         std::size_t measure);

/// How far two passes agree in one measure, over the responses that both have.
struct Agreement {
  std::int64_t responses = 0;
  Estimate exact;      // share of equal values, with Wilson's interval
  double pearson = 0;  // correlation of the values; NaN where one pass is constant
  double kappa = 0;    // Cohen's, of whether the value is above 0; NaN where chance explains all
};
Agreement agreement(std::span<const Measured> measured, std::size_t measure);

/// Cohen's kappa of yes and no; NaN where both raters always say the same one.
double cohen_kappa(std::span<const std::pair<bool, bool>> ratings);

/// The first `measures` measures as rows, ranges of steps as columns: mean [interval].
std::string summary_table(const Sample& sample, std::span<const Measured> measured,
                          std::size_t measures);
/// A line per measure; empty where there is one pass.
std::string agreement_table(std::span<const Measured> measured);

/// [{"first_step", "last_step", "measures": {name: {...}}}, ...]
Json summary_json(const Sample& sample, std::span<const Measured> measured, std::size_t measures);
/// {name: {...}}, empty where there is one pass.
Json agreement_json(std::span<const Measured> measured);

}  // namespace lie::judge
