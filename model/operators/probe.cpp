#include "model/operators/probe.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "common/base/error.h"

namespace lie {
namespace {

constexpr std::int64_t kRows = 256, kCols = 512, kOut = 384;

/// Returns integers between -2 and 2. bf16 represents them, and fp32 all sums of their products.
std::vector<float> integers(std::int64_t count, std::int64_t step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>((i * step + i / kCols) % 5 - 2));
  }
  return values;
}

Buffer on_device(Operators& operators, std::span<const float> values, std::int64_t rows,
                 DType dtype) {
  Buffer memory = operators.allocate(rows, std::ssize(values) / rows, dtype);
  operators.copy_from_host(values, memory.view());
  return memory;
}

void expect(Operators& operators, const char* what, Tensor got, std::span<const float> expected) {
  std::vector<float> values(expected.size());
  operators.copy_to_host(got, values);
  const auto [value, exact] = std::ranges::mismatch(values, expected);
  if (value == values.end()) return;
  fail("the device computes incorrectly: element {} of a {} is {} instead of {}",
       value - values.begin(), what, *value, *exact);
}

void probe_matmul(Operators& operators) {
  const std::vector<float> x = integers(kRows * kCols, 3), w = integers(kOut * kCols, 7);
  std::vector<float> expected;
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t o = 0; o < kOut; ++o) {
      float sum = 0;
      for (std::int64_t k = 0; k < kCols; ++k) {
        sum +=
            x[static_cast<std::size_t>(r * kCols + k)] * w[static_cast<std::size_t>(o * kCols + k)];
      }
      expected.push_back(sum);
    }
  }
  const auto weight = operators.make_weight(kOut, kCols);
  const Buffer rows = on_device(operators, x, kRows, operators.activation_dtype()),
               matrix = on_device(operators, w, kOut, DType::kFloat32),
               y = operators.allocate(kRows, kOut, DType::kFloat32);
  operators.pack(*weight, 0, matrix.view());
  operators.linear(rows.view(), *weight, y.view());
  expect(operators, "matmul", y.view(), expected);
}

/// Rows of one power of two have this root mean square, so their norm is the weight.
void probe_norm(Operators& operators) {
  const std::vector<float> weight = integers(kCols, 3);
  std::vector<float> x, expected;
  for (std::int64_t r = 0; r < kRows; ++r) {
    x.insert(x.end(), kCols, std::ldexp(1.0F, static_cast<int>(r % 4)));
    expected.insert(expected.end(), weight.begin(), weight.end());
  }
  const DType dtype = operators.activation_dtype();
  const Buffer rows = on_device(operators, x, kRows, dtype),
               norm = on_device(operators, weight, 1, DType::kFloat32),
               y = operators.allocate(kRows, kCols, dtype);
  operators.rms_norm(rows.view(), norm.view(), 0, y.view(), {});
  expect(operators, "norm", y.view(), expected);
}

}  // namespace

void probe(Operators& operators) {
  probe_matmul(operators);
  probe_norm(operators);
}

}  // namespace lie
