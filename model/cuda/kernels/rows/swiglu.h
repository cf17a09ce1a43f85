// SwiGLU and its gradient, pack by pack.
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"
#include "model/cuda/kernels/packs.h"

namespace lie::cuda {

template <typename T>
struct Swiglu {
  static constexpr int kSize = kPack<T>;
  Rows<const T> gate, up;
  Rows<T> y;

  template <int N>
  LIE_ROW void operator()(std::int64_t row, std::int64_t i, Count<N> /*n*/) const {
    const Floats<N> g = load<N>(gate[row] + i), u = load<N>(up[row] + i);
    Floats<N> out;
    for (int c = 0; c < N; ++c) out[c] = g[c] * sigmoid(g[c]) * u[c];
    store(out, y[row] + i);
  }
};

template <typename T>
struct SwigluBackward {
  static constexpr int kSize = kPack<T>;
  Rows<const T> dy, gate, up;
  Rows<T> d_gate, d_up, y;

  template <int N>
  LIE_ROW void operator()(std::int64_t row, std::int64_t i, Count<N> /*n*/) const {
    const Floats<N> g = load<N>(gate[row] + i), u = load<N>(up[row] + i);
    const Floats<N> d = load<N>(dy[row] + i);
    Floats<N> of_gate, of_up, out;
    for (int c = 0; c < N; ++c) {
      const float s = sigmoid(g[c]), silu = g[c] * s;
      of_gate[c] = d[c] * u[c] * (s * fmaf(g[c], 1.0f - s, 1.0f));
      of_up[c] = d[c] * silu;
      out[c] = silu * u[c];
    }
    store(of_gate, d_gate[row] + i);
    store(of_up, d_up[row] + i);
    store(out, y[row] + i);
  }
};

}  // namespace lie::cuda
