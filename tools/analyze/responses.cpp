#include "tools/analyze/responses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
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

/// Chooses training responses of a step, alternately correct and incorrect, each of another group.
void choose(const Run& run, std::int64_t step, std::size_t count,
            std::vector<std::size_t>& chosen) {
  std::set<std::int64_t> groups;
  const std::size_t wanted = chosen.size() + count;
  for (const bool strict : {true, false}) {
    bool right = false, found = true;
    while (found && chosen.size() < wanted) {
      found = false;
      for (std::size_t i = 0; i < run.samples.size() && !found; ++i) {
        const bool fits = run.samples.is_training(i) && run.samples.step[i] == step &&
                          (!strict || (run.samples.verdict[i] == 0) == right) &&
                          !groups.contains(run.trajectories->samples()[i].key.group);
        if (!fits) continue;
        chosen.push_back(i);
        groups.insert(run.trajectories->samples()[i].key.group);
        right = !right;
        found = true;
      }
    }
  }
}

/// Returns text that is safe to print on a terminal.
std::string shown(std::string_view text) { return printable(repair_utf8(text)); }

}  // namespace

std::vector<std::size_t> chosen_responses(const Run& run, std::size_t count) {
  std::vector<std::size_t> chosen;
  if (run.train_count.empty() || count == 0) return chosen;
  const std::int64_t first = run.train_count.begin()->first;
  const std::int64_t last = run.train_count.rbegin()->first;
  if (first != last) choose(run, first, count / 3, chosen);
  choose(run, last, count - chosen.size(), chosen);
  return chosen;
}

std::string last_responses(const Run& run, const Decoder& decode, std::size_t count) {
  std::vector<std::size_t> chosen;
  if (!run.train_count.empty()) choose(run, run.train_count.rbegin()->first, count, chosen);
  std::string out;
  for (const std::size_t i : chosen) {
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
