#include "learner/record/run_coverage.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "common/base/error.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 8> kMagic = {'L', 'I', 'E', 'C', 'O', 'V', '0', '1'};

/// Precedes the distinct n-grams of a counter in the file.
struct Header {
  std::int64_t ngram = 0, words = 0, ngrams = 0;
};
static_assert(sizeof(Header) == 24);

template <typename Value>
void write(std::ostream& out, const Value& value) {
  out.write(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename Value>
Value read(std::istream& in) {
  Value value = {};
  in.read(reinterpret_cast<char*>(&value), sizeof value);
  return value;
}

}  // namespace

void describe(FieldList& fields, GlobalCoverageOptions& options) {
  fields.add(
      "memory_mebibytes", options.memory_mebibytes,
      {.help = "Memory for the exact count of the run's distinct n-grams (C_global), per n. "
               "The count of a step may take as much again, and so may a checkpoint while it is "
               "written. Beyond it the counts are "
               "estimated, with a standard error of 0.2 %. An n-gram takes 14.3 bytes. "
               "Leave alone unless memory is short.",
       .unit = "MiB",
       .min = 1,
       .max = 1 << 20});
}

RunCoverage::RunCoverage(std::span<const CoverageStates> states,
                         const GlobalCoverageOptions& options) {
  for (const CoverageStates& kind : states) {
    names_.emplace_back(kind.suffix, counter_of(kind, options.memory_mebibytes << 20));
  }
}

/// Returns the index of the counter for `states`. Several names for the same n-grams share one.
std::size_t RunCoverage::counter_of(const CoverageStates& states, std::int64_t budget_bytes) {
  const auto found = std::ranges::find_if(counters_, [&](const Counter& counter) {
    return counter.ngram == states.ngram && counter.words == states.words;
  });
  const auto number = static_cast<std::size_t>(found - counters_.begin());
  if (found == counters_.end()) {
    const DistinctCount none(budget_bytes);
    counters_.push_back({.ngram = states.ngram, .words = states.words, .step = none, .run = none});
  }
  return number;
}

std::vector<GlobalCoverage> RunCoverage::add_step(std::span<const ScoredGroup> groups) {
  for (Counter& counter : counters_) counter.step.clear(), counter.step_ngrams = 0;
  for (const ScoredGroup& group : groups) {
    for (std::size_t i = 0; i < group.rollout.responses.size(); ++i) {
      const auto text = counts(true) ? std::string_view(group.texts.at(i)) : std::string_view();
      add(group.rollout.responses[i], text);
    }
  }
  std::vector<GlobalCoverage> counts;
  for (const auto& [suffix, number] : names_) {
    const auto& [ngram, words, step, run, step_ngrams, run_ngrams] = counters_[number];
    counts.push_back({.step_distinct = step.count(),
                      .step_ngrams = step_ngrams,
                      .run_distinct = run.count(),
                      .run_ngrams = run_ngrams,
                      .step_error = step.error(),
                      .run_error = run.error(),
                      .suffix = suffix});
  }
  return counts;
}

bool RunCoverage::counts(bool words) const {
  return std::ranges::find(counters_, words, &Counter::words) != counters_.end();
}

void RunCoverage::add(const Response& response, std::string_view text) {
  tokens_.clear(), words_.clear();
  if (counts(false)) append_unit_hashes(response.ids, tokens_);
  if (counts(true)) append_unit_hashes(text, words_);
  for (Counter& counter : counters_) count(counter, counter.words ? words_ : tokens_);
}

void RunCoverage::count(Counter& counter, std::span<const UnitHash> units) {
  ngram_keys(units, counter.ngram, keys_);
  counter.step.add(keys_);
  counter.run.add(keys_);
  counter.step_ngrams += std::ssize(keys_);
  counter.run_ngrams += std::ssize(keys_);
}

std::unique_ptr<CheckpointExtra> RunCoverage::copy() const {
  auto copy =
      std::make_unique<RunCoverage>(std::span<const CoverageStates>(), GlobalCoverageOptions());
  for (const Counter& counter : counters_) {
    copy->counters_.push_back({.ngram = counter.ngram,
                               .words = counter.words,
                               .step = DistinctCount(1 << 20),
                               .run = counter.run,
                               .run_ngrams = counter.run_ngrams});
  }
  return copy;
}

void RunCoverage::save(const fs::path& checkpoint) const {
  const fs::path path = checkpoint / kCoverageFile;
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  write(out, kMagic);
  for (const Counter& counter : counters_) {
    write(out, Header{counter.ngram, counter.words, counter.run_ngrams});
    counter.run.write(out);
  }
  out.close();
  if (!out) {
    fail("{}: cannot write it: {}; check the disk and its quota", path.string(),
         std::generic_category().message(errno));
  }
}

bool RunCoverage::restore(const fs::path& checkpoint) {
  const fs::path path = checkpoint / kCoverageFile;
  if (!fs::exists(path)) return false;
  std::ifstream in(path, std::ios::binary);
  if (read<std::array<char, 8>>(in) != kMagic) {
    fail("{}: not a coverage file of version 1; resume with the version that wrote it",
         path.string());
  }
  for (Counter& counter : counters_) {
    const auto header = read<Header>(in);
    if (in && (header.ngram != counter.ngram || (header.words != 0) != counter.words)) {
      fail("{}: counts other n-grams than the config; restore the coverage keys of the config",
           path.string());
    }
    counter.run_ngrams = header.ngrams;
    counter.run.read(in);
  }
  if (!in || in.peek() != std::ifstream::traits_type::eof()) {
    fail("{}: damaged; remove this checkpoint to resume from the preceding one", path.string());
  }
  return true;
}

}  // namespace lie
