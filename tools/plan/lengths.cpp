#include "tools/plan/lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "common/base/error.h"
#include "common/trajectory/run_reader.h"

namespace lie::planning {
namespace {

/// The smallest length that the given share of the responses does not exceed.
std::int64_t quantile(std::span<const double> survivors, double share) {
  const auto first = std::ranges::find_if(survivors, [&](double s) { return s <= 1 - share; });
  return first - survivors.begin();
}

Lengths summed_up(std::vector<double> survivors, double prompt_mean) {
  Lengths lengths{.prompt_mean = prompt_mean, .survivors = std::move(survivors)};
  const auto& s = lengths.survivors;
  lengths.response_mean = std::accumulate(s.begin(), s.end(), 0.0);
  lengths.text = fmt::format("mean {:.0f}, median {}, 95 % {}, longest {} tokens",
                             lengths.response_mean, quantile(s, 0.5), quantile(s, 0.95), s.size());
  return lengths;
}

}  // namespace

Lengths logged_lengths(const std::filesystem::path& run_directory) {
  namespace c = schema::sample;
  const RunReader run(run_directory / "trajectories");
  std::vector<std::int32_t> tokens, prompts;
  run.read(std::array{run.into(tokens, c::kTokenCount), run.into(prompts, c::kPromptCount)});
  std::vector<double> survivors;
  double count = 0, prompt_tokens = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (run.samples()[i].key.purpose != 0) continue;
    const auto length = static_cast<std::size_t>(std::max(tokens[i], 1));
    if (survivors.size() < length) survivors.resize(length);
    ++survivors[length - 1];
    ++count;
    prompt_tokens += prompts[i];
  }
  if (count == 0) {
    fail("{} holds no response of a training step: name a run directory with such responses",
         run_directory.string());
  }
  double longer = 0;
  for (auto ended = survivors.rbegin(); ended != survivors.rend(); ++ended) {
    longer += *ended / count;
    *ended = longer;
  }
  return summed_up(std::move(survivors), prompt_tokens / count);
}

Lengths log_normal_lengths(double median, double sigma, std::int64_t longest,
                           std::int64_t prompt_tokens) {
  std::vector<double> survivors = {1};
  for (std::int64_t t = 1; t < longest; ++t) {
    // A length is rounded, so that it exceeds t where the real number exceeds t + 1/2.
    const double z = std::log((static_cast<double>(t) + 0.5) / median) / std::max(sigma, 1e-9);
    survivors.push_back(0.5 * std::erfc(z / std::sqrt(2.0)));
  }
  while (survivors.size() > 1 && survivors.back() < 1e-12) survivors.pop_back();
  return summed_up(std::move(survivors), static_cast<double>(prompt_tokens));
}

}  // namespace lie::planning
