#include "tools/cluster/init_probe.h"

#include <algorithm>

#include "actors/generator.h"
#include "common/comm/environment.h"
#include "common/text/units.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/run/config/devices.h"
#include "tools/run/roles/group_progress.h"
#include "verifier/verify.h"

namespace lie {
namespace {

/// Adds up the responses of groups.
class Tally {
 public:
  explicit Tally(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// Returns the number of right responses.
  std::int64_t add(const RolloutGroup& group) {
    const std::int64_t right_before = total_.right;
    for (const Response& response : group.responses) add(response, group.ticket.prompt);
    const std::int64_t right = total_.right - right_before;
    ++total_.prompts;
    total_.mixed += right > 0 && right < std::ssize(group.responses) ? 1 : 0;
    return right;
  }

  StartResponses result() const {
    StartResponses all = total_;
    all.mean_tokens = tokens_ / std::max(1.0, static_cast<double>(all.responses));
    all.words_per_token = words_ / std::max(1.0, tokens_);
    return all;
  }

 private:
  void add(const Response& response, const Prompt& prompt) {
    const std::string text = tokenizer_.decode(response.ids, /*skip_special=*/true);
    const bool is_cut = response.finish == FinishReason::kLength;
    ++total_.responses;
    total_.right += verify(prompt.gold, text, {}, prompt.text).correct() ? 1 : 0;
    total_.cut += is_cut ? 1 : 0;
    if (!is_cut) total_.longest = std::max(total_.longest, std::ssize(response.ids));
    tokens_ += static_cast<double>(response.ids.size());
    words_ += static_cast<double>(split_words(text).size());
  }

  const Tokenizer& tokenizer_;
  StartResponses total_;
  double tokens_ = 0, words_ = 0;
};

}  // namespace

StartResponses sample_start(const ModelOptions& model, std::span<const Prompt> prompts,
                            std::int64_t samples, const RolloutOptions& rollout) {
  const Tokenizer tokenizer = Tokenizer::load(model.path);
  const auto operators = make_operators(model, static_cast<int>(usable_cpus().size()));
  Transformer policy = Transformer::fixed(model.path, *operators);
  Generator generator(policy, *operators, load_model_config(model.path), rollout, /*seed=*/1,
                      [&](const Prompt& prompt) { return tokenizer.encode(prompt.text); });
  for (std::int64_t group = 0; const Prompt& prompt : prompts) {
    generator.add(
        {.group = group++, .samples = static_cast<std::int32_t>(samples), .prompt = prompt});
  }
  Tally tally(tokenizer);
  GroupProgress progress(stderr, std::ssize(prompts), /*before=*/0);
  while (!generator.idle()) {
    for (const RolloutGroup& group : generator.step()) progress.add(group, tally.add(group));
    progress.sampled(generator.tokens_generated());
  }
  progress.finish();
  return tally.result();
}

}  // namespace lie
