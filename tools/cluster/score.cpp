#include "tools/cluster/score.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <span>
#include <vector>

#include "common/base/error.h"
#include "common/comm/host_cpus.h"
#include "common/process/program.h"
#include "common/text/counted.h"
#include "learner/trainer/packing.h"
#include "model/transformer/transformer.h"
#include "tools/cluster/commands.h"
#include "tools/cluster/described_policy.h"
#include "tools/cluster/row_arguments.h"
#include "tools/run/config/config_warnings.h"
#include "tools/run/config/devices.h"
#include "tools/run/input/token_rows.h"

namespace lie {
namespace {

std::int64_t tokens_of(const TokenRow& row) {
  return std::ssize(row.prompt_ids) + std::ssize(row.response_ids);
}

/// Token spans of the rows, and the indices of the rows that have a response to score.
struct Sequences {
  std::vector<SequenceTokens> tokens;
  std::vector<std::size_t> scored;
};

Sequences sequences_of(std::span<const TokenRow> rows) {
  Sequences all;
  for (const TokenRow& row : rows) {
    if (!row.response_ids.empty()) all.scored.push_back(all.tokens.size());
    all.tokens.push_back({row.prompt_ids, row.response_ids});
  }
  return all;
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
  flush_output(out);
}

void score_all(std::span<TokenRow> rows, Transformer& policy, const ScoreArguments& arguments,
               std::ostream& out) {
  const Sequences sequences = sequences_of(rows);
  const auto temperature = static_cast<float>(arguments.temperature);
  std::size_t written = 0;
  for (const MicroBatch& batch : pack(sequences.tokens, sequences.scored, arguments.batch_tokens)) {
    const std::size_t end = batch.sequences.back() + 1;
    write(rows.subspan(written, end - written), policy.forward(batch.packed, temperature, false),
          arguments.entropies, out);
    written = end;
  }
  write(rows.subspan(written), {}, arguments.entropies, out);  // rows without a response
}

}  // namespace

void score(const ScoreArguments& arguments, std::ostream& out) {
  const ModelConfig config = load_model_config(arguments.model.path);
  TokenRowReader reader(arguments.model.path, config, rows_of(arguments));
  std::vector<TokenRow> rows = reader.read(arguments.input, true);
  for (const std::string& remark : reader.remarks()) print_warning(remark);
  const std::string warning = template_warning(reader.template_name(), arguments.model.path);
  if (reader.has_rendered() && !warning.empty()) print_warning(warning);
  const auto operators = make_operators(arguments.model, static_cast<int>(usable_cpus().size()));
  Transformer policy = described_policy(arguments.model, *operators);
  const auto start = std::chrono::steady_clock::now();
  score_all(rows, policy, arguments, out);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::int64_t tokens = 0;
  for (const TokenRow& row : rows) tokens += tokens_of(row);
  std::cerr << fmt::format("{}, {} in {:.1f} s, {:.0f} tokens/s\n",
                           counted(std::ssize(rows), "row"), counted(tokens, "token"),
                           seconds.count(), static_cast<double>(tokens) / seconds.count());
}

void add_score(CLI::App& program, ProcessCommand& chosen) {
  const auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* command =
      program.add_subcommand("score", "Log-prob of every response token, as JSON lines");
  add_model_and_rows(*command, *arguments,
                     "prompt_ids and response_ids, or a prompt and a text response");
  add_number(*command, "--temperature", arguments->temperature,
             "Logits are divided by this before the softmax", 1e-6);
  command->add_flag("--entropies", arguments->entropies,
                    "Write the entropy of each distribution, too (nats)");
  add_integer(*command, "--batch-tokens", arguments->batch_tokens,
              "Tokens of one forward pass, at least one row. Results do not depend on it", 1);
  command->footer(
      "\nWrites each row with log_probs (nats, one for each response token); texts are encoded "
      "each by itself,\nand their ids are written, too.");
  command->callback([&chosen, arguments] { chosen = [=] { score(*arguments, std::cout); }; });
}

}  // namespace lie
