#include "tools/judge/sampled_responses.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "common/base/error.h"
#include "common/base/random.h"
#include "common/dataset/rows.h"
#include "model/tokenizer/utf8.h"
#include "tools/analyze/decoder.h"
#include "tools/analyze/run.h"

namespace lie::judge {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kColumns = 4;

/// The steps there are as at most kColumns ranges of as many steps each as can be.
std::vector<NumberRange> ranges_of(std::span<const Candidate> candidates) {
  std::set<std::int64_t> distinct;
  for (const Candidate& candidate : candidates) distinct.insert(candidate.step);
  const std::vector<std::int64_t> steps(distinct.begin(), distinct.end());
  const std::size_t count = std::min(steps.size(), kColumns);
  std::vector<NumberRange> ranges;
  for (std::size_t i = 0; i < count; ++i) {
    ranges.push_back({steps[steps.size() * i / count], steps[steps.size() * (i + 1) / count - 1]});
  }
  return ranges;
}

std::int64_t last_step(std::span<const Candidate> candidates) {
  std::int64_t last = 0;
  for (const Candidate& candidate : candidates) last = std::max(last, candidate.step);
  return last;
}

std::uint64_t lot(const Candidate& candidate, std::int64_t seed) {
  return random_bits({.seed = static_cast<std::uint64_t>(seed),
                      .stream = kJudgeStream,
                      .step = static_cast<std::uint32_t>(candidate.step),
                      .problem = static_cast<std::uint32_t>(candidate.group),
                      .sample = static_cast<std::uint32_t>(candidate.sample)});
}

/// The range's candidates, in the order in which they are drawn.
std::vector<std::size_t> drawing_order(std::span<const Candidate> candidates,
                                       const NumberRange& range, std::int64_t seed) {
  std::map<std::int64_t, std::vector<std::pair<std::uint64_t, std::size_t>>> by_step;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!range.contains(candidates[i].step)) continue;
    by_step[candidates[i].step].emplace_back(lot(candidates[i], seed), i);
  }
  std::vector<std::tuple<std::size_t, std::uint64_t, std::size_t>> order;  // turn, lot, index
  for (auto& [step, lots] : by_step) {
    std::ranges::sort(lots);
    for (std::size_t turn = 0; turn < lots.size(); ++turn) {
      order.emplace_back(turn, lots[turn].first, lots[turn].second);
    }
  }
  std::ranges::sort(order);
  std::vector<std::size_t> indices;
  for (const auto& [turn, lot, index] : order) indices.push_back(index);
  return indices;
}

/// What both kinds of source have in common: `read` gives the response with an index.
template <typename Read>
Sample drawn(const fs::path& source, std::span<const Candidate> candidates,
             const SampleChoice& choice, const Read& read) {
  Sample sample{source.string(), choice.ranges, {}};
  if (sample.ranges.empty()) sample.ranges = ranges_of(candidates);
  for (NumberRange& range : sample.ranges) {
    const bool is_open = range.last == NumberRange().last;
    if (is_open) range.last = std::max(range.first, last_step(candidates));
  }
  for (const std::size_t i : draw(candidates, sample.ranges, choice.count, choice.seed)) {
    SampledResponse one = read(i);
    one.step = candidates[i].step;
    one.cut = std::ssize(one.response) > choice.most_bytes;
    one.response = without_middle(one.response, choice.most_bytes);
    sample.responses.push_back(std::move(one));
  }
  if (sample.responses.empty()) {
    fail("{}: holds no {}responses{}", source.string(), choice.evaluation ? "evaluation " : "",
         choice.ranges.empty() ? "" : " of these --steps");
  }
  return sample;
}

Sample sample_of_run(const fs::path& directory, const SampleChoice& choice) {
  const analyze::Run run = analyze::load_run(directory);
  if (!analyze::has_tokenizer(run)) {
    fail("{}: neither the last checkpoint nor model.path holds a tokenizer.json to decode with",
         directory.string());
  }
  std::vector<Candidate> candidates;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    if (run.samples.is_training(i) == choice.evaluation) continue;
    const SampleKey& key = run.trajectories->samples()[i].key;
    candidates.push_back({key.step, key.group, key.sample});
    indices.push_back(i);
  }
  const analyze::Decoder decode = analyze::decoder_of(run);
  return drawn(directory, candidates, choice, [&](std::size_t i) {
    const Candidate& of = candidates[i];
    return SampledResponse{
        .place = fmt::format("step {}, group {}, sample {}", of.step, of.group, of.sample),
        .prompt = run.trajectories->problem(indices[i]).text,
        .response = decode(run.trajectories->response_ids(indices[i]))};
  });
}

Sample sample_of_file(const fs::path& path, const SampleChoice& choice) {
  if (choice.evaluation) fail("{}: --evaluation is about runs, not files", path.string());
  std::vector<SampledResponse> rows;
  std::vector<Candidate> candidates;
  for_each_row(path, [&](const JsonRow& row, std::int64_t number) {
    rows.push_back({.place = row.place(),
                    .prompt = row.required_text("prompt"),
                    .response = row.required_text("response")});
    candidates.push_back({row.integer("step").value_or(0), number + 1, 0});
  });
  return drawn(path, candidates, choice, [&](std::size_t i) { return rows[i]; });
}

}  // namespace

std::vector<std::size_t> draw(std::span<const Candidate> candidates,
                              std::span<const NumberRange> ranges, std::int64_t count,
                              std::int64_t seed) {
  std::set<std::size_t> drawn;  // ranges may overlap
  const std::int64_t parts = std::ssize(ranges);
  for (std::int64_t r = 0; r < parts; ++r) {
    std::vector<std::size_t> order =
        drawing_order(candidates, ranges[static_cast<std::size_t>(r)], seed);
    const auto share = static_cast<std::size_t>(count / parts + (r < count % parts ? 1 : 0));
    if (count > 0) order.resize(std::min(order.size(), share));
    drawn.insert(order.begin(), order.end());
  }
  return {drawn.begin(), drawn.end()};
}

std::string without_middle(const std::string& text, std::int64_t most_bytes) {
  const auto most = static_cast<std::size_t>(most_bytes);
  if (text.size() <= most) return text;
  const std::size_t head = utf8_start(text, most - most / 2);
  const std::size_t tail = utf8_start(text, text.size() - most / 2);
  return fmt::format("{}\n[... {} bytes left out here ...]\n{}", text.substr(0, head), tail - head,
                     text.substr(tail));
}

Sample draw_sample(const fs::path& source, const SampleChoice& choice) {
  return fs::is_directory(source) ? sample_of_run(source, choice) : sample_of_file(source, choice);
}

}  // namespace lie::judge
