// The layout of a trajectory file, schema version 2. Writer and reader share this description.
//
// There is one HDF5 file per learner rank and segment, with flat one-dimensional columns in tables.
// All columns of a table have the same number of rows. Nothing in a file changes once it is
// written. A step is complete when its row in /step exists. That row says how far the other tables
// reach.
//
// Strings are packed as UTF-8 into /text/bytes. The row that owns a string has its offset and
// count. (HDF5's variable-length strings are not safe to read while another process writes.) Each
// chunk of a column carries a Fletcher32 checksum, an HDF5 filter, which every program that reads
// it verifies.
//
// Besides the columns listed here, /sample has one for each reward term and one for each further
// number of a reward or verifier program. The table /version_run exists only if weights change
// in flight. If steps are complete with the first groups to arrive, /problem also names the step
// for which each group was drawn.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "common/trajectory/record.h"

namespace lie::schema {

inline constexpr std::int64_t kVersion = 2;

/// Tables, in the order in which a step is written.
enum class Table : std::uint8_t { kText, kPrompt, kToken, kProblem, kSample, kVersionRun, kStep };
inline constexpr std::size_t kTableCount = 7;

enum class ElementType : std::uint8_t { kUint8, kInt32, kInt64, kFloat32, kFloat64 };

/// The description of a column. `unit` and `about` are stored as its attributes.
struct ColumnInfo {
  Table table;
  ElementType type;
  const char* path;
  const char* unit;
  const char* about;
};

template <typename T>
constexpr ElementType element_type() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::kUint8;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::kInt32;
  if constexpr (std::is_same_v<T, std::int64_t>) return ElementType::kInt64;
  if constexpr (std::is_same_v<T, float>) return ElementType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return ElementType::kFloat64;
}

/// A column whose elements are read and written as T.
template <typename T>
struct Column : ColumnInfo {
  using Value = T;
  constexpr Column(Table t, const char* path_, const char* unit_, const char* about_)
      : ColumnInfo{t, element_type<T>(), path_, unit_, about_} {}
};

using U8 = Column<std::uint8_t>;
using I32 = Column<std::int32_t>;
using I64 = Column<std::int64_t>;
using F32 = Column<float>;
using F64 = Column<double>;

namespace text {
inline constexpr auto kT = Table::kText;
inline constexpr U8 kBytes{kT, "/text/bytes", "UTF-8", "all strings end to end"};
}  // namespace text

namespace prompt {
inline constexpr I32 kId{Table::kPrompt, "/prompt/id", "token id", "prompts as the model saw them"};
}  // namespace prompt

namespace token {
inline constexpr auto kT = Table::kToken;
inline constexpr I32 kId{kT, "/token/id", "token id", "responses, end of sequence included"};
inline constexpr F32 kBehaviorLogProb{kT, "/token/behavior_log_prob", "nats",
                                      "under the policy that sampled the token"};
inline constexpr F32 kLearnerLogProb{
    kT, "/token/learner_log_prob", "nats",
    "under the learner before the update that used the token; NaN: not trained on"};
}  // namespace token

/// One row per group: the problem.
namespace problem {
inline constexpr auto kT = Table::kProblem;
inline constexpr I64 kStep{kT, "/problem/step", "step", "as in /sample/step"};
inline constexpr I64 kGroup{kT, "/problem/group", "", "as in /sample/group"};
inline constexpr U8 kPurpose{kT, "/problem/purpose", "", "0 train, 1 evaluate"};
inline constexpr I64 kProblem{kT, "/problem/problem", "row", "row of the dataset, from 0"};
inline constexpr I64 kTextOffset{kT, "/problem/text_offset", "bytes",
                                 "prompt text, into /text/bytes"};
inline constexpr I32 kTextCount{kT, "/problem/text_count", "bytes", "prompt text"};
inline constexpr I64 kGoldOffset{kT, "/problem/gold_offset", "bytes",
                                 "correct answer, into /text/bytes"};
inline constexpr I32 kGoldCount{kT, "/problem/gold_count", "bytes", "correct answer"};
inline constexpr I64 kSourceOffset{kT, "/problem/data_source_offset", "bytes",
                                   "data source, into /text/bytes"};
inline constexpr I32 kSourceCount{kT, "/problem/data_source_count", "bytes", "data source"};
inline constexpr I64 kPromptOffset{kT, "/problem/prompt_offset", "tokens", "into /prompt/id"};
inline constexpr I32 kPromptCount{kT, "/problem/prompt_count", "tokens", "length of the prompt"};
inline constexpr I32 kTokensDropped{kT, "/problem/prompt_tokens_dropped", "tokens",
                                    "cut from the start of the prompt"};
inline constexpr F64 kReferenceLength{kT, "/problem/reference_length", "tokens",
                                      "L_ref; negative: unknown"};
// These two exist only if steps are complete with the first groups to arrive; -1 in evaluations.
inline constexpr I64 kDrawnStep{kT, "/problem/drawn_step", "step",
                                "step that drew the prompt and keys its random numbers"};
inline constexpr I64 kDrawnGroup{kT, "/problem/drawn_group", "",
                                 "number of the group in that step"};
}  // namespace problem

/// One row per response.
namespace sample {
inline constexpr auto kT = Table::kSample;
inline constexpr I64 kStep{kT, "/sample/step", "step",
                           "training step, from 1; evaluation before training: 0"};
inline constexpr I64 kProblem{kT, "/sample/problem", "row", "row of the dataset, from 0"};
inline constexpr I64 kGroup{kT, "/sample/group", "",
                            "position of the group in its step and purpose"};
inline constexpr I32 kSample{kT, "/sample/sample", "", "number of the response in its group"};
inline constexpr U8 kPurpose{kT, "/sample/purpose", "", "0 train, 1 evaluate"};
inline constexpr I64 kPolicyVersion{kT, "/sample/policy_version", "steps",
                                    "number of training steps in the weights that sampled it"};
inline constexpr I64 kTokenOffset{kT, "/sample/token_offset", "tokens", "into /token/*"};
inline constexpr I32 kTokenCount{kT, "/sample/token_count", "tokens",
                                 "response length L, end of sequence included"};
inline constexpr I64 kPromptOffset{kT, "/sample/prompt_offset", "tokens", "into /prompt/id"};
inline constexpr I32 kPromptCount{kT, "/sample/prompt_count", "tokens", "length of the prompt"};
inline constexpr U8 kFinishReason{kT, "/sample/finish_reason", "",
                                  "0 end of sequence, 1 length limit"};
inline constexpr U8 kVerdict{kT, "/sample/verdict", "",
                             "0 equal, 1 unequal, 2 no answer, 3 unparsable answer, 4 unparsable "
                             "gold, 5 out of budget, 6 undecided, 7 copied from the prompt"};
inline constexpr F32 kVerifySeconds{kT, "/sample/verify_seconds", "s", "duration of the verdict"};
inline constexpr I64 kExtractedOffset{kT, "/sample/extracted_offset", "bytes",
                                      "answer as found in the response, into /text/bytes"};
inline constexpr I32 kExtractedCount{kT, "/sample/extracted_count", "bytes",
                                     "answer as found in the response"};
inline constexpr F32 kReward{kT, "/sample/reward", "", "sum of the reward terms"};
inline constexpr F32 kAdvantage{kT, "/sample/advantage", "",
                                "by advantage.estimator; mini_batch says what was trained on"};
inline constexpr F64 kReferenceLength{kT, "/sample/reference_length", "tokens",
                                      "L_ref; negative: unknown"};
inline constexpr F64 kTargetLength{kT, "/sample/target_length", "tokens", "L_target"};
inline constexpr I64 kDistinctNgrams{kT, "/sample/distinct_ngrams", "n-grams", "C_context"};
inline constexpr I64 kNgrams{kT, "/sample/ngrams", "n-grams",
                             "all n-grams of the response; R_context = C_context / this, or 1"};
inline constexpr I32 kLargestRepeat{kT, "/sample/largest_repeat", "",
                                    "occurrences of the most frequent n-gram"};
inline constexpr F32 kSequenceLogRatio{
    kT, "/sample/sequence_log_ratio", "nats per token",
    "mean log-prob minus old log-prob when first trained on; old: the behavior policy's, or with "
    "recompute_old_log_probs the learner's before the step's first update"};
inline constexpr U8 kClipped{kT, "/sample/clipped", "",
                             "1: the surrogate leaves at least one token without gradient"};
inline constexpr I32 kMiniBatch{kT, "/sample/mini_batch", "",
                                "update of its step that used it, from 0; -1: not trained on"};
inline constexpr I32 kActorRank{kT, "/sample/actor_rank", "rank", "rank that generated it"};
inline constexpr I32 kRewardRank{kT, "/sample/reward_rank", "rank", "rank that scored it"};
// These two exist only if weights change in flight. policy_version is then that of the group's
// first token.
inline constexpr I64 kVersionRunOffset{kT, "/sample/version_run_offset", "runs",
                                       "into /version_run/*"};
inline constexpr I32 kVersionRunCount{kT, "/sample/version_run_count", "runs",
                                      "runs of tokens from weights of one version"};
}  // namespace sample

/// One row per run of a response's tokens that weights of one version sampled, in the order of the
/// tokens. The table exists only in files of runs whose weights change in flight.
namespace version_run {
inline constexpr auto kT = Table::kVersionRun;
inline constexpr I64 kPolicyVersion{
    kT, "/version_run/policy_version", "steps",
    "number of training steps in the weights that sampled the tokens"};
inline constexpr I64 kTokens{kT, "/version_run/tokens", "tokens", "length of the run"};
}  // namespace version_run

/// One row per step, whose existence makes the step complete.
namespace step {
inline constexpr auto kT = Table::kStep;
inline constexpr F64 kUnixTime{kT, "/step/unix_time", "s", "time of writing, since 1970"};
inline constexpr F64 kSeconds{kT, "/step/seconds", "s", "duration of the step"};
inline constexpr F64 kGenerateSeconds{kT, "/step/generate_seconds", "s", "time spent generating"};
inline constexpr F64 kUpdateSeconds{kT, "/step/update_seconds", "s", "time spent updating"};
inline constexpr I64 kTextEnd{kT, "/step/text_end", "bytes", "rows of /text after this step"};
inline constexpr I64 kPromptEnd{kT, "/step/prompt_end", "tokens",
                                "rows of /prompt after this step"};
inline constexpr I64 kTokenEnd{kT, "/step/token_end", "tokens", "rows of /token after this step"};
inline constexpr I64 kProblemEnd{kT, "/step/problem_end", "rows",
                                 "rows of /problem after this step"};
inline constexpr I64 kSampleEnd{kT, "/step/sample_end", "rows", "rows of /sample after this step"};
inline constexpr I64 kVersionRunEnd{kT, "/step/version_run_end", "runs",
                                    // only with /version_run
                                    "rows of /version_run after this step"};
inline constexpr I64 kStep{kT, "/step/step", "step", "number of the step; written last"};
}  // namespace step

/// The columns of /step that say how far each table reaches.
inline constexpr std::pair<Table, const I64*> kStepEnds[] = {
    {Table::kText, &step::kTextEnd},     {Table::kPrompt, &step::kPromptEnd},
    {Table::kToken, &step::kTokenEnd},   {Table::kProblem, &step::kProblemEnd},
    {Table::kSample, &step::kSampleEnd}, {Table::kVersionRun, &step::kVersionRunEnd},
};

/// A column of /sample whose name depends on the run. Owns the texts of its Column.
template <typename T>
class NamedColumn {
 public:
  using Value = T;
  NamedColumn(std::string path, std::string about)
      : path_(std::move(path)), about_(std::move(about)) {}
  /// The Column is valid as long as this object.
  operator Column<T>() const { return {Table::kSample, path_.c_str(), "", about_.c_str()}; }

 private:
  std::string path_, about_;
};

/// Returns /sample/reward_<name>: the values of one reward term.
NamedColumn<float> reward_column(const std::string& name, std::string about = "");

/// Returns /sample/<name>: a further number of a reward or verifier program.
NamedColumn<double> number_column(const std::string& name);

/// Calls `visit` with each column of a file, beginning with the columns that all files have.
void for_each_column(const TrajectoryInfo& info,
                     const std::function<void(const ColumnInfo&)>& visit);

/// Returns the number of elements per chunk of a table's columns.
std::uint64_t chunk_rows(Table table);

/// Returns the first 8 bytes of the SHA-256 of all fields.
std::uint64_t info_checksum(const TrajectoryInfo& info);

/// Attributes of the file's root. Texts are UTF-8 of fixed size, which h5py returns as bytes.
/// (Texts of variable size are in HDF5's heap, which has no checksum: a flipped bit there can crash
/// HDF5.)
namespace attribute {
inline constexpr const char* kSchemaVersion = "schema_version";  // int64
inline constexpr const char* kBuildId = "build_id";
inline constexpr const char* kConfig = "config";  // resolved, YAML
inline constexpr const char* kSeed = "seed";      // uint64
inline constexpr const char* kModelSha256 = "model_sha256";
inline constexpr const char* kTokenizerSha256 = "tokenizer_sha256";
inline constexpr const char* kLearnerRank = "learner_rank";    // int64, position among the learners
inline constexpr const char* kLearnerCount = "learner_count";  // int64
inline constexpr const char* kStartsAfter = "starts_after_step";  // int64
inline constexpr const char* kRewardTerms = "reward_terms";       // names, separated by commas
inline constexpr const char* kNumbers = "numbers";                // names, separated by commas
inline constexpr const char* kTokenVersions = "token_versions";  // int64 1; absent: no /version_run
inline constexpr const char* kDrawnGroups = "drawn_groups";  // int64 1; absent: no /problem/drawn_*
/// uint64, the first 8 bytes of the SHA-256 of the other attributes. Files of older builds lack it.
inline constexpr const char* kChecksum = "attributes_checksum";
}  // namespace attribute

}  // namespace lie::schema
