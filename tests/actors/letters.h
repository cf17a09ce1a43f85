// A random policy whose prompts are letters, for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "actors/generator.h"
#include "tests/tiny_model.h"

namespace lie::test {

/// A prompt's text is its token ids as characters: 'a' is 4, 'b' is 5, ...
inline std::vector<std::int32_t> encode_letters(const Prompt& prompt) {
  std::vector<std::int32_t> ids;
  for (const char letter : prompt.text) ids.push_back(letter - 'a' + 4);
  return ids;
}

struct LetterPolicy : TinyPolicy {
  explicit LetterPolicy(const TinyShape& shape = {},
                        std::unique_ptr<Operators> these = make_cpu_operators(1))
      : TinyPolicy(shape, 5, std::move(these)) {}

  Generator generator(const RolloutOptions& options, std::uint64_t seed = 11) {
    return Generator(transformer, *operators, weights.config(), options, seed, encode_letters);
  }
};

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

}  // namespace lie::test
