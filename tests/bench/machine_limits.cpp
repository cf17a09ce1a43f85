#include "tests/bench/machine_limits.h"

#include <algorithm>
#include <vector>

#include "model/operators/thread_team.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/machine_limits.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lie {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;

/// Runs twelve independent chains and returns the number of operations.
double multiply_add_loop(std::int64_t rounds, float* result) {
  const Floats d;
  hn::Vec<Floats> x[12];
  for (int i = 0; i < 12; ++i) x[i] = hn::Set(d, static_cast<float>(i));
  const auto a = hn::Set(d, 0.999f + result[0]), b = hn::Set(d, 0.001f + result[0]);
  for (std::int64_t r = 0; r < rounds; ++r) {
    for (int i = 0; i < 12; ++i) x[i] = hn::MulAdd(x[i], a, b);
  }
  for (int i = 1; i < 12; ++i) x[0] = hn::Add(x[0], x[i]);
  result[0] = hn::GetLane(x[0]);
  return static_cast<double>(rounds) * 12 * 2 * static_cast<double>(hn::Lanes(d));
}

float read_loop(const float* p, std::int64_t count) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<Floats> sum[8];
  for (int i = 0; i < 8; ++i) sum[i] = hn::Zero(d);
  for (std::int64_t at = 0; at + 8 * lanes <= count; at += 8 * lanes) {
    for (int i = 0; i < 8; ++i) sum[i] = hn::Add(sum[i], hn::LoadU(d, p + at + i * lanes));
  }
  for (int i = 1; i < 8; ++i) sum[0] = hn::Add(sum[0], sum[i]);
  return hn::GetLane(sum[0]);
}

}  // namespace HWY_NAMESPACE
}  // namespace lie
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lie {

HWY_EXPORT(multiply_add_loop);
HWY_EXPORT(read_loop);

namespace bench {

double peak_flops(int threads) {
  ThreadTeam team(threads);
  std::vector<double> done(static_cast<std::size_t>(threads));
  const double seconds = best_seconds(5, [&] {
    team.run([&](int member) {
      float result = 0;
      done[static_cast<std::size_t>(member)] =
          HWY_DYNAMIC_DISPATCH(lie::multiply_add_loop)(20'000'000, &result);
      if (result > 1e30f) done[0] = 0;  // prevents the compiler from removing the loop
    });
  });
  return done[0] * threads / seconds;
}

double read_bandwidth(int threads, std::int64_t bytes) {
  ThreadTeam team(threads);
  const std::int64_t share = bytes / threads / 4;
  std::vector<std::vector<float>> memory(static_cast<std::size_t>(threads));
  std::vector<float> sums(static_cast<std::size_t>(threads));
  team.run([&](int member) {
    memory[static_cast<std::size_t>(member)].assign(static_cast<std::size_t>(share), 1.0f);
  });
  const std::int64_t rounds = std::max<std::int64_t>(1, (std::int64_t{1} << 30) / bytes);
  const double seconds = best_seconds(5, [&] {
    team.run([&](int member) {
      const auto m = static_cast<std::size_t>(member);
      for (std::int64_t r = 0; r < rounds; ++r) {
        sums[m] += HWY_DYNAMIC_DISPATCH(lie::read_loop)(memory[m].data(), share);
      }
    });
  });
  return static_cast<double>(rounds * share * threads * 4) / seconds;
}

}  // namespace bench
}  // namespace lie
#endif
