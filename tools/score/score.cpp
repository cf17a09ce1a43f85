#include "tools/score/score.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <span>
#include <vector>

#include "common/comm/environment.h"
#include "common/error.h"
#include "model/transformer.h"
#include "tools/run/devices.h"
#include "tools/run/token_rows.h"

namespace lie {
namespace {

std::int64_t tokens_of(const TokenRow& row) {
  return std::ssize(row.prompt_ids) + std::ssize(row.response_ids);
}

void append(PackedBatch& batch, const TokenRow& row) {
  const auto first = static_cast<std::int32_t>(batch.tokens.size() + row.prompt_ids.size()) - 1;
  batch.tokens.insert(batch.tokens.end(), row.prompt_ids.begin(), row.prompt_ids.end());
  batch.tokens.insert(batch.tokens.end(), row.response_ids.begin(), row.response_ids.end());
  batch.starts.push_back(static_cast<std::int32_t>(batch.tokens.size()));
  for (std::int32_t i = 0; i < std::ssize(row.response_ids); ++i) batch.rows.push_back(first + i);
  batch.targets.insert(batch.targets.end(), row.response_ids.begin(), row.response_ids.end());
}

PackedBatch packed(std::span<const TokenRow> rows) {
  PackedBatch batch;
  batch.starts.push_back(0);
  for (const TokenRow& row : rows) append(batch, row);
  return batch;
}

/// How many of the rows go into the next forward pass.
std::size_t rows_of_a_pass(std::span<const TokenRow> rows, std::int64_t batch_tokens) {
  std::size_t count = 0;
  std::int64_t tokens = 0;
  while (count < rows.size() && (count == 0 || tokens + tokens_of(rows[count]) <= batch_tokens)) {
    tokens += tokens_of(rows[count++]);
  }
  return count;
}

void check_finite(const TokenRow& row, std::span<const float> log_probs) {
  if (std::ranges::all_of(log_probs, [](float x) { return std::isfinite(x); })) return;
  fail("{}: a log-prob is not finite: the weights are broken, or the temperature is too low",
       row.place);
}

void write(std::span<TokenRow> rows, const RowLogProbs& scored, bool entropies, std::ostream& out) {
  std::size_t at = 0;
  for (TokenRow& row : rows) {
    const std::size_t count = row.response_ids.size();
    const auto log_probs = std::span(scored.log_probs).subspan(at, count);
    check_finite(row, log_probs);
    row.fields["log_probs"] = short_numbers(log_probs);
    if (entropies) {
      row.fields["entropies"] = short_numbers(std::span(scored.entropies).subspan(at, count));
    }
    out << one_line(row.fields) << '\n';
    at += count;
  }
  if (!out.flush()) fail("standard output cannot be written; is the disk full?");
}

void score_all(std::span<TokenRow> rows, Transformer& policy, const ScoreArguments& arguments,
               std::ostream& out) {
  while (!rows.empty()) {
    const auto pass = rows.first(rows_of_a_pass(rows, arguments.batch_tokens));
    rows = rows.subspan(pass.size());
    const RowLogProbs scored =
        policy.forward(packed(pass), static_cast<float>(arguments.temperature), false);
    write(pass, scored, arguments.entropies, out);
  }
}

}  // namespace

void score(const ScoreArguments& arguments, std::ostream& out) {
  const ModelConfig config = load_model_config(arguments.model.path);
  TokenRowReader reader(arguments.model.path, config, arguments.add_special_tokens);
  std::vector<TokenRow> rows = reader.read(arguments.input, true);
  const auto operators = make_operators(arguments.model, static_cast<int>(usable_cpus().size()));
  Transformer policy = Transformer::fixed(load_weights(arguments.model.path), *operators);
  const auto start = std::chrono::steady_clock::now();
  score_all(rows, policy, arguments, out);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::int64_t tokens = 0;
  for (const TokenRow& row : rows) tokens += tokens_of(row);
  std::cerr << fmt::format("{} rows, {} tokens in {:.1f} s, {:.0f} tokens/s\n", rows.size(), tokens,
                           seconds.count(), static_cast<double>(tokens) / seconds.count());
}

}  // namespace lie
