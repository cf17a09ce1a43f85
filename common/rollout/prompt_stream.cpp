#include "common/rollout/prompt_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/base/random.h"

namespace lie {
namespace {

/// Returns a uniform number in [0, bound): the high word of a 64-bit draw times the bound. The bias
/// is less than 2^-32.
std::size_t below(std::size_t bound, const RandomKey& key) {
  return static_cast<std::size_t>((static_cast<unsigned __int128>(random_bits(key)) * bound) >> 64);
}

void shuffle(std::vector<std::size_t>& indices, RandomKey key) {
  for (std::size_t i = indices.size() - 1; i > 0; --i) {
    key.index = static_cast<std::uint32_t>(i);
    std::swap(indices[i], indices[below(i + 1, key)]);
  }
}

std::optional<double> share_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(value >= 0 && value <= 1)) return std::nullopt;
  return value;
}

/// Divides the problems of a pass by the largest remainders. Ties go to the earlier file.
void set_shares(PassPlan& plan, const std::vector<std::int64_t>& weights) {
  const std::int64_t total = std::reduce(weights.begin(), weights.end());
  std::int64_t size = 0, left = 0;
  for (const FileShare& file : plan) size += file.drawn;
  left = size;
  std::vector<std::pair<std::int64_t, std::size_t>>
      remainders;  // negative, to sort the largest first
  for (std::size_t file = 0; file < plan.size(); ++file) {
    plan[file].drawn = size * weights[file] / total;
    left -= plan[file].drawn;
    remainders.emplace_back(-(size * weights[file] % total), file);
  }
  std::ranges::sort(remainders);
  for (std::int64_t i = 0; i < left; ++i) {
    ++plan[remainders[static_cast<std::size_t>(i)].second].drawn;
  }
  for (std::size_t file = 0; file < plan.size(); ++file) {
    if (plan[file].drawn > 0 && !plan[file].members.empty()) continue;
    fail(
        "data.train_weights: file {} of data.train_file has {} prompts for {} of the {} draws of a "
        "pass; {}",
        file + 1, plan[file].members.size(), plan[file].drawn, size,
        plan[file].drawn == 0 ? "raise its weight" : "widen data.accuracy_bands");
  }
}

PassPlan plan_of(const TrainingPrompts& prompts, const PromptOrder& order,
                 const AccuracyBand& band) {
  std::vector<std::int64_t> file_sizes = prompts.file_sizes;
  if (file_sizes.empty()) file_sizes = {std::ssize(prompts.prompts)};
  PassPlan plan;
  std::size_t next = 0;
  std::int64_t members = 0;
  for (const std::int64_t size : file_sizes) {
    FileShare file;
    for (const std::size_t end = next + static_cast<std::size_t>(size); next < end; ++next) {
      const bool is_member = order.bands.empty() || (prompts.accuracies[next] >= band.from &&
                                                     prompts.accuracies[next] <= band.to);
      if (is_member) file.members.push_back(next);
    }
    file.drawn = std::ssize(file.members);
    members += file.drawn;
    plan.push_back(std::move(file));
  }
  if (members == 0) {
    fail("data.accuracy_bands: no row has an accuracy of {} to {}; widen the band", band.from,
         band.to);
  }
  if (!order.weights.empty()) set_shares(plan, order.weights);
  return plan;
}

}  // namespace

AccuracyBand parse_band(const std::string& text, const std::string& key) {
  const std::size_t dash = text.find('-');
  const auto from = share_of(std::string_view(text).substr(0, std::min(dash, text.size())));
  const auto to = share_of(dash == std::string::npos ? std::string_view()
                                                     : std::string_view(text).substr(dash + 1));
  if (!from || !to || *from > *to) {
    fail("{}: \"{}\" is not a range of accuracies from 0 to 1, such as 0.25-0.75", key, text);
  }
  return {.from = *from, .to = *to};
}

std::vector<PassPlan> plan_passes(const TrainingPrompts& prompts, const PromptOrder& order) {
  if (prompts.prompts.empty()) {
    fail("a dataset without prompts gives no work; check data.train_file");
  }
  if (order.bands.empty()) return {plan_of(prompts, order, {})};
  std::vector<PassPlan> plans;
  for (const AccuracyBand& band : order.bands) plans.push_back(plan_of(prompts, order, band));
  return plans;
}

PromptStream::PromptStream(TrainingPrompts prompts, PromptOrder order)
    : prompts_(std::move(prompts)),
      options_(std::move(order)),
      plans_(plan_passes(prompts_, options_)) {
  order_pass();
}

const PassPlan& PromptStream::plan(std::int64_t pass) const {
  return plans_[static_cast<std::size_t>(std::min(pass, std::ssize(plans_) - 1))];
}

std::int64_t PromptStream::pass_size(std::int64_t pass) const {
  std::int64_t size = 0;
  for (const FileShare& file : plan(pass)) size += file.drawn;
  return size;
}

std::int64_t PromptStream::problems_in(std::int64_t passes) const {
  const std::int64_t last = std::ssize(plans_) - 1;  // the passes from this one on are equally long
  std::int64_t problems = 0;
  for (std::int64_t pass = 0; pass < std::min(passes, last); ++pass) problems += pass_size(pass);
  return problems + std::max<std::int64_t>(0, passes - last) * pass_size(last);
}

PromptStreamState PromptStream::state_after(std::int64_t n) const {
  const std::int64_t last = std::ssize(plans_) - 1;
  for (std::int64_t pass = 0; pass < last; ++pass) {
    if (n < pass_size(pass)) return {.epoch = pass, .position = n};
    n -= pass_size(pass);
  }
  return {.epoch = last + n / pass_size(last), .position = n % pass_size(last)};
}

std::int64_t PromptStream::first_of_band(std::int64_t pass, std::size_t file) const {
  std::int64_t first = std::min(pass, std::ssize(plans_) - 1);
  while (first > 0 && plan(first - 1)[file].members == plan(pass)[file].members) --first;
  return first;
}

std::int64_t PromptStream::drawn_before(std::int64_t pass, std::size_t file) const {
  const std::int64_t last = std::ssize(plans_) - 1;
  std::int64_t drawn = 0;
  for (std::int64_t p = first_of_band(pass, file); p < std::min(pass, last); ++p) {
    drawn += plan(p)[file].drawn;
  }
  return drawn + std::max<std::int64_t>(0, pass - last) * plan(last)[file].drawn;
}

void PromptStream::append_weighted(std::size_t file) {
  const FileShare& share = plan(state_.epoch)[file];
  const std::int64_t size = std::ssize(share.members);
  const std::int64_t first = drawn_before(state_.epoch, file), end = first + share.drawn;
  std::vector<std::size_t> members;
  for (std::int64_t draw = first; draw < end; ++draw) {
    if (draw == first || draw % size == 0) {  // another pass over the file
      members = share.members;
      shuffle(members, {.seed = options_.seed,
                        .stream = kFileShuffleStream,
                        .step = static_cast<std::uint32_t>(draw / size),
                        .problem = static_cast<std::uint32_t>(file),
                        .sample = static_cast<std::uint32_t>(first_of_band(state_.epoch, file))});
    }
    order_.push_back(members[static_cast<std::size_t>(draw % size)]);
  }
}

void PromptStream::order_pass() {
  order_.clear();
  const PassPlan& pass = plan(state_.epoch);
  for (std::size_t file = 0; file < pass.size(); ++file) {
    if (options_.weights.empty()) {
      order_.insert(order_.end(), pass[file].members.begin(), pass[file].members.end());
    } else {
      append_weighted(file);
    }
  }
  if (!options_.shuffle) return;
  shuffle(order_, {.seed = options_.seed,
                   .stream = kShuffleStream,
                   .step = static_cast<std::uint32_t>(state_.epoch)});
}

std::vector<Prompt> PromptStream::next(std::int64_t n) {
  std::vector<Prompt> batch;
  for (std::int64_t i = 0; i < n; ++i) {
    if (state_.position == std::ssize(order_)) {
      state_ = {.epoch = state_.epoch + 1, .position = 0};
      order_pass();
    }
    batch.push_back(prompts_.prompts[order_[static_cast<std::size_t>(state_.position++)]]);
  }
  return batch;
}

void PromptStream::restore(const PromptStreamState& state) {
  if (state.epoch < 0 || state.position < 0 || state.position > pass_size(state.epoch)) {
    fail(
        "prompt stream: epoch {}, position {} does not fit a dataset of {} prompts; resume with "
        "the dataset of the checkpoint",
        state.epoch, state.position, prompts_.prompts.size());
  }
  const bool is_of_this_epoch = state.epoch == state_.epoch;
  state_ = state;
  if (!is_of_this_epoch) order_pass();
}

}  // namespace lie
