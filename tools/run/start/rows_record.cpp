#include "tools/run/start/rows_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/arithmetic.h"
#include "common/io/sha256.h"
#include "common/text/counted.h"

namespace lie {
namespace {

constexpr std::int64_t kMostBlocks = 256;

std::int64_t block_rows(std::int64_t rows) {
  return std::max<std::int64_t>(1, divided_up(rows, kMostBlocks));
}

std::string sha256_of(std::span<const std::uint64_t> digests) {
  Sha256 sha;
  sha.update(std::as_bytes(digests));
  return sha.hex_digest();
}

std::vector<std::string> block_hashes(std::span<const std::uint64_t> digests,
                                      std::int64_t rows_per_block) {
  const auto size = static_cast<std::size_t>(rows_per_block);
  std::vector<std::string> blocks;
  for (std::size_t first = 0; first < digests.size(); first += size) {
    const auto block = digests.subspan(first, std::min(size, digests.size() - first));
    blocks.push_back(sha256_of(block).substr(0, 16));
  }
  return blocks;
}

/// Returns the parts of a prompt that results depend on.
std::vector<std::string> parts_of(const Prompt& prompt) {
  return {prompt.text, prompt.gold, prompt.data_source, fmt::format("{}", prompt.reference_length)};
}

}  // namespace

RowsRecord rows_record(std::vector<std::uint64_t> digests) {
  RowsRecord record{.rows = std::ssize(digests),
                    .sha256 = sha256_of(digests),
                    .sorted_sha256 = "",
                    .blocks = block_hashes(digests, block_rows(std::ssize(digests))),
                    .digests = digests};
  std::ranges::sort(digests);
  record.sorted_sha256 = sha256_of(digests);
  return record;
}

std::uint64_t row_digest(std::span<const std::string> parts) {
  Sha256 sha;
  for (const std::string& part : parts) {
    sha.update(fmt::format("{} ", part.size()));
    sha.update(part);
  }
  return std::stoull(sha.hex_digest().substr(0, 16), nullptr, 16);
}

RowsRecord prompt_rows(std::span<const Prompt> prompts) {
  std::vector<std::uint64_t> digests;
  digests.reserve(prompts.size());
  for (const Prompt& prompt : prompts) digests.push_back(row_digest(parts_of(prompt)));
  return rows_record(std::move(digests));
}

RowsRecord training_rows(const TrainingPrompts& training) {
  std::vector<std::uint64_t> digests;
  digests.reserve(training.prompts.size());
  for (std::size_t file = 0; file < training.file_sizes.size(); ++file) {
    for (std::int64_t row = 0; row < training.file_sizes[file]; ++row) {
      const std::size_t i = digests.size();
      std::vector<std::string> parts = parts_of(training.prompts[i]);
      if (training.file_sizes.size() > 1) parts.push_back(fmt::format("file {}", file));
      if (!training.accuracies.empty()) {
        parts.push_back(fmt::format("accuracy {}", training.accuracies[i]));
      }
      digests.push_back(row_digest(parts));
    }
  }
  return rows_record(std::move(digests));
}

std::string rows_difference(const RowsRecord& then, const RowsRecord& now) {
  if (then.sha256 == now.sha256) return "";
  if (then.sorted_sha256 == now.sorted_sha256) return "its rows are in another order";
  const std::int64_t size = block_rows(then.rows);
  const std::vector<std::string> blocks = block_hashes(
      std::span(now.digests).first(static_cast<std::size_t>(std::min(now.rows, then.rows))), size);
  const auto found = std::ranges::mismatch(blocks, then.blocks);
  const std::int64_t first = size * (found.in1 - blocks.begin());
  if (first >= then.rows) {
    return fmt::format(
        "{} appended to its {}",
        now.rows - then.rows == 1 ? "1 row is" : fmt::format("{} rows are", now.rows - then.rows),
        then.rows);
  }
  if (first >= now.rows || (found.in1 + 1 == blocks.end() && now.rows < then.rows)) {
    return fmt::format("it has {} instead of {}", counted(now.rows, "row"), then.rows);
  }
  const std::int64_t last = std::min({first + size, then.rows, now.rows});
  return fmt::format("{}: another prompt, answer or other used field",
                     numbered("row", first + 1, last));
}

}  // namespace lie
