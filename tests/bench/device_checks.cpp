#include "tests/bench/device_checks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "common/base/dtype.h"
#include "tests/model/operator_side.h"

namespace lie::bench {
namespace {

// Tolerances: a result rounded to bf16, a result whose probabilities were also rounded, fp32 sums
// of some hundred exact products, and fp32 through the device's own exponential.
constexpr double kRounded = 1.0 / 256, kTwice = 1.0 / 128, kSums = 1e-5, kExponential = 1e-4;

struct Matrix {
  std::int64_t rows, cols;
  std::vector<double> values;

  Matrix(std::int64_t r, std::int64_t c)
      : rows(r), cols(c), values(static_cast<std::size_t>(r * c)) {}
  double* operator[](std::int64_t row) { return values.data() + row * cols; }
  const double* operator[](std::int64_t row) const { return values.data() + row * cols; }
};

double dot(const double* a, const double* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

class Checks {
 public:
  explicit Checks(std::unique_ptr<Operators> operators) : s_(std::move(operators), 16) {}

  std::vector<DeviceCheck> run() {
    matmuls();
    weight_gradient();
    norm();
    log_probs();
    decoding();
    sequences();
    return std::move(done_);
  }

 private:
  Matrix held(Tensor x) {
    Matrix m(x.rows, x.cols);
    std::ranges::copy(s_.get(x), m.values.begin());
    return m;
  }
  void compare(const std::string& name, Tensor got, const Matrix& expected, double bound) {
    const std::vector<float> values = s_.get(got);
    double error = 0, largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double off = std::abs(static_cast<double>(values[i]) - expected.values[i]);
      error = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(error, off);
      largest = std::max(largest, std::abs(expected.values[i]));
    }
    done_.push_back({name + " against float64", error / largest, bound});
  }

  void matmuls() {
    const std::int64_t rows = 33, in = 512, out = 96;
    const Tensor x = s_.put("x", rows, in), y = s_.output(rows, out),
                 wide = s_.float_output(rows, out);
    PackedWeight& weight = s_.weight("w", out, in);
    s_->linear(x, weight, y);
    s_->linear(x, weight, wide);
    const Matrix a = held(x);
    Matrix w = held(s_.parameter("w", out, in)), expected(rows, out);
    for (double& v : w.values) v = from_bfloat16(to_bfloat16(static_cast<float>(v)));
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < out; ++c) expected[r][c] = dot(a[r], w[c], in);
    }
    compare("matmul", y, expected, kRounded);
    compare("matmul to fp32", wide, expected, kSums);
  }

  void weight_gradient() {
    const std::int64_t rows = 200, in = 64, out = 48;
    const Tensor dy = s_.put("dy", rows, out), x = s_.put("x", rows, in);
    const Tensor dw = s_.parameter("dw", out, in);
    Matrix expected = held(dw);
    s_->linear_backward_weight(dy, x, {}, dw);
    const Matrix a = held(dy), b = held(x);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t o = 0; o < out; ++o) {
        for (std::int64_t i = 0; i < in; ++i) expected[o][i] += a[r][o] * b[r][i];
      }
    }
    compare("weight gradient added", dw, expected, kSums);
  }

  void norm() {
    const std::int64_t rows = 17, width = 1024;
    const Tensor x = s_.put("x", rows, width), y = s_.output(rows, width);
    const Tensor weight = s_.parameter("weight", 1, width);
    s_->rms_norm(x, weight, 1e-6f, y, {});
    const Matrix a = held(x), w = held(weight);
    Matrix expected(rows, width);
    for (std::int64_t r = 0; r < rows; ++r) {
      const double rms = std::sqrt(dot(a[r], a[r], width) / static_cast<double>(width) + 1e-6);
      for (std::int64_t i = 0; i < width; ++i) expected[r][i] = a[r][i] / rms * w[0][i];
    }
    compare("norm", y, expected, kRounded);
  }

  void log_probs() {
    const std::int64_t rows = 5, vocabulary = 151936;
    const Tensor logits = s_.put_floats("logits", rows, vocabulary, 20);
    const Tensor log_p = s_.float_output(1, rows), entropy = s_.float_output(1, rows);
    const std::vector<std::int32_t> targets = {0, 151935, 77, 2048, 100000};
    s_->log_probs(logits, s_.indices(targets), 1, log_p, entropy, s_.float_output(1, rows));
    const Matrix z = held(logits);
    Matrix expected(1, rows), entropies(1, rows);
    for (std::int64_t r = 0; r < rows; ++r) {
      double sum = 0, weighted = 0;
      for (std::int64_t i = 0; i < vocabulary; ++i) {
        sum += std::exp(z[r][i]), weighted += std::exp(z[r][i]) * z[r][i];
      }
      expected[0][r] = z[r][targets[static_cast<std::size_t>(r)]] - std::log(sum);
      entropies[0][r] = std::log(sum) - weighted / sum;
    }
    compare("log-probs", log_p, expected, kSums);
    compare("entropies", entropy, entropies, kSums);
  }

  /// Computes the attention of one row's heads to the rows [first, first + seen) of keys and
  /// values. Keys begin at column q_cols(), values at column q_cols() + kv_cols().
  struct Reference {
    AttentionShape shape;
    const Matrix &queries, &keys, &values;
    Matrix y, log_sum;

    void attend(std::int64_t row, std::int64_t first, std::int64_t seen) {
      for (std::int64_t head = 0; head < shape.heads; ++head) attend_head(row, head, first, seen);
    }
    void attend_head(std::int64_t row, std::int64_t head, std::int64_t first, std::int64_t seen) {
      const std::int64_t e = shape.head_width, kv = head / (shape.heads / shape.kv_heads) * e;
      double sum = 0;
      double* const out = y[row] + head * e;
      for (std::int64_t j = first; j < first + seen; ++j) {
        const double* const key = keys[j] + shape.q_cols() + kv;
        const double score =
            dot(queries[row] + head * e, key, e) / std::sqrt(static_cast<double>(e));
        const double* const value = values[j] + shape.q_cols() + shape.kv_cols() + kv;
        sum += std::exp(score);
        for (std::int64_t i = 0; i < e; ++i) out[i] += std::exp(score) * value[i];
      }
      for (std::int64_t i = 0; i < e; ++i) out[i] /= sum;
      log_sum[row][head] = std::log(sum);
    }
  };
  Reference reference(const AttentionShape& shape, const Matrix& queries, const Matrix& keys,
                      const Matrix& values) const {
    return {shape,
            queries,
            keys,
            values,
            Matrix(queries.rows, shape.q_cols()),
            Matrix(queries.rows, shape.heads)};
  }

  /// Checks rows of all lengths alone, then prefill that continues the sequence.
  void decoding() {
    decoding("attention over pages", {0, 15, 16, 255, 256, 511, 1000, 1119}, false);
    std::vector<std::int32_t> positions(120);
    std::iota(positions.begin(), positions.end(), 1000);
    decoding("attention of prefill over pages", positions, true);
  }
  void decoding(const std::string& name, const std::vector<std::int32_t>& positions,
                bool is_prefill) {
    const AttentionShape shape{8, 2, 128};
    const std::int64_t rotated_cols = shape.q_cols() + shape.kv_cols(), pages = 70;
    std::vector<std::int32_t> slots, table;
    for (std::int32_t page = 0; page < pages; ++page) {
      table.push_back(static_cast<std::int32_t>(pages) - 1 - page);
      for (std::int32_t place = 0; place < 16; ++place) slots.push_back(16 * table.back() + place);
    }
    const auto rows = std::ssize(positions);
    const Tensor keys = s_.put("keys", 16 * pages, rotated_cols, 2);
    const Tensor qkv = s_.put("qkv", 16 * pages, shape.qkv_cols(), 2);
    const Tensor queries = s_.put("queries", rows, rotated_cols, 2);
    const Tensor pool = s_.output(pages, 2 * 16 * shape.kv_cols()),
                 y = s_.output(rows, shape.q_cols());
    DecodeBatch filling;
    filling.slots = s_.indices(slots);
    s_->store_kv(keys, qkv, shape, filling, {pool, 0});
    const std::vector<std::int32_t> sequence(positions.size(), 0);
    DecodeBatch reading{s_.indices(positions), {},    s_.indices(sequence),
                        s_.indices(table),     pages, 1120};
    if (is_prefill) reading.host_positions = positions, reading.host_sequences = sequence;
    s_->attention_decode(queries, shape, reading, {pool, 0}, y);
    const Matrix q = held(queries), k = held(keys), v = held(qkv);
    Reference expected = reference(shape, q, k, v);
    for (std::int64_t r = 0; r < rows; ++r) {
      expected.attend(r, 0, positions[static_cast<std::size_t>(r)] + 1);
    }
    compare(name, y, expected.y, kTwice);
  }

  void sequences() {
    const AttentionShape shape{4, 2, 64};
    const std::vector<std::int32_t> starts = {0, 5, 6, 96, 300};
    const Tensor rotated = s_.put("keys", starts.back(), shape.q_cols() + shape.kv_cols(), 2);
    const Tensor qkv = s_.put("qkv", starts.back(), shape.qkv_cols(), 2);
    const Tensor y = s_.output(starts.back(), shape.q_cols());
    const Tensor log_sum = s_.float_output(starts.back(), shape.heads);
    s_->attention(rotated, qkv, shape, {starts, s_.indices(starts), 204}, y, log_sum);
    const Matrix q = held(rotated), v = held(qkv);
    Reference expected = reference(shape, q, q, v);
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
      for (std::int64_t r = starts[s]; r < starts[s + 1]; ++r) {
        expected.attend(r, starts[s], r - starts[s] + 1);
      }
    }
    compare("attention over sequences", y, expected.y, kTwice);
    compare("log-sums of its scores", log_sum, expected.log_sum, kExponential);
  }

  test::Side s_;
  std::vector<DeviceCheck> done_;
};

}  // namespace

std::vector<DeviceCheck> device_checks(std::unique_ptr<Operators> operators) {
  return Checks(std::move(operators)).run();
}

}  // namespace lie::bench
