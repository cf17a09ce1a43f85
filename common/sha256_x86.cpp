#include <cpuid.h>
#include <immintrin.h>

#include "common/sha256_blocks.h"

// The target is set per function: the rest of the program runs on CPUs without it.
#define LIE_SHA __attribute__((target("sha,sse4.1,ssse3")))

namespace lie {
namespace {

/// The state in the order of the instructions: words A B E F and C D G H, the first highest.
struct State {
  __m128i abef;
  __m128i cdgh;
};

LIE_SHA State load_state(const std::uint32_t* state) {
  const auto* words = reinterpret_cast<const __m128i*>(state);
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xB1);
  const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1B);
  return {_mm_alignr_epi8(badc, efgh, 8), _mm_blend_epi16(efgh, badc, 0xF0)};
}

LIE_SHA void store_state(const State& s, std::uint32_t* state) {
  auto* words = reinterpret_cast<__m128i*>(state);
  const __m128i feba = _mm_shuffle_epi32(s.abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(s.cdgh, 0xB1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

/// Four big-endian words.
LIE_SHA __m128i load_words(const std::byte* data) {
  const __m128i swapped = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  return _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data)), swapped);
}

/// Words t to t+3 of the schedule of the sixteen before them.
LIE_SHA __m128i next_words(__m128i w16, __m128i w12, __m128i w8, __m128i w4) {
  const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w16, w12), _mm_alignr_epi8(w4, w8, 4));
  return _mm_sha256msg2_epu32(sum, w4);
}

LIE_SHA State take_block(State s, const std::byte* data) {
  __m128i w[16];
#pragma GCC unroll 16
  for (int t = 0; t < 16; ++t) {  // four rounds each
    w[t] = t < 4 ? load_words(data + 16 * t) : next_words(w[t - 4], w[t - 3], w[t - 2], w[t - 1]);
    const auto* round = reinterpret_cast<const __m128i*>(kSha256Round.data() + 4 * t);
    const __m128i sum = _mm_add_epi32(w[t], _mm_loadu_si128(round));
    s.cdgh = _mm_sha256rnds2_epu32(s.cdgh, s.abef, sum);
    s.abef = _mm_sha256rnds2_epu32(s.abef, s.cdgh, _mm_shuffle_epi32(sum, 0x0E));
  }
  return s;
}

LIE_SHA void take_blocks(std::uint32_t* state, const std::byte* data, std::size_t blocks) {
  State s = load_state(state);
  for (; blocks > 0; --blocks, data += 64) {
    const State stepped = take_block(s, data);
    s.abef = _mm_add_epi32(s.abef, stepped.abef);
    s.cdgh = _mm_add_epi32(s.cdgh, stepped.cdgh);
  }
  store_state(s, state);
}

bool cpu_has_sha() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & bit_SHA) == 0) return false;
  return __builtin_cpu_supports("sse4.1") != 0 && __builtin_cpu_supports("ssse3") != 0;
}

}  // namespace

Sha256Blocks x86_sha256_blocks() { return cpu_has_sha() ? take_blocks : nullptr; }

}  // namespace lie
