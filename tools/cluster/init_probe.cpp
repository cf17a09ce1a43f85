#include "tools/cluster/init_probe.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "actors/generator.h"
#include "common/comm/host_cpus.h"
#include "common/text/units.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/run/config/devices.h"
#include "tools/run/config/policy_config.h"
#include "tools/run/roles/group_progress.h"
#include "verifier/verify.h"

namespace lie {
namespace {

StartResponses tally_of(std::span<const RolloutGroup> groups, const Tokenizer& tokenizer) {
  StartResponses all{.prompts = std::ssize(groups)};
  double tokens = 0, words = 0;
  for (const RolloutGroup& group : groups) {
    const Prompt& prompt = group.ticket.prompt;
    std::int64_t correct = 0;
    for (const Response& response : group.responses) {
      const std::string text = tokenizer.response_text(response.ids);
      const bool is_cut = response.finish == FinishReason::kLength;
      correct += verify(prompt.gold, text, {}, prompt.text).correct() ? 1 : 0;
      all.cut += is_cut ? 1 : 0;
      if (!is_cut) all.longest = std::max(all.longest, std::ssize(response.ids));
      tokens += static_cast<double>(response.ids.size());
      words += static_cast<double>(split_words(text).size());
    }
    all.responses += std::ssize(group.responses);
    all.correct += correct;
    all.mixed += correct > 0 && correct < std::ssize(group.responses) ? 1 : 0;
  }
  all.mean_tokens = tokens / std::max(1.0, static_cast<double>(all.responses));
  all.words_per_token = words / std::max(1.0, tokens);
  return all;
}

}  // namespace

StartResponses sample_start(const ModelOptions& model, std::span<const Prompt> prompts,
                            std::int64_t samples, const RolloutOptions& rollout) {
  const Tokenizer tokenizer = Tokenizer::load(model.path);
  const auto operators = make_operators(model, static_cast<int>(usable_cpus().size()));
  Transformer policy = Transformer::fixed(model.path, *operators);
  const ModelConfig config = generation_config(model.path, tokenizer);
  log_choices(Log("init", 0), *operators, PassKind::kGeneration, config);
  Generator generator(policy, *operators, config, rollout, /*seed=*/1,
                      [&](const Prompt& prompt) { return tokenizer.encode(prompt.text); });
  for (std::int64_t group = 0; const Prompt& prompt : prompts) {
    generator.add(
        {.group = group++, .samples = static_cast<std::int32_t>(samples), .prompt = prompt});
  }
  GroupProgress progress(
      stderr, std::ssize(prompts), /*before=*/0,
      {.responses = samples * std::ssize(prompts), .limit = rollout.longest_response()});
  std::vector<RolloutGroup> groups;
  while (!generator.idle()) {
    std::vector<RolloutGroup> finished = generator.step();
    progress.sampled(generator.tokens_generated());
    for (RolloutGroup& group : finished) {
      progress.add(group);
      groups.push_back(std::move(group));
    }
  }
  progress.finish();
  return tally_of(groups, tokenizer);
}

}  // namespace lie
