// The attention of prefill that a device uses: a library's, where its results pass a check.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "model/cuda/prefill_attention.h"
#include "model/cuda/queue.h"

namespace lie::cuda {

class PrefillChoice {
 public:
  /// Chooses between cuDNN and the own kernel on a CUDA device. Emulated devices have plain
  /// attention in place of cuDNN.
  explicit PrefillChoice(at::Device device);

  void begin_pass() { library_->begin_pass(); }
  /// Returns a sentence that names what computes prefill with such heads, and why. The first call
  /// for them checks the library, which takes a second or two.
  const std::string& text(const Queue& queue, const AttentionShape& heads) {
    return choice_for(queue, heads).text;
  }
  /// Writes the prefills' rows of y as Operators::attention_decode() does. Returns false, and
  /// writes nothing, if the own kernel has to compute them. Tensors are bf16.
  bool attend(const Queue& queue, Tensor rotated, const AttentionShape& shape,
              const DecodeBatch& batch, KvPages pages, std::span<const Prefill> prefills, Tensor y);

 private:
  struct Choice {
    bool uses_library = false;
    std::string text;
  };
  /// Returns the choice, which is made at the first call for such heads.
  const Choice& choice_for(const Queue& queue, const AttentionShape& heads);

  at::Device device_;
  std::unique_ptr<PrefillAttention> library_;
  std::map<std::array<std::int64_t, 3>, Choice> choices_;  // by heads
};

}  // namespace lie::cuda
