// The list of surrogates, and the choice of one of them and of the level of its importance ratio.
// To add a surrogate, write a pair of files and add a line to this list. Config keys, the values of
// policy_loss.algorithm and checks follow from it.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "common/config/options.h"
#include "learner/loss/surrogate/cispo.h"
#include "learner/loss/surrogate/clip.h"
#include "learner/loss/surrogate/dppo.h"
#include "learner/loss/surrogate/gmpo.h"
#include "learner/loss/surrogate/importance_ratio.h"
#include "learner/loss/surrogate/sapo.h"
#include "learner/loss/surrogate/surrogate.h"
#include "learner/loss/surrogate/vespo.h"

namespace lie {

/// The options of each surrogate. A type of the list has these members and functions:
/// - kName: its value of policy_loss.surrogate, and its config section within policy_loss
/// - kAbout: one short sentence for --help; the formula is in docs/design/method.md
/// - kShortForms: its values of policy_loss.algorithm
/// - describe() and surrogate(options, formulation)
/// - kHasSection = false, if its keys are in policy_loss itself
/// - departure(options, formulation), a warning if the settings differ from those of its paper
/// - kOnlyLevel, if it is defined for one level of the ratio only
/// - check_options(options), if options can contradict each other
using SurrogateList =
    std::tuple<ClipOptions, CispoOptions, SapoOptions, GmpoOptions, VespoOptions, DppoOptions>;

struct SurrogateOptions {
  static constexpr const char* kCustom = "custom";

  std::string algorithm = "gspo";              // a short form, or kCustom
  std::optional<RatioLevel> ratio_level = {};  // unset: that of the algorithm
  std::string surrogate = kUnset;              // kUnset: that of the algorithm
  SurrogateList surrogates = {};
  std::optional<Aggregation> aggregation = {};  // unset: that of the algorithm or the surrogate

  template <typename Options>
  Options& of() {
    return std::get<Options>(surrogates);
  }
  template <typename Options>
  const Options& of() const {
    return std::get<Options>(surrogates);
  }
};

void describe(FieldList& fields, SurrogateOptions& options);

/// Throws Error if algorithm, ratio_level, surrogate and aggregation contradict each other or leave
/// a choice open, or if the options of the chosen surrogate contradict each other.
void check_options(const SurrogateOptions& options);

/// Returns the level of the importance ratio that the options choose.
RatioLevel ratio_level(const SurrogateOptions& options);

/// Returns the aggregation that applies: that of the options, or the default.
Aggregation aggregation(const SurrogateOptions& options);

/// Returns the surrogate that the options choose, in the formulation that they choose.
Surrogate chosen_surrogate(const SurrogateOptions& options);

/// Returns a warning if the settings of the chosen surrogate differ from those of its paper, else
/// an empty text.
std::string departure(const SurrogateOptions& options);

/// Returns the keys of surrogates that are not chosen which differ from their defaults, and so have
/// no effect: "clip_low", "sapo.tau_positive".
std::vector<std::string> idle_keys(const SurrogateOptions& options);

/// Returns the options' choice in words for messages: "gspo", or "clip with token ratios".
std::string chosen_name(const SurrogateOptions& options);

}  // namespace lie
