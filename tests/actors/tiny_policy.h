// A random policy of a few thousand parameters, for tests.
#pragma once

#include <memory>
#include <string>

#include "actors/generator.h"
#include "model/operators.h"
#include "model/transformer.h"
#include "model/weights.h"

namespace lie {

inline ModelConfig tiny_model() {
  ModelConfig model;
  model.vocabulary = 40;
  model.width = 32;
  model.ffn_width = 48;
  model.layers = 2;
  model.heads = 4;
  model.kv_heads = 2;
  model.head_width = 16;
  model.max_positions = 256;
  model.initializer_range = 0.3;  // so that distributions are far from uniform
  model.end_of_sequence_ids = {3};
  return model;
}

struct TinyPolicy {
  ModelConfig model = tiny_model();
  std::unique_ptr<Operators> operators = make_cpu_operators(1);
  Weights weights = initial_weights(model, 5, *operators);
  Transformer transformer{weights};

  Generator generator(const RolloutOptions& options, std::uint64_t seed = 11);
};

/// A prompt's text is its token ids as characters: 'a' is 4, 'b' is 5, ...
inline std::vector<std::int32_t> encode_letters(const Prompt& prompt) {
  std::vector<std::int32_t> ids;
  for (const char letter : prompt.text) ids.push_back(letter - 'a' + 4);
  return ids;
}

inline Generator TinyPolicy::generator(const RolloutOptions& options, std::uint64_t seed) {
  return Generator(transformer, *operators, model, options, seed, encode_letters);
}

inline RolloutOptions tiny_rollout() {
  RolloutOptions options{.max_prompt_tokens = 64};
  options.sampling.max_response_tokens = 60;
  options.evaluation.max_response_tokens = 60;
  return options;
}

inline Ticket ticket_for(std::int64_t problem, std::string text, std::int32_t samples) {
  Ticket ticket{.step = 4, .group = problem, .samples = samples, .prompt = {}};
  ticket.prompt.problem = problem;
  ticket.prompt.text = std::move(text);
  return ticket;
}

}  // namespace lie
