#include "common/rollout/prompt_stream.h"

#include <numeric>
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

}  // namespace

PromptStream::PromptStream(std::vector<Prompt> prompts, std::uint64_t seed, bool shuffle)
    : prompts_(std::move(prompts)), seed_(seed), shuffle_(shuffle) {
  if (prompts_.empty()) fail("a dataset without prompts gives no work; check data.train_file");
  order_epoch();
}

void PromptStream::order_epoch() {
  order_.resize(prompts_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (!shuffle_) return;
  RandomKey key = {
      .seed = seed_, .stream = kShuffleStream, .step = static_cast<std::uint32_t>(state_.epoch)};
  for (std::size_t i = order_.size() - 1; i > 0; --i) {
    key.index = static_cast<std::uint32_t>(i);
    std::swap(order_[i], order_[below(i + 1, key)]);
  }
}

std::vector<Prompt> PromptStream::next(std::int64_t n) {
  std::vector<Prompt> batch;
  for (std::int64_t i = 0; i < n; ++i) {
    if (state_.position == size()) {
      state_ = {.epoch = state_.epoch + 1, .position = 0};
      order_epoch();
    }
    batch.push_back(prompts_[order_[static_cast<std::size_t>(state_.position++)]]);
  }
  return batch;
}

void PromptStream::restore(const PromptStreamState& state) {
  if (state.epoch < 0 || state.position < 0 || state.position > size()) {
    fail(
        "prompt stream: epoch {}, position {} does not fit a dataset of {} prompts; resume with "
        "the dataset of the checkpoint",
        state.epoch, state.position, size());
  }
  const bool is_of_this_epoch = state.epoch == state_.epoch;
  state_ = state;
  if (!is_of_this_epoch) order_epoch();
}

}  // namespace lie
