// Sixteen floats as one value: one register with AVX-512, two with AVX2. Every kernel uses this
// type, so that the lanes and the order of every sum are the same for both (invariant E1). Included
// once per Highway target.
#if defined(LIE_MODEL_CPU_VEC16_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LIE_MODEL_CPU_VEC16_INL_H
#undef LIE_MODEL_CPU_VEC16_INL_H
#else
#define LIE_MODEL_CPU_VEC16_INL_H
#endif

#include <cmath>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lie {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, 16>;
using Ints = hn::RebindToSigned<Floats>;
using Vec = hn::Vec<Floats>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Floats()));
constexpr int kParts = 16 / kLanes;
constexpr bool kWide = kParts == 1;  // AVX-512: 32 registers of 16 lanes; AVX2: 16 of 8

struct V16 {
  Vec part[kParts];
};

/// Calls f.operator()<n>() for n = min(rows, kMost), so that `n` rows are known at compile time.
template <int kMost, typename F>
HWY_INLINE void with_rows(std::int64_t rows, const F& f) {
  if (rows >= kMost) return f.template operator()<kMost>();
  if constexpr (kMost > 1) with_rows<kMost - 1>(rows, f);
}

/// Applies `f` to each part, with the parts of the arguments.
template <typename F, typename... Args>
HWY_INLINE V16 each(const F& f, const Args&... args) {
  V16 out;
  for (int i = 0; i < kParts; ++i) out.part[i] = f(args.part[i]...);
  return out;
}

HWY_INLINE Vec set1(float x) { return hn::Set(Floats(), x); }
HWY_INLINE V16 set16(float x) {
  V16 out;
  for (int i = 0; i < kParts; ++i) out.part[i] = set1(x);
  return out;
}
HWY_INLINE V16 zero16() { return set16(0.0f); }
HWY_INLINE V16 load16(const float* HWY_RESTRICT p) {
  V16 out;
  for (int i = 0; i < kParts; ++i) out.part[i] = hn::LoadU(Floats(), p + i * kLanes);
  return out;
}
HWY_INLINE void store16(const V16& v, float* HWY_RESTRICT p) {
  for (int i = 0; i < kParts; ++i) hn::StoreU(v.part[i], Floats(), p + i * kLanes);
}

/// Loads sixteen bf16 numbers as fp32.
HWY_INLINE V16 widen16(const std::uint16_t* HWY_RESTRICT p) {
  const hn::RebindToUnsigned<Floats> wide;
  const hn::Rebind<std::uint16_t, Floats> narrow;
  V16 out;
  for (int i = 0; i < kParts; ++i) {
    const auto bits = hn::PromoteTo(wide, hn::LoadU(narrow, p + i * kLanes));
    out.part[i] = hn::BitCast(Floats(), hn::ShiftLeft<16>(bits));
  }
  return out;
}

/// Returns how many of the first `count` lanes are in part `i`.
HWY_INLINE std::size_t lanes_in_part(std::int64_t count, int i) {
  const std::int64_t rest = count - i * kLanes;
  return static_cast<std::size_t>(rest < 0 ? 0 : (rest > kLanes ? kLanes : rest));
}
HWY_INLINE hn::Mask<Floats> first_lanes(std::int64_t count, int i) {
  return hn::FirstN(Floats(), lanes_in_part(count, i));
}
/// Loads the first `count` lanes from memory. The other lanes are 0 and their memory is not read.
HWY_INLINE V16 load16(const float* HWY_RESTRICT p, std::int64_t count) {
  if (count >= 16) return load16(p);
  V16 out;
  for (int i = 0; i < kParts; ++i) {
    out.part[i] = hn::MaskedLoad(first_lanes(count, i), Floats(), p + i * kLanes);
  }
  return out;
}
HWY_INLINE void store16(const V16& v, float* HWY_RESTRICT p, std::int64_t count) {
  if (count >= 16) return store16(v, p);
  for (int i = 0; i < kParts; ++i) {
    hn::BlendedStore(v.part[i], first_lanes(count, i), Floats(), p + i * kLanes);
  }
}
/// Returns v with the lanes from `count` on replaced by `filler`.
HWY_INLINE V16 keep_first(const V16& v, std::int64_t count, float filler) {
  V16 out;
  for (int i = 0; i < kParts; ++i) {
    out.part[i] = hn::IfThenElse(first_lanes(count, i), v.part[i], set1(filler));
  }
  return out;
}

/// Returns v with the lanes below `count` replaced by 0.
HWY_INLINE V16 drop_first(const V16& v, std::int64_t count) {
  V16 out;
  for (int i = 0; i < kParts; ++i) {
    out.part[i] = hn::IfThenZeroElse(first_lanes(count, i), v.part[i]);
  }
  return out;
}

HWY_INLINE V16 add(const V16& a, const V16& b) {
  return each([](Vec x, Vec y) { return hn::Add(x, y); }, a, b);
}
HWY_INLINE V16 sub(const V16& a, const V16& b) {
  return each([](Vec x, Vec y) { return hn::Sub(x, y); }, a, b);
}
HWY_INLINE V16 mul(const V16& a, const V16& b) {
  return each([](Vec x, Vec y) { return hn::Mul(x, y); }, a, b);
}
HWY_INLINE V16 div(const V16& a, const V16& b) {
  return each([](Vec x, Vec y) { return hn::Div(x, y); }, a, b);
}
HWY_INLINE V16 max(const V16& a, const V16& b) {
  return each([](Vec x, Vec y) { return hn::Max(x, y); }, a, b);
}
/// Returns a * b + c, rounded once.
HWY_INLINE V16 fma(const V16& a, const V16& b, const V16& c) {
  return each([](Vec x, Vec y, Vec z) { return hn::MulAdd(x, y, z); }, a, b, c);
}
HWY_INLINE V16 fma(Vec a, const V16& b, const V16& c) {
  return each([a](Vec y, Vec z) { return hn::MulAdd(a, y, z); }, b, c);
}

/// Reduces sixteen lanes to four with `f`: lane i with lane i + 8, then with lane i + 4.
template <typename V, typename F>  // a template, so that only this target's branch must compile
HWY_INLINE auto fold_to_4(const V& v, const F& f) {
  const hn::FixedTag<float, 4> d4;
  if constexpr (kParts == 4) {
    return f(f(v.part[0], v.part[2]), f(v.part[1], v.part[3]));
  } else if constexpr (kParts == 2) {
    const auto eight = f(v.part[0], v.part[1]);
    return f(hn::LowerHalf(d4, eight), hn::UpperHalf(d4, eight));
  } else {
    const hn::FixedTag<float, 8> d8;
    const auto eight = f(hn::LowerHalf(d8, v.part[0]), hn::UpperHalf(d8, v.part[0]));
    return f(hn::LowerHalf(d4, eight), hn::UpperHalf(d4, eight));
  }
}
/// Reduces all lanes with `f` by halving: i + 8, i + 4, i + 2, i + 1.
template <typename F>
HWY_INLINE float fold(const V16& v, const F& f) {
  const auto four = fold_to_4(v, f);
  const auto two = f(four, hn::Shuffle1032(four));
  return hn::GetLane(f(two, hn::Shuffle2301(two)));
}
HWY_INLINE float sum_lanes(const V16& v) {
  return fold(v, [](auto a, auto b) { return hn::Add(a, b); });
}
/// Returns the largest lane. The result is unspecified if a lane is NaN.
HWY_INLINE float max_lane(const V16& v) {
  return fold(v, [](auto a, auto b) { return hn::Max(a, b); });
}

/// Returns e^x for x <= 88 (e^88 above), 0 below -87.3, NaN for NaN. The error is at most 2 ulp.
/// The polynomial is that of Cephes' expf.
HWY_INLINE Vec exp(Vec x) {
  const Floats d;
  // The operand order matters: on x86 a NaN in the second operand is returned. Below `least` the
  // result is 0. e^least is the smallest value computed because a subnormal one would cost a
  // hundred cycles.
  const Vec least = set1(-87.3f);
  const Vec in = hn::Min(set1(88.0f), hn::Max(least, x));
  const auto whole = hn::NearestInt(hn::Mul(in, set1(1.44269504088896341f)));
  const Vec n = hn::ConvertTo(d, whole);
  Vec r = hn::NegMulAdd(n, set1(0.693359375f), in);
  r = hn::NegMulAdd(n, set1(-2.12194440e-4f), r);
  Vec p = set1(1.9875691500e-4f);
  p = hn::MulAdd(p, r, set1(1.3981999507e-3f));
  p = hn::MulAdd(p, r, set1(8.3334519073e-3f));
  p = hn::MulAdd(p, r, set1(4.1665795894e-2f));
  p = hn::MulAdd(p, r, set1(1.6666665459e-1f));
  p = hn::MulAdd(p, r, set1(5.0000001201e-1f));
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), set1(1.0f));
  const auto scale = hn::ShiftLeft<23>(hn::Add(whole, hn::Set(Ints(), 127)));
  const Vec y = hn::Mul(p, hn::BitCast(d, scale));
  return hn::IfThenZeroElse(hn::Lt(x, least), y);
}
HWY_INLINE V16 exp(const V16& x) {
  return each([](Vec v) { return exp(v); }, x);
}

/// Returns log x for finite x > 0, rounded from double. libm's own result differs between machines.
HWY_INLINE float log(float x) {
  if (!(x > 0.0f) || std::isinf(x)) return x == 0.0f ? -INFINITY : x;
  int exponent = 0;
  double m = std::frexp(static_cast<double>(x), &exponent);  // [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2.0;
    --exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);  // log m = 2 atanh s, |s| <= 0.1716
  const double s2 = s * s;
  double series = 1.0 / 15.0;
  for (int k = 13; k > 0; k -= 2) series = series * s2 + 1.0 / static_cast<double>(k);
  return static_cast<float>(2.0 * s * series + static_cast<double>(exponent) * 0.69314718055994531);
}

}  // namespace HWY_NAMESPACE
}  // namespace lie
HWY_AFTER_NAMESPACE();

#endif  // LIE_MODEL_CPU_VEC16_INL_H
