#include "tools/analyze/derived_curves.h"

#include <algorithm>
#include <cmath>

#include "learner/record/step_metrics.h"
#include "tools/analyze/curves.h"

namespace lie::analyze {
namespace {

/// Collects means by metric and step.
class Means {
 public:
  void add(const std::string& metric, std::int64_t step, double value) {
    auto& [sum, count] = sums_[metric][step];
    sum += value;
    ++count;
  }
  std::map<std::string, Curve> take() const {
    std::map<std::string, Curve> curves;
    for (const auto& [metric, steps] : sums_) {
      for (const auto& [step, entry] : steps) {
        curves[metric][step] = entry.first / static_cast<double>(entry.second);
      }
    }
    return curves;
  }

 private:
  std::map<std::string, std::map<std::int64_t, std::pair<double, std::int64_t>>> sums_;
};

void add_numbers(Means& means, const SampleColumns& s, std::size_t i, const std::string& prefix) {
  for (const NumberColumn& number : s.numbers) {
    if (std::isnan(number.values[i])) continue;
    means.add(prefix + number.name + "_mean", s.step[i], number.values[i]);
  }
}

double r_context(const SampleColumns& s, std::size_t i) {
  return s.ngrams[i] > 0
             ? static_cast<double>(s.distinct_ngrams[i]) / static_cast<double>(s.ngrams[i])
             : 1.0;
}

void add_response(Means& means, const SampleColumns& s, std::size_t i, const std::string& prefix) {
  const std::int64_t step = s.step[i];
  means.add(prefix + "accuracy", step, s.verdict[i] == 0 ? 1 : 0);
  means.add(prefix + "response_length_mean", step, s.tokens[i]);
  means.add(prefix + "c_context_mean", step, static_cast<double>(s.distinct_ngrams[i]));
  means.add(prefix + "r_context_mean", step, r_context(s, i));
  means.add(prefix + "truncation_rate", step, s.finish_reason[i] == 1 ? 1 : 0);
  add_numbers(means, s, i, prefix);
}

void add_rewards(Means& means, const SampleColumns& s, std::size_t i,
                 const std::vector<VerdictLine>& lines) {
  const std::int64_t step = s.step[i];
  means.add("reward_mean", step, s.reward[i]);
  for (const RewardColumn& term : s.rewards) {
    means.add("reward_" + term.name + "_mean", step, term.values[i]);
  }
  for (std::size_t code = 0; code < lines.size(); ++code) {
    means.add(lines[code].metric, step, s.verdict[i] == code ? 1 : 0);
  }
}

}  // namespace

std::map<std::string, Curve> derived_curves(const SampleColumns& samples) {
  Means means;
  const std::vector<VerdictLine> lines = verdict_lines();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    add_response(means, samples, i, samples.is_training(i) ? "" : "eval_");
    if (samples.is_training(i)) add_rewards(means, samples, i, lines);
  }
  return means.take();
}

}  // namespace lie::analyze
