// The warps of a thread block, and products of tiles on their tensor cores. On the host a loop
// emulates the threads.
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"

namespace lie::cuda {

constexpr int kWarpThreads = 32, kWarpsOfBlock = 8;

/// Columns 8 q + 0..7 of a block of 32 columns, of the rows g and g + 8 of the weight, for the
/// thread 4 g + q.
struct WeightPiece {
  Bytes16 upper = 0, lower = 0;
};
/// The same columns of row g of the few.
struct RowPiece {
  Bytes16 all = 0;
};
/// A tile's sums of a thread 4 g + q: the weight's rows g, g, g + 8, g + 8 with the rows 2 q,
/// 2 q + 1, 2 q, 2 q + 1 of x.
struct TileSums {
  float of[4] = {};
};

/// Loads what no other block of the kernel reads, so that caches keep the rest.
LIE_ROW Bytes16 load_once(const Bytes16* from) {
#ifdef __CUDA_ARCH__
  uint4 v;
  // Not .nc, which asks for memory that nothing writes while the kernel runs: a kernel starts while
  // the one before it ends. Not moved, for the same reason, before the wait for its results.
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return (Bytes16{v.z | std::uint64_t{v.w} << 32} << 64) | (v.x | std::uint64_t{v.y} << 32);
#else
  return *from;
#endif
}

#ifdef __CUDACC__

template <typename T>
struct DeviceThread {
  T value = {};
  __device__ T& operator[](int) { return value; }
};

/// The warp that the calling thread belongs to.
struct DeviceWarp {
  template <typename T>
  using PerThread = DeviceThread<T>;

  template <typename F>
  __device__ void each(const F& f) const {
    f(static_cast<int>(threadIdx.x % kWarpThreads));
  }
  /// sums += weight x^T over sixteen columns: the half `half` of each thread's eight.
  __device__ void multiply(PerThread<TileSums>& sums, PerThread<WeightPiece>& weight,
                           PerThread<RowPiece>& x, int half) const {
    const auto upper = static_cast<std::uint64_t>(weight.value.upper >> (64 * half)),
               lower = static_cast<std::uint64_t>(weight.value.lower >> (64 * half)),
               of_x = static_cast<std::uint64_t>(x.value.all >> (64 * half));
    float(&c)[4] = sums.value.of;
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(static_cast<unsigned>(upper)), "r"(static_cast<unsigned>(lower)),
          "r"(static_cast<unsigned>(upper >> 32)), "r"(static_cast<unsigned>(lower >> 32)),
          "r"(static_cast<unsigned>(of_x)), "r"(static_cast<unsigned>(of_x >> 32)));
  }
};

/// Calls f(warp, its number) for the warps of a block.
template <typename Block, typename F>
__device__ __forceinline__ void each_warp(const Block& /*block*/, const F& f) {
  f(DeviceWarp(), static_cast<int>(threadIdx.x / kWarpThreads));
}

#else

template <typename T>
struct HostThread {
  T value[kWarpThreads] = {};
  T& operator[](int thread) { return value[thread]; }
};

/// All threads of a warp on the host, one after another.
struct HostWarp {
  template <typename T>
  using PerThread = HostThread<T>;

  template <typename F>
  void each(const F& f) const {
    for (int thread = 0; thread < kWarpThreads; ++thread) f(thread);
  }
  /// Reads the fragments where the tensor cores read theirs (PTX, mma.m16n8k16 for bf16).
  void multiply(PerThread<TileSums>& sums, PerThread<WeightPiece>& weight, PerThread<RowPiece>& x,
                int half) const {
    const auto element = [&](Bytes16 from, int k) {  // column k of the thread's four
      return from_bfloat16(static_cast<std::uint16_t>(from >> (64 * half + 16 * k)));
    };
    each([&](int thread) {
      const int g = thread / 4, q = thread % 4;
      for (int i = 0; i < 4; ++i) {
        const int x_row = 2 * q + i % 2;
        float& sum = sums[thread].of[i];
        for (int from = 0; from < 4; ++from) {  // the thread of a row that has these columns
          const WeightPiece& piece = weight[4 * g + from];
          for (int k = 0; k < 4; ++k) {
            sum +=
                element(i < 2 ? piece.upper : piece.lower, k) * element(x[4 * x_row + from].all, k);
          }
        }
      }
    });
  }
};

/// Calls f(warp, its number) for the warps of a block.
template <typename Block, typename F>
void each_warp(const Block& block, const F& f) {
  block.each(kWarpsOfBlock, [&](std::int64_t w) { f(HostWarp(), static_cast<int>(w)); });
}

#endif

}  // namespace lie::cuda
