// Dynamic sampling (DAPO, arXiv:2503.14476, section 3.2): groups that are all right or all wrong
// say nothing of which answer is better, and groups of further prompts take their place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"

namespace lie {

struct DynamicSamplingOptions {
  bool enabled = false;
  std::int64_t max_rounds = 10;
};
void describe(FieldList& fields, DynamicSamplingOptions& options);

/// Whether a group has right and wrong responses. By accuracy: a reward of length, for one, differs
/// within almost any group.
bool has_signal(const ScoredGroup& group);

/// How many prompts a step draws after these groups: as many as complete the `wanted` ones with
/// signal if these stay as frequent, at most `wanted`; 0 where they are complete. Depends on
/// nothing but the groups, hence on no layout.
std::int64_t prompts_of_next_round(std::span<const ScoredGroup> groups, std::int64_t wanted);

/// A step's groups, apart.
struct SelectedGroups {
  std::vector<ScoredGroup> trained;  // the first `wanted` with signal, or as many as there are
  std::vector<ScoredGroup> dropped;
};

/// Both in the order of `groups`.
SelectedGroups select_groups(std::vector<ScoredGroup> groups, std::int64_t wanted);

}  // namespace lie
