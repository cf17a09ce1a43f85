// The rows of a data file by content, and what differs between two versions of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie {

/// The rows of a data file, or of several files one after another.
struct RowsRecord {
  std::int64_t rows = 0;
  std::string sha256;               // of the digests of all rows
  std::string sorted_sha256;        // of the same digests in ascending order
  std::vector<std::string> blocks;  // hashes of at most 256 blocks of equal size, for messages
  std::vector<std::uint64_t> digests = {};  // by row; empty in a record that was read
};

/// Returns the record of rows with these digests.
RowsRecord rows_record(std::vector<std::uint64_t> digests);

/// Returns a digest of a row's texts or token ids. Equal parts in the same order give equal
/// digests.
std::uint64_t row_digest(std::span<const std::string> parts);

/// Returns the record of the rows that made these prompts. Prompt::row is not part of it.
RowsRecord prompt_rows(std::span<const Prompt> prompts);

/// Returns how rows of one file differ, such as "row 4: another prompt, answer or other used
/// field". Empty if they are equal. `now` must hold its digests.
std::string rows_difference(const RowsRecord& then, const RowsRecord& now);

}  // namespace lie
