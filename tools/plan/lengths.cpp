#include "tools/plan/lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "common/base/error.h"
#include "common/base/random.h"
#include "common/trajectory/run_reader.h"
#include "learner/record/step_metrics.h"

namespace lie::planning {
namespace {

RandomKey key_of(std::uint64_t seed, std::int64_t step, std::int64_t group) {
  return {.seed = seed,
          .stream = kPlanStream,
          .step = static_cast<std::uint32_t>(step),
          .problem = static_cast<std::uint32_t>(group)};
}

std::int64_t drawn(const LogNormalLengths& stated, const RandomKey& key) {
  const double tokens = stated.median * std::exp(stated.sigma * random_normal(key));
  return std::clamp<std::int64_t>(
      std::llround(std::min(tokens, static_cast<double>(stated.longest))), 1, stated.longest);
}

}  // namespace

GroupLengths Lengths::group(std::int64_t step, std::int64_t group, std::int64_t samples) const {
  RandomKey key = key_of(seed_, step, group);
  GroupLengths lengths{.prompt = stated_.prompt, .responses = {}};
  const GroupLengths* logged =
      groups_.empty() ? nullptr : &groups_[random_bits(key) % groups_.size()];
  if (logged != nullptr) lengths.prompt = logged->prompt;
  for (std::int64_t i = 0; i < samples; ++i) {
    key.sample = static_cast<std::uint32_t>(i);
    const auto again = static_cast<std::size_t>(i);
    lengths.responses.push_back(logged == nullptr
                                    ? drawn(stated_, key)
                                    : logged->responses[again % logged->responses.size()]);
  }
  return lengths;
}

std::vector<GroupLengths> logged_lengths(const std::filesystem::path& run_directory) {
  namespace c = schema::sample;
  const RunReader run(run_directory / "trajectories");
  std::vector<std::int32_t> tokens, prompts;
  run.read(std::array{run.into(tokens, c::kTokenCount), run.into(prompts, c::kPromptCount)});
  std::vector<GroupLengths> groups;
  SampleKey last;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const SampleKey& key = run.samples()[i].key;
    if (key.purpose != 0) continue;
    if (groups.empty() || std::tie(key.step, key.group) != std::tie(last.step, last.group)) {
      groups.push_back({.prompt = prompts[i], .responses = {}});
    }
    groups.back().responses.push_back(std::max(tokens[i], 1));
    last = key;
  }
  if (groups.empty()) {
    fail("{} holds no response of a training step: name a run directory whose lengths these are",
         run_directory.string());
  }
  return groups;
}

std::string describe_lengths(const Lengths& lengths, std::int64_t groups, std::int64_t samples) {
  std::vector<double> all;
  double sum = 0;
  for (std::int64_t g = 0; g < groups; ++g) {
    for (const std::int64_t tokens : lengths.group(1, g, samples).responses) {
      all.push_back(static_cast<double>(tokens));
      sum += all.back();
    }
  }
  std::ranges::sort(all);
  return fmt::format("mean {:.0f}, median {:.0f}, 95 % {:.0f}, longest {:.0f} tokens",
                     sum / static_cast<double>(all.size()), quantile(all, 0.5), quantile(all, 0.95),
                     all.back());
}

}  // namespace lie::planning
