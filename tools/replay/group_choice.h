// Which responses of a group teach: by verdict, then by reward, then by sample number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie::replay {

std::int64_t count_right(std::span<const Score> scores);

/// The right samples, those of higher reward first, of equal reward the earlier first.
std::vector<std::size_t> best_right(std::span<const Score> scores);

/// The first of the wrong samples of the least reward; empty where none is wrong.
std::optional<std::size_t> worst_wrong(std::span<const Score> scores);

}  // namespace lie::replay
