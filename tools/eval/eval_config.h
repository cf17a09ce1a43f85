// All options of an evaluation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "actors/rollout_options.h"
#include "common/config/options.h"
#include "common/dataset/data_options.h"
#include "learner/schedule/tickets.h"
#include "rewards/coverage.h"
#include "rewards/program.h"
#include "tools/eval/eval_table.h"
#include "tools/run/config/model_options.h"
#include "tools/run/config/run_options.h"
#include "verifier/rules/options.h"

namespace lie::evaluation {

/// Settings of the section evaluation that training does not have.
struct EvalOptions {
  std::vector<std::string> sources;
  bool choice_patterns = false;
  bool write_texts = true;
};
void describe(FieldList& fields, EvalOptions& options);

struct EvalConfig {
  DirectoryOptions run{"runs/eval"};
  std::int64_t seed = 1;
  EvaluationOptions evaluation;
  EvalOptions eval;
  TableOptions table;
  ModelOptions model;
  std::vector<std::string> files;
  RowOptions data;
  bool keep_binding = false;
  RolloutOptions rollout;  // sampling equals evaluation
  CoverageOptions coverage;
  MetricCoverageOptions metric_coverage;
  VerifierOptions verifier;
  VerifierProgramOptions verifier_program;
  std::vector<std::string> former_keys = {};  // sentences about keys given by their former names
};
void describe(FieldList& fields, EvalConfig& config);

/// Reads a config and its overrides. Throws Error as load_config does.
EvalConfig load_eval_config(const std::filesystem::path& path,
                            std::span<const std::string> overrides);

/// Chooses the response limit if it is 0, and a prompt limit that leaves room for responses.
/// Removes budgets above the response limit.
void fit_to_model(EvalConfig& config, const ModelConfig& model);

}  // namespace lie::evaluation
