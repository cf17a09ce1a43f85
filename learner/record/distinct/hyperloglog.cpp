#include "learner/record/distinct/hyperloglog.h"

#include <algorithm>
#include <array>
#include <bit>
#include <istream>
#include <limits>
#include <ostream>

namespace lie {
namespace {

constexpr int kIndexBits = 18;
constexpr std::size_t kRegisters = HyperLogLog::kBytes;
static_assert(kRegisters == std::size_t{1} << kIndexBits);
static_assert(HyperLogLog::kStandardError == 1.04 / (1 << (kIndexBits / 2)));

constexpr int kRankBits = 64 - kIndexBits;  // q
constexpr double kLn2 = 0.693147180559945309417;

/// Returns x + sum over k >= 1 of x^(2^k) 2^(k-1), the term of registers that are still 0; x is
/// their share.
double sigma(double x) {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double sum = x, weight = 1;
  for (double before = -1; sum != before; weight += weight) {
    x *= x;
    before = sum;
    sum += x * weight;
  }
  return sum;
}

/// Returns (1 - x - sum over k >= 1 of (1 - x^(2^-k))^2 2^-k) / 3, the term of registers at their
/// limit.
double tau(double x) {
  if (x == 0 || x == 1) return 0;
  double sum = 1 - x, weight = 1;
  for (double before = -1; sum != before;) {
    x = __builtin_sqrt(x);
    before = sum;
    weight /= 2;
    sum -= (1 - x) * (1 - x) * weight;
  }
  return sum / 3;
}

}  // namespace

HyperLogLog::HyperLogLog() : registers_(kRegisters) {}

void HyperLogLog::add(std::uint64_t hash) {
  const std::uint64_t rest = hash << kIndexBits;
  const int rank = std::min(std::countl_zero(rest), kRankBits) + 1;
  std::uint8_t& held = registers_[hash >> kRankBits];
  held = std::max(held, static_cast<std::uint8_t>(rank));
}

double HyperLogLog::estimate() const {
  std::array<double, kRankBits + 2> counts = {};
  for (const std::uint8_t rank : registers_)
    counts[std::min<std::size_t>(rank, kRankBits + 1)] += 1;
  constexpr double kM = kRegisters;
  double z = kM * tau(1 - counts[kRankBits + 1] / kM);
  for (std::size_t rank = kRankBits; rank >= 1; --rank) z = (z + counts[rank]) / 2;
  z += kM * sigma(counts[0] / kM);
  return kM * kM / (2 * kLn2 * z);
}

void HyperLogLog::write(std::ostream& out) const {
  out.write(reinterpret_cast<const char*>(registers_.data()), kRegisters);
}

void HyperLogLog::read(std::istream& in) {
  in.read(reinterpret_cast<char*>(registers_.data()), kRegisters);
}

}  // namespace lie
