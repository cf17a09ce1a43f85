// Expectations about an answer in a box, in both modes of extraction.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <source_location>
#include <string_view>

#include "verifier/verify.h"

namespace lie::verifier_test {

/// Fails at the caller's line if the verdict is another, or if verify() and explain() differ.
inline void expect(bool equal, std::string_view gold, std::string_view answer,
                   std::source_location where = std::source_location::current()) {
  for (const ExtractionMode mode : {ExtractionMode::kReward, ExtractionMode::kLenient}) {
    VerifierOptions options;
    options.mode = mode;
    const std::string response = fmt::format("\\boxed{{{}}}", answer);
    const Verdict verdict = explain(gold, response, options);
    if (verdict.correct() == equal && verify(gold, response, options).code == verdict.code)
      continue;
    ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
        << gold << " against " << answer << ": " << verdict.reason << " " << verdict.gold_form
        << " " << verdict.answer_form;
  }
}

inline void expect_equal(std::string_view gold, std::string_view answer,
                         std::source_location where = std::source_location::current()) {
  expect(true, gold, answer, where);
}

inline void expect_different(std::string_view gold, std::string_view answer,
                             std::source_location where = std::source_location::current()) {
  expect(false, gold, answer, where);
}

}  // namespace lie::verifier_test
