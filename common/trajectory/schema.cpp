#include "common/trajectory/schema.h"

#include <array>
#include <charconv>
#include <span>

#include "common/base/error.h"
#include "common/io/sha256.h"

namespace lie::schema {
namespace {

template <typename... Columns>
constexpr std::array<const ColumnInfo*, sizeof...(Columns)> all_of(const Columns&... columns) {
  return {&columns...};
}

constexpr auto kColumns = all_of(
    text::kBytes, prompt::kId, token::kId, token::kBehaviorLogProb, token::kLearnerLogProb,
    problem::kStep, problem::kGroup, problem::kPurpose, problem::kProblem, problem::kTextOffset,
    problem::kTextCount, problem::kGoldOffset, problem::kGoldCount, problem::kSourceOffset,
    problem::kSourceCount, problem::kPromptOffset, problem::kPromptCount, problem::kTokensDropped,
    problem::kReferenceLength, sample::kStep, sample::kProblem, sample::kGroup, sample::kSample,
    sample::kPurpose, sample::kPolicyVersion, sample::kTokenOffset, sample::kTokenCount,
    sample::kPromptOffset, sample::kPromptCount, sample::kFinishReason, sample::kVerdict,
    sample::kVerifySeconds, sample::kExtractedOffset, sample::kExtractedCount, sample::kReward,
    sample::kAdvantage, sample::kReferenceLength, sample::kTargetLength, sample::kDistinctNgrams,
    sample::kNgrams, sample::kLargestRepeat, sample::kSequenceLogRatio, sample::kClipped,
    sample::kMiniBatch, sample::kActorRank, sample::kRewardRank, step::kUnixTime, step::kSeconds,
    step::kGenerateSeconds, step::kUpdateSeconds, step::kTextEnd, step::kPromptEnd, step::kTokenEnd,
    step::kProblemEnd, step::kSampleEnd, step::kStep);

constexpr auto kTokenVersionColumns =
    all_of(version_run::kPolicyVersion, version_run::kTokens, sample::kVersionRunOffset,
           sample::kVersionRunCount, step::kVersionRunEnd);

constexpr const ColumnInfo* kDrawnGroupColumns[] = {&problem::kDrawnStep, &problem::kDrawnGroup};

}  // namespace

NamedColumn<float> reward_column(const std::string& name, std::string about) {
  return {"/sample/reward_" + name, std::move(about)};
}

NamedColumn<double> number_column(const std::string& name) {
  return {"/sample/" + name, "number of a reward or verifier program; NaN: no value"};
}

void for_each_column(const TrajectoryInfo& info,
                     const std::function<void(const ColumnInfo&)>& visit) {
  for (const ColumnInfo* column : kColumns) visit(*column);
  for (const auto& [name, about] : info.rewards) visit(F32(reward_column(name, about)));
  for (const std::string& name : info.numbers) visit(F64(number_column(name)));
  const auto visit_all = [&](std::span<const ColumnInfo* const> columns) {
    for (const ColumnInfo* column : columns) visit(*column);
  };
  if (info.token_versions) visit_all(kTokenVersionColumns);
  if (info.drawn_groups) visit_all(kDrawnGroupColumns);
}

std::uint64_t info_checksum(const TrajectoryInfo& info) {
  // Write the length before each text, so that different texts never give the same sequence.
  std::string all;
  const auto add = [&](const std::string& text) { all += fmt::format("{}:{}", text.size(), text); };
  for (const auto* text :
       {&info.build_id, &info.config, &info.model_sha256, &info.tokenizer_sha256}) {
    add(*text);
  }
  for (const auto& [name, about] : info.rewards) add(name), add(about);
  for (const std::string& name : info.numbers) add(name);
  all += fmt::format("{} {} {} {}", info.seed, info.learner_rank, info.learner_count,
                     info.starts_after_step);
  if (info.token_versions) all += " token_versions";
  if (info.drawn_groups) all += " drawn_groups";
  const std::string digits = sha256_hex(all).substr(0, 16);
  std::uint64_t checksum = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), checksum, 16);
  return checksum;
}

std::uint64_t chunk_rows(Table table) {
  switch (table) {
    case Table::kText: return 16384;
    case Table::kPrompt: return 4096;
    case Table::kToken: return 8192;  // each step rewrites the last, partly filled chunk
    case Table::kProblem: return 64;
    case Table::kSample:
    case Table::kVersionRun: return 256;
    case Table::kStep: return 64;
  }
  return 1;
}

}  // namespace lie::schema
