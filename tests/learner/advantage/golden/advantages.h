// Made by make_advantages.py; do not edit.
#pragma once

#include <string>
#include <vector>

namespace lie::golden {

/// A group: the reward terms and verdict of each response, its advantages, and masses of the terms.
struct AdvantageGroup {
  std::vector<std::vector<float>> terms;
  std::vector<bool> correct;
  std::vector<double> values, mass;
};

/// The groups of a step, and the settings of their advantages.
struct AdvantageStep {
  std::vector<std::string> settings;
  std::vector<AdvantageGroup> groups;
};

// clang-format off
inline const std::vector<AdvantageStep> kAdvantageSteps = {
    {{"estimator=maxrl"}, {
      {{{1.00000000F, 0.00000000F}, {0.00000000F, 0.00000000F}, {0.00000000F, 0.00000000F}, {0.00000000F, 0.00000000F}}, {true, false, false, false}, {3, -1, -1, -1}, {6, 0}},
      {{{1.00000000F, 0.00000000F}, {1.00000000F, -0.250000000F}, {0.00000000F, -0.500000000F}, {0.00000000F, -0.125000000F}, {1.00000000F, 0.00000000F}}, {true, true, false, false, true}, {0.95833333333333348, 0.54166666666666674, -1.5416666666666667, -0.91666666666666674, 0.95833333333333348}, {4, 1.3333333333333335}},
      {{{0.00000000F, -1.50000000F}, {0.00000000F, -0.500000000F}}, {false, false}, {0, 0}, {0, 0}},
      {{{1.00000000F, -0.750000000F}, {0.00000000F, -1.50000000F}, {0.00000000F, -1.00000000F}}, {true, false, false}, {3, -2.25, -0.75000000000000022}, {4, 2.5}},
      {{{1.00000000F, -0.500000000F}, {1.00000000F, -0.500000000F}, {1.00000000F, -0.500000000F}}, {true, true, true}, {0, 0, 0}, {0, 0}},
    }},
};
// clang-format on

}  // namespace lie::golden
