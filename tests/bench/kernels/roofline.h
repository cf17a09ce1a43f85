// The roofline of a GPU: how long a kernel takes at least, from the bytes it must move and the
// operations it must do. All figures are calculated from published peaks, not measured.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

namespace lie::bench {

/// What a kernel must do. Each input is read and each output written once.
struct Cost {
  double bytes = 0;
  double flops = 0;  // a multiply-add counts as 2
  double launches = 1;
};

/// Peaks that kernels are compared with, measured or expected.
struct Ceilings {
  double bytes_per_second = 0;
  double flops_per_second = 0;  // bf16, dense
};

struct Card {
  const char* name;
  Ceilings peaks;  // of the data sheet
};

inline constexpr Card kCards[] = {{"H100 SXM", {3.35e12, 989e12}}, {"H200", {4.8e12, 989e12}}};

/// Assumptions of the expectations: the shares of the peaks that a large copy and a large matmul of
/// random data reach, and the time from one kernel's start to the next one's in a stream.
inline constexpr double kCopyShare = 0.9, kMatmulShare = 0.7, kLaunchSeconds = 2.5e-6;

inline Ceilings expected_ceilings(const Card& card) {
  return {kCopyShare * card.peaks.bytes_per_second, kMatmulShare * card.peaks.flops_per_second};
}

/// Returns the card of a CUDA device by its name, such as "NVIDIA H100 80GB HBM3". There are no
/// expectations for H100 cards with slower memory.
inline std::optional<Card> card_of(std::string_view device) {
  const auto has = [&](std::string_view part) {
    return device.find(part) != std::string_view::npos;
  };
  if (has("PCIe") || has("NVL")) return {};
  if (has("H100")) return kCards[0];
  if (has("H200")) return kCards[1];
  return {};
}

/// Returns the least seconds for the transfers and the operations, whichever take longer.
inline double transfer_seconds(const Cost& cost, const Ceilings& ceilings) {
  return std::max(cost.bytes / ceilings.bytes_per_second, cost.flops / ceilings.flops_per_second);
}

/// Returns the expected seconds, which are never less than launching the kernels takes.
inline double expected_seconds(const Cost& cost, const Card& card) {
  return std::max(transfer_seconds(cost, expected_ceilings(card)), cost.launches * kLaunchSeconds);
}

/// Returns whether a cost is reported in TFLOP/s instead of GB/s. The bound is about that of an
/// H100, and the same for all cards.
inline bool is_by_flops(const Cost& cost) { return cost.flops > 200 * cost.bytes; }

/// Returns the figure of a cost that takes `seconds`, in GB/s or TFLOP/s.
inline double rate(const Cost& cost, double seconds) {
  return is_by_flops(cost) ? cost.flops / seconds / 1e12 : cost.bytes / seconds / 1e9;
}

}  // namespace lie::bench
