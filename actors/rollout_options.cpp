#include "actors/rollout_options.h"

#include <set>

#include "common/base/error.h"

namespace lie {

namespace {

constexpr std::int64_t kMostTokens = std::int64_t{1} << 31;  // of a prompt or a response

void add_drawing(FieldList& fields, SamplingOptions& options) {
  fields.add(
      "temperature", options.temperature,
      {.help = "Logits are divided by this. 0: greedy, always the likeliest token.", .min = 0});
  fields.add(
      "top_p", options.top_p,
      {.help = "Tokens are drawn from the likeliest ones that hold this share of the probability.",
       .min = 1e-6,
       .max = 1});
  fields.add("top_k", options.top_k,
             {.help = "Tokens are drawn from this many likeliest ones. 0: from all.", .min = 0});
}

void add_min_length(FieldList& fields, SamplingOptions& options) {
  fields.add("min_response_tokens", options.min_response_tokens,
             {.help = "Forced length: before this length the ends of sequence and "
                      "rollout.barred_ids are not drawn; the next token is drawn from the others.",
              .unit = "tokens",
              .min = 0});
}

void check_barred_ids(const RolloutOptions& options, const ModelConfig& model) {
  const std::vector<std::int32_t> ends = end_ids(options, model);
  std::set<std::int64_t> barred(ends.begin(), ends.end());
  for (const std::int64_t id : options.barred_ids) {
    if (id >= model.vocabulary) {
      fail("rollout.barred_ids has {}, but the model's vocabulary is {}", id, model.vocabulary);
    }
    barred.insert(id);
  }
  if (options.barred_ids.empty() || std::ssize(barred) < model.vocabulary) return;
  fail("rollout.barred_ids and the ends are all {} tokens of the model: bar fewer",
       model.vocabulary);
}

}  // namespace

void describe(FieldList& fields, SamplingOptions& options) {
  add_drawing(fields, options);
  fields.add("max_response_tokens", options.max_response_tokens,
             {.help = "Responses are cut at this length.",
              .unit = "tokens",
              .min = 1,
              .max = kMostTokens});
  add_min_length(fields, options);
}

void describe_evaluation(FieldList& fields, SamplingOptions& options) {
  add_drawing(fields, options);
  fields.add("max_response_tokens", options.max_response_tokens,
             {.help = "Responses are cut at this length. 0: rollout.max_response_tokens; in eval "
                      "32768, or fewer if the model has fewer positions.",
              .unit = "tokens",
              .min = 0,
              .max = kMostTokens});
  add_min_length(fields, options);
}

void describe(FieldList& fields, RolloutOptions& options) {
  fields.add(
      "slots", options.slots,
      {.help = "Responses an actor generates at once. On a CPU, a small model is faster with so "
               "few that their keys and values stay in the processor's cache.",
       .min = 1,
       .max = 65536});
  fields.add(
      "max_prompt_tokens", options.max_prompt_tokens,
      {.help = "Longer prompts lose their first tokens, except one that begins the sequence.",
       .unit = "tokens",
       .min = 1,
       .max = kMostTokens});
  fields.add(
      "prefill_tokens", options.prefill_tokens,
      {.help = "Tokens prefilled in one forward pass, in addition to the responses in flight.",
       .unit = "tokens",
       .min = 1});
  fields.add(
      "cache_mebibytes", options.cache_mebibytes,
      {.help = "Upper limit of an actor's KV cache; less is used where the slots need less. 0: "
               "the memory that the roles leave on a GPU, less a sixteenth; on the "
               "CPU 4096, or what one response needs if that is more.",
       .unit = "MiB",
       .min = 0});
  fields.add(
      "preemption", options.preemption,
      {"Responses begin as far as the KV cache is expected to hold them. If it runs full, the "
       "youngest response is preempted and re-prefilled later. false: a response begins once "
       "there are pages for the longest response."});
  fields.add(
      "end_of_sequence_ids", options.end_of_sequence_ids,
      {.help =
           "Token ids that end a response. If this and end_of_sequence_tokens are empty: the ends "
           "that the model's files and the prompt template name.",
       .min = 0});
  fields.add("end_of_sequence_tokens", options.end_of_sequence_tokens,
             {"Names of tokens that end a response, in addition to end_of_sequence_ids."});
  fields.add(
      "barred_ids", options.barred_ids,
      {.help = "Token ids that, like the ends, are not drawn before min_response_tokens: for "
               "example the token that begins an answer.",
       .min = 0});
  fields.add("in_flight_weights", options.in_flight_weights,
             {{"finish", InFlightWeights::kFinish},
              {"keep_cache", InFlightWeights::kKeepCache},
              {"recompute_cache", InFlightWeights::kRecomputeCache}},
             {.help = "What happens to responses in flight when there are new weights, with "
                      "rollout.max_staleness above 0. finish: they end under the old weights, and "
                      "the new ones wait. keep_cache: they continue under the new weights with the "
                      "KV cache that the old ones computed. recompute_cache: they continue after "
                      "the new weights have computed the KV cache again."});
  fields.add("pass_milliseconds", options.pass_milliseconds,
             {.help = "Minimum duration of an actor's forward pass, for measurements that give a "
                      "small model the timing of a large one. Changes no token.",
              .unit = "ms",
              .min = 0,
              .max = 60000});
}

void check_lengths(const SamplingOptions& options, std::string_view section) {
  if (options.min_response_tokens <= options.max_response_tokens) return;
  fail("{0}.min_response_tokens {1} is more than {0}.max_response_tokens {2}: lower it", section,
       options.min_response_tokens, options.max_response_tokens);
}

std::vector<std::int32_t> end_ids(const RolloutOptions& options, const ModelConfig& model) {
  if (options.end_of_sequence_ids.empty()) return model.end_of_sequence_ids;
  return {options.end_of_sequence_ids.begin(), options.end_of_sequence_ids.end()};
}

void check_fits_model(const RolloutOptions& options, const ModelConfig& model) {
  check_barred_ids(options, model);
  const std::int64_t longest = options.max_prompt_tokens + options.longest_response();
  if (longest <= model.max_positions) return;
  const std::int64_t trained = options.sampling.max_response_tokens;
  const std::int64_t evaluated = options.evaluation.max_response_tokens;
  const char* longer = trained > evaluated ? "rollout." : "evaluation.";
  fail(
      "rollout.max_prompt_tokens {} + {}max_response_tokens {} is more than the model's {} "
      "positions (max_position_embeddings in its config.json): lower them",
      options.max_prompt_tokens, trained == evaluated ? "" : longer, options.longest_response(),
      model.max_positions);
}

}  // namespace lie
