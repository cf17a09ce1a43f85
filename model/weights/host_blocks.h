// Copies of tensors from and to the host in blocks of 4 MiB, so that no second full copy exists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "model/operators/operators.h"
#include "model/weights/safetensors.h"

namespace lie {

constexpr std::int64_t kHostBlockElements = std::int64_t{1} << 20;

/// Calls use(values) for the blocks of `from` in order. The rows of `from` must be contiguous.
template <typename Use>
void read_blocks(Operators& operators, Tensor from, const Use& use) {
  std::vector<float> memory;
  for (std::int64_t first = 0; first < from.elements(); first += kHostBlockElements) {
    const std::int64_t count = std::min(kHostBlockElements, from.elements() - first);
    memory.resize(static_cast<std::size_t>(count));
    operators.copy_to_host(from.elements_at(first, count), memory);
    use(std::span<const float>(memory));
  }
}

/// Sets `to` block by block from the values that fill(first, values) writes. `first` is the index
/// of the block's first element. The rows of `to` must be contiguous.
template <typename Fill>
void write_blocks(Operators& operators, Tensor to, const Fill& fill) {
  std::vector<float> memory(static_cast<std::size_t>(std::min(kHostBlockElements, to.elements())));
  for (std::int64_t first = 0; first < to.elements(); first += kHostBlockElements) {
    const std::int64_t count = std::min(kHostBlockElements, to.elements() - first);
    const auto values = std::span(memory).first(static_cast<std::size_t>(count));
    fill(first, values);
    operators.copy_from_host(values, to.elements_at(first, count));
  }
}

/// Sets `to` from the entry's elements beginning with `first`. The rows of `to` must be contiguous.
inline void read_entry(Operators& operators, const SafetensorsEntry& entry, std::int64_t first,
                       Tensor to) {
  write_blocks(operators, to, [&](std::int64_t done, std::span<float> values) {
    read_floats(elements_of(entry, first + done, std::ssize(values)), values);
  });
}

}  // namespace lie
