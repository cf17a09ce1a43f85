// One implementation of the operators with the tensors of a test. Tests describe a computation
// once, run it with two implementations and compare the results.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/operators/operators.h"
#include "tests/tiny_model.h"

namespace lie::test {

class Side {
 public:
  /// The row stride of all its tensors is their column count plus `padding`.
  Side(std::unique_ptr<Operators> operators, std::int64_t padding)
      : operators_(std::move(operators)), padding_(padding) {}

  Operators* operator->() const { return operators_.get(); }
  Operators& operators() const { return *operators_; }

  /// Returns activations, uniform in [-scale/2, scale/2) and determined by `name`.
  Tensor put(const std::string& name, std::int64_t rows, std::int64_t cols, double scale = 4) {
    return fill(output(rows, cols), name, scale);
  }
  /// Returns fp32 numbers of the same kind.
  Tensor put_floats(const std::string& name, std::int64_t rows, std::int64_t cols,
                    double scale = 4) {
    return fill(float_output(rows, cols), name, scale);
  }
  /// Returns an output tensor filled with NaN, which must be overwritten.
  Tensor output(std::int64_t rows, std::int64_t cols) {
    return garbage(rows, cols, operators_->activation_dtype());
  }
  Tensor float_output(std::int64_t rows, std::int64_t cols) {
    return garbage(rows, cols, DType::kFloat32);
  }
  /// Returns an fp32 parameter with contiguous rows.
  Tensor parameter(const std::string& name, std::int64_t rows, std::int64_t cols) {
    buffers_.push_back(operators_->allocate(rows, cols, DType::kFloat32));
    return fill(buffers_.back().view(), name, 4);
  }
  /// Returns a weight [out, in], packed in two parts.
  PackedWeight& weight(const std::string& name, std::int64_t out, std::int64_t in,
                       WeightUse use = WeightUse::kTrained) {
    const Tensor matrix = parameter(name, out, in);
    weights_.push_back(operators_->make_weight(out, in, use));
    const std::int64_t first = out / 3;
    operators_->pack(*weights_.back(), 0, matrix.rows_at(0, first));
    operators_->pack(*weights_.back(), first, matrix.rows_at(first, out - first));
    return *weights_.back();
  }
  Indices indices(std::vector<std::int32_t> host) {
    return operators_->upload(integers_.emplace_back(std::move(host)));
  }
  std::vector<float> get(Tensor x) {
    std::vector<float> host(count(x.rows, x.cols));
    operators_->copy_to_host(x, host);
    return host;
  }

 private:
  static std::size_t count(std::int64_t rows, std::int64_t cols) {
    return static_cast<std::size_t>(rows * cols);
  }
  Tensor garbage(std::int64_t rows, std::int64_t cols, DType dtype) {
    buffers_.push_back(operators_->allocate(rows, cols + padding_, dtype));
    const Tensor whole = buffers_.back().view();
    operators_->copy_from_host(
        std::vector<float>(count(rows, cols + padding_), std::numeric_limits<float>::quiet_NaN()),
        whole);
    return whole.cols_at(padding_ / 2, cols);
  }
  Tensor fill(Tensor x, const std::string& name, double scale) {
    operators_->copy_from_host(float_values(name, count(x.rows, x.cols), scale), x);
    return x;
  }

  std::unique_ptr<Operators> operators_;
  std::int64_t padding_;
  std::deque<Buffer> buffers_;
  std::deque<std::vector<std::int32_t>> integers_;
  std::deque<std::unique_ptr<PackedWeight>> weights_;
};

/// The results of a computation by name.
using Results = std::map<std::string, std::vector<float>>;

}  // namespace lie::test
