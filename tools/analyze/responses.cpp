#include "tools/analyze/responses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "common/base/error.h"
#include "common/text/printable.h"
#include "model/tokenizer/tokenizer.h"
#include "model/tokenizer/unicode.h"
#include "tools/analyze/curves.h"
#include "tools/analyze/table.h"

namespace lie::analyze {

namespace {

namespace fs = std::filesystem;

std::string as_numbers(std::span<const std::int32_t> ids) {
  return fmt::format("token ids {}", fmt::join(ids, " "));
}

fs::path tokenizer_directory(const Run& run) {
  if (run.checkpoint && fs::exists(*run.checkpoint / "tokenizer.json")) return *run.checkpoint;
  const fs::path start = setting_of(run, "model.path");
  return !start.empty() && fs::exists(start / "tokenizer.json") ? start : fs::path();
}

}  // namespace

Decoder decoder_of(const Run& run) {
  const fs::path directory = tokenizer_directory(run);
  if (directory.empty()) return as_numbers;
  const auto tokenizer = std::make_shared<const Tokenizer>(Tokenizer::load(directory));
  return [tokenizer](std::span<const std::int32_t> ids) { return tokenizer->decode(ids, false); };
}

namespace {

/// Returns text that is safe to print on a terminal.
std::string shown(std::string_view text) { return printable(repair_utf8(text)); }

}  // namespace

std::vector<std::size_t> responses_of_step(const Run& run, std::int64_t step, std::size_t count) {
  // In the canonical order training responses come first, by step.
  const auto trained = std::ranges::partition_point(
      run.samples.purpose, [](std::uint8_t purpose) { return purpose == 0; });
  const std::span steps(run.samples.step.begin(),
                        static_cast<std::size_t>(trained - run.samples.purpose.begin()));
  const auto found = std::ranges::equal_range(steps, step);
  const auto first = static_cast<std::size_t>(found.begin() - steps.begin());
  const auto last = static_cast<std::size_t>(found.end() - steps.begin());
  std::vector<std::size_t> chosen;
  std::set<std::int64_t> groups;
  const auto choose_one = [&](std::optional<bool> correct) {
    for (std::size_t i = first; i < last; ++i) {
      const std::int64_t group = run.trajectories->samples()[i].key.group;
      const bool fits = !correct || (run.samples.verdict[i] == 0) == *correct;
      if (!fits || groups.contains(group)) continue;
      chosen.push_back(i);
      groups.insert(group);
      return true;
    }
    return false;
  };
  bool correct = false;
  for (; chosen.size() < count && choose_one(correct); correct = !correct) {
  }
  while (chosen.size() < count && choose_one({})) {
  }
  return chosen;
}

std::string last_responses(const Run& run, const Decoder& decode, std::size_t count) {
  if (run.train_count.empty()) return "";
  std::string out;
  for (const std::size_t i : responses_of_step(run, run.train_count.rbegin()->first, count)) {
    const SampleColumns& s = run.samples;
    const SampleKey& key = run.trajectories->samples()[i].key;
    const ProblemText problem = run.trajectories->problem(i);
    out += fmt::format(
        "== step {}, problem {}, sample {}: {}, reward {}, {} tokens{}\n{}\n--\n{}\n-- gold {}, "
        "extracted {}\n\n",
        key.step, s.problem[i], key.sample, verdict_word(s.verdict[i]), short_number(s.reward[i]),
        s.tokens[i], s.finish_reason[i] == 1 ? ", cut at the limit" : "",
        shown(decode(problem.prompt_ids)), shown(decode(run.trajectories->response_ids(i))),
        shown(problem.gold), shown(run.trajectories->extracted(i)));
  }
  return out;
}

}  // namespace lie::analyze
