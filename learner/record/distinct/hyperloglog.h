// An estimate of how many hashes are distinct, in fixed memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <vector>

namespace lie {

/// HyperLogLog: estimates the number of distinct hashes in fixed memory (Flajolet, Fusy, Gandouet,
/// Meunier, "HyperLogLog", 2007). The estimator is algorithm 6 of Ertl, "New cardinality estimation
/// algorithms for HyperLogLog sketches", arXiv:1702.01284, which needs no correction tables. It is
/// implemented here because no Linux distribution packages a C++ library for it. The sketch depends
/// on the set only: neither order nor repeats change it.
class HyperLogLog {
 public:
  HyperLogLog();

  /// Adds a hash of 64 well-mixed bits.
  void add(std::uint64_t hash);

  /// Returns the unbiased estimate. The order of operations is fixed, so that it is bit-identical
  /// on every machine.
  double estimate() const;

  /// The relative standard error, 1.04 / sqrt(m) with m = 2^18 registers of one byte: 0.2 %.
  static constexpr double kStandardError = 1.04 / 512;
  static constexpr std::size_t kBytes = std::size_t{1} << 18;

  /// Writes the registers, one byte each; read() replaces them.
  void write(std::ostream& out) const;
  void read(std::istream& in);

 private:
  std::vector<std::uint8_t> registers_;
};

}  // namespace lie
