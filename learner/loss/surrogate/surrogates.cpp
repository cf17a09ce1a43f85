#include "learner/loss/surrogate/surrogates.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace lie {
namespace {

template <typename Options, typename Visit>
void for_each_surrogate(Options& options, const Visit& visit) {
  std::apply([&](auto&... surrogate) { (visit(surrogate), ...); }, options.surrogates);
}

/// A surrogate's name, and its formulation.
struct Choice {
  std::string surrogate;
  Formulation formulation;
};

/// Returns what policy_loss.algorithm stands for; nothing for kCustom.
std::optional<Choice> meaning_of(const SurrogateOptions& options) {
  std::optional<Choice> meaning;
  for_each_surrogate(options, [&](const auto& surrogate) {
    for (const ShortForm& form : surrogate.kShortForms) {
      if (options.algorithm == form.name) meaning = {surrogate.kName, form.formulation};
    }
  });
  if (!meaning && options.algorithm != SurrogateOptions::kCustom) {
    fail("policy_loss.algorithm: unknown algorithm \"{}\"", options.algorithm);
  }
  return meaning;
}

/// Returns the choice of options that check_choice() accepts.
Choice choice_of(const SurrogateOptions& options) {
  Choice choice = {options.surrogate, {}};
  if (const std::optional<Choice> meaning = meaning_of(options)) {
    choice = *meaning;
  } else {
    choice.formulation.level = options.ratio_level.value();
  }
  if (options.aggregation) choice.formulation.aggregation = options.aggregation;
  return choice;
}

void check_key(std::string_view key, std::string_view value, std::string_view algorithm,
               std::string_view meaning) {
  if (value == kUnset || value == meaning) return;
  fail(
      "policy_loss.{0} is {1}, but policy_loss.algorithm {2} means {3}; set policy_loss.{0} to {4} "
      "or {3}, or policy_loss.algorithm to {5}",
      key, value, algorithm, meaning, kUnset, SurrogateOptions::kCustom);
}

void check_choice(const SurrogateOptions& options) {
  const std::optional<Choice> meaning = meaning_of(options);
  const char* level = options.ratio_level ? name_of(*options.ratio_level) : kUnset;
  if (meaning) {
    const Formulation& formulation = meaning->formulation;
    check_key("ratio_level", level, options.algorithm, name_of(formulation.level));
    if (options.aggregation && formulation.aggregation) {
      check_key("aggregation", name_of(*options.aggregation), options.algorithm,
                name_of(*formulation.aggregation));
    }
    check_key("surrogate", options.surrogate, options.algorithm, meaning->surrogate);
  } else if (!options.ratio_level || options.surrogate == kUnset) {
    fail(
        "policy_loss.algorithm is {}: set both policy_loss.ratio_level and policy_loss.surrogate, "
        "which it leaves open; they are {} and {}",
        options.algorithm, level, options.surrogate);
  }
}

/// Calls visit(options of the surrogate) for the chosen one.
template <typename Visit>
void visit_chosen(const SurrogateOptions& options, const Visit& visit) {
  const Choice choice = choice_of(options);
  for_each_surrogate(options, [&](const auto& surrogate) {
    if (choice.surrogate == surrogate.kName) visit(surrogate);
  });
}

template <typename Options>
void check_surrogate(const Options& options, RatioLevel level) {
  if constexpr (requires { Options::kOnlyLevel; }) {
    if (level != Options::kOnlyLevel) {
      fail(
          "policy_loss.ratio_level is {}, but the surrogate {} is defined only for {}; set it to "
          "that",
          name_of(level), options.kName, name_of(Options::kOnlyLevel));
    }
  }
  if constexpr (requires { check_options(options); }) check_options(options);
}

/// Adds the names, and sentences about them, of all short forms and surrogates.
struct Names {
  std::vector<std::string> algorithms, surrogates = {kUnset};
  std::string about_algorithms, about_surrogates;

  template <typename Options>
  void add(const Options& surrogate) {
    surrogates.emplace_back(surrogate.kName);
    about_surrogates += fmt::format(" {}: {}.", surrogate.kName, surrogate.kAbout);
    for (const ShortForm& form : surrogate.kShortForms) {
      algorithms.emplace_back(form.name);
      const auto& [level, aggregation] = form.formulation;
      about_algorithms += fmt::format(" {}: {}, {}", form.name, name_of(level), surrogate.kName);
      if (aggregation) about_algorithms += fmt::format(", aggregation {}", name_of(*aggregation));
      about_algorithms += ";";
    }
  }
};

}  // namespace

void describe(FieldList& fields, SurrogateOptions& options) {
  Names names;
  for_each_surrogate(options, [&](const auto& surrogate) { names.add(surrogate); });
  names.algorithms.emplace_back(SurrogateOptions::kCustom);
  fields.add_one_of("algorithm", options.algorithm, names.algorithms,
                    {"Short form for ratio_level and surrogate." + names.about_algorithms +
                     " custom: as these two keys say."});
  fields.add("ratio_level", options.ratio_level,
             {{kUnset, std::nullopt},
              {name_of(RatioLevel::kToken), RatioLevel::kToken},
              {name_of(RatioLevel::kSequence), RatioLevel::kSequence}},
             {"Importance ratio of a token: its own (token), or the length-normalized ratio of its "
              "response (sequence). auto: as algorithm says."});
  fields.add_one_of("surrogate", options.surrogate, names.surrogates,
                    {"Loss of a token from its importance ratio and advantage (formulas: "
                     "docs/design/method.md)." +
                     names.about_surrogates + " auto: as algorithm says."});
  for_each_surrogate(options, [&](auto& surrogate) { add_entry(fields, surrogate); });
}

void check_options(const SurrogateOptions& options) {
  check_choice(options);
  visit_chosen(options, [&](const auto& chosen) { check_surrogate(chosen, ratio_level(options)); });
}

RatioLevel ratio_level(const SurrogateOptions& options) {
  return choice_of(options).formulation.level;
}

Aggregation aggregation(const SurrogateOptions& options) {
  const std::optional<Aggregation> chosen = choice_of(options).formulation.aggregation;
  return chosen ? *chosen : chosen_surrogate(options).aggregations.front();
}

Surrogate chosen_surrogate(const SurrogateOptions& options) {
  Surrogate result;
  const Formulation formulation = choice_of(options).formulation;
  visit_chosen(options, [&](const auto& chosen) { result = surrogate(chosen, formulation); });
  return result;
}

std::string departure(const SurrogateOptions& options) {
  std::string text;
  const Formulation formulation = choice_of(options).formulation;
  visit_chosen(options, [&](const auto& chosen) {
    if constexpr (requires { departure(chosen, formulation); }) {
      text = departure(chosen, formulation);
    }
  });
  return text;
}

std::vector<std::string> idle_keys(const SurrogateOptions& options) {
  const std::string chosen = choice_of(options).surrogate;
  SurrogateOptions found = options, usual;
  FieldList fields, defaults;
  for_each_surrogate(found, [&](auto& surrogate) {
    if (surrogate.kName == chosen) return;
    add_entry(fields, surrogate);
    add_entry(defaults, usual.of<std::decay_t<decltype(surrogate)>>());
  });
  return differing_keys(fields, defaults);
}

std::string chosen_name(const SurrogateOptions& options) {
  if (options.algorithm != SurrogateOptions::kCustom) return options.algorithm;
  return fmt::format("{} with {} ratios", options.surrogate, name_of(ratio_level(options)));
}

}  // namespace lie
