#include "learner/checkpoint/checkpoint_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "learner/trainer/optimizer_shards.h"

namespace lie {
namespace {

/// Returns the range of the parameters whose middle element is in the shard: complete parameters of
/// about as many elements.
FlatRange parameters_of(std::span<const Parameter> layout, FlatRange shard) {
  FlatRange range{shard.first, 0};
  for (const Parameter& parameter : layout) {
    const std::int64_t elements = parameter.rows * parameter.cols;
    const std::int64_t middle = parameter.offset + elements / 2;
    if (middle < shard.first || middle >= shard.first + shard.count) continue;
    if (range.count == 0) range.first = parameter.offset;
    range.count = parameter.offset + elements - range.first;
  }
  return range;
}

std::vector<RangeFile> named(std::string_view stem, const std::vector<FlatRange>& ranges) {
  const auto files = std::ranges::count_if(ranges, [](FlatRange range) { return range.count > 0; });
  std::vector<RangeFile> named;
  std::int64_t number = 0;
  for (const FlatRange range : ranges) {
    named.push_back({range});
    if (range.count == 0) continue;
    named.back().name = files == 1
                            ? fmt::format("{}.safetensors", stem)
                            : fmt::format("{}-{:05}-of-{:05}.safetensors", stem, ++number, files);
  }
  return named;
}

}  // namespace

std::vector<CheckpointPart> checkpoint_parts(std::span<const Parameter> layout, int learners) {
  const FlatRange all = {0, flat_elements(layout)};
  std::vector<FlatRange> parameters, shards;
  for (int learner = 0; learner < learners; ++learner) {
    shards.push_back(optimizer_shard_of(all.count, learner, learners));
    parameters.push_back(parameters_of(layout, shards.back()));
    if (is_adapter(layout)) parameters.back() = learner == 0 ? all : FlatRange{};
  }
  const std::vector<RangeFile> weights =
      named(is_adapter(layout) ? "adapter_model" : "model", parameters);
  const std::vector<RangeFile> moments = named("optimizer", shards);
  std::vector<CheckpointPart> parts;
  for (std::size_t i = 0; i < weights.size(); ++i) parts.push_back({weights[i], moments[i]});
  return parts;
}

namespace {

/// Returns the shortest range with the weights and the moments of a part.
FlatRange range_of(const CheckpointPart& both) {
  const FlatRange part = both.weights.range, shard = both.moments.range;
  if (part.count == 0) return shard;
  const std::int64_t first = std::min(part.first, shard.first);
  return {first, std::max(part.first + part.count, shard.first + shard.count) - first};
}

}  // namespace

FlatRange held_range(std::span<const Parameter> layout, int learner, int learners) {
  if (is_adapter(layout)) return {0, flat_elements(layout)};
  return range_of(checkpoint_parts(layout, learners)[static_cast<std::size_t>(learner)]);
}

std::int64_t longest_held_range(std::span<const Parameter> layout, int learners) {
  if (is_adapter(layout)) return flat_elements(layout);
  std::int64_t longest = 0;
  for (const CheckpointPart& part : checkpoint_parts(layout, learners)) {
    longest = std::max(longest, range_of(part).count);
  }
  return longest;
}

std::vector<std::string> files_of(const CheckpointPart& part) {
  std::vector<std::string> names;
  for (const RangeFile* file : {&part.weights, &part.moments}) {
    if (!file->name.empty()) names.push_back(file->name);
  }
  return names;
}

std::int64_t largest_part(std::span<const Parameter> layout, int learners) {
  std::int64_t largest = 0;
  for (const CheckpointPart& part : checkpoint_parts(layout, learners)) {
    largest = std::max(largest, part.weights.range.count + 2 * part.moments.range.count);
  }
  return largest;
}

}  // namespace lie
