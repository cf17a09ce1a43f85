#include "actors/rollout_options.h"

#include "common/error.h"

namespace lie {

void describe(FieldList& fields, RolloutOptions& options) {
  fields.add("slots", options.slots,
             {.help = "Responses an actor generates at once.", .min = 1, .max = 65536});
  fields.add("max_prompt_tokens", options.max_prompt_tokens,
             {.help = "Longer prompts lose their first tokens.", .unit = "tokens", .min = 1});
  fields.add("prefill_tokens", options.prefill_tokens,
             {.help = "Prompt tokens read in one forward pass, beside the running responses.",
              .unit = "tokens",
              .min = 1});
  fields.add("cache_mebibytes", options.cache_mebibytes,
             {.help = "KV cache of an actor at most; less is taken where the slots need less.",
              .unit = "MiB",
              .min = 1});
  fields.add(
      "end_of_sequence_ids", options.end_of_sequence_ids,
      {.help = "Token ids that end a response; empty: those of the model's config.", .min = 0});
  describe(fields, options.sampling);
}

void check_fits_model(const RolloutOptions& options, const ModelConfig& model) {
  const std::int64_t longest = options.max_prompt_tokens + options.longest_response();
  if (longest <= model.max_positions) return;
  fail(
      "rollout.max_prompt_tokens {} + max_response_tokens {} is more than the model's {} positions "
      "(max_position_embeddings in its config.json): lower them",
      options.max_prompt_tokens, options.longest_response(), model.max_positions);
}

}  // namespace lie
