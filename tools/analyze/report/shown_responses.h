// The report's responses as JSON: a few of each run, and the answers of several runs to the same
// prompts.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/io/json.h"
#include "common/rollout/rollout.h"
#include "tools/analyze/responses.h"
#include "tools/analyze/run.h"

namespace lie::analyze {

/// Returns a decoder for each subject's first run.
std::vector<Decoder> decoders_of(std::span<const Subject> subjects);

/// Returns {step, problem, sample, verdict, correct, cut, prompt, text, answer, rewards} of
/// response i of run.samples. The last two are lists of [name, text]. Texts are cut after some
/// thousand characters.
Json response_json(const Run& run, const Decoder& decode, std::size_t i);

/// Returns [response] of training steps, by step: `count` of the first and of the last step, and
/// as many of each other step, but fewer, and of evenly spaced steps only, so that the list holds
/// about `most`.
Json shown_responses(const Run& run, const Decoder& decode, std::size_t count, std::size_t most);

/// Index of the answer in run.samples, by run.
using SharedPrompt = std::vector<std::size_t>;

/// Returns, by data source, prompts that all runs answered. For kEvaluate these are answers of the
/// last evaluation; for kTrain, the latest answers in training. The first response of a group
/// counts. About `most` prompts are chosen evenly, at least one of each source. Prompts match if
/// they have the same row, text and gold answer.
std::map<std::string, std::vector<SharedPrompt>> shared_prompts(std::span<const Run* const> runs,
                                                                Purpose purpose, std::size_t most);

/// Returns [{source, prompts: [[response of each subject's first run]]}]; empty if the runs share
/// no prompt.
Json shown_pairs(std::span<const Subject> subjects, std::span<const Decoder> decoders,
                 Purpose purpose, std::size_t most);

}  // namespace lie::analyze
