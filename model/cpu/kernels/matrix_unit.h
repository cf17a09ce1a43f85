// The instructions of Intel's matrix unit (AMX), for tile numbers known at compile time. GCC's
// intrinsics require literal tile numbers and do not declare that they read memory.
#pragma once

#include <cstdint>

namespace lie::cpu::unit {

/// The tile configuration in the format of LDTILECFG.
struct alignas(64) Shapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

inline void configure(const Shapes& shapes) { asm volatile("ldtilecfg %0" : : "m"(shapes)); }
inline void release() { asm volatile("tilerelease"); }

template <int kTile>
void zero() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
template <int kTile>
void load(const void* from, std::int64_t row_bytes) {
  asm volatile("tileloadd (%0, %1), %%tmm%c2" : : "r"(from), "r"(row_bytes), "i"(kTile) : "memory");
}
template <int kTile>
void store(void* to, std::int64_t row_bytes) {
  asm volatile("tilestored %%tmm%c2, (%0, %1)" : : "r"(to), "r"(row_bytes), "i"(kTile) : "memory");
}
/// sum += left times right, with bf16 operands.
template <int kSum, int kLeft, int kRight>
void multiply_add() {
  asm volatile("tdpbf16ps %%tmm%c0, %%tmm%c1, %%tmm%c2" : : "i"(kRight), "i"(kLeft), "i"(kSum));
}

}  // namespace lie::cpu::unit
