// HyperLogLog: how many different hashes there were, estimated in fixed memory (Flajolet, Fusy,
// Gandouet, Meunier, "HyperLogLog", 2007), with the estimator of Ertl, "New cardinality estimation
// algorithms for HyperLogLog sketches", arXiv:1702.01284, algorithm 6, which needs no tables of
// corrections. Of one's own, since no C++ library is in the distributions' packages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <vector>

namespace lie {

/// A function of the set of hashes alone: neither order nor repeats change a bit of it.
class HyperLogLog {
 public:
  HyperLogLog();

  /// 64 well-mixed bits.
  void add(std::uint64_t hash);

  /// Unbiased; exact arithmetic order, so the same bits everywhere.
  double estimate() const;

  /// 1.04 / sqrt(m) with m = 2^18 registers of one byte: 0.2 %.
  static constexpr double kStandardError = 1.04 / 512;
  static constexpr std::size_t kBytes = std::size_t{1} << 18;

  /// The registers, one byte each.
  void write(std::ostream& out) const;
  void read(std::istream& in);

 private:
  std::vector<std::uint8_t> registers_;
};

}  // namespace lie
