// Prints each figure of kernel_bench at once as a line, so that a killed program has lost nothing.
// The fields are separated by "|":
//   name|result|figure|unit|share|expected|us
// result    MEASURED, EXPECTED (no GPU), SKIP or FAIL, with the reason as unit
// share     of the measured ceiling of copies or matmuls, whichever is the kernel's limit
// expected  the figure by the roofline of the card (roofline.h), in the same unit
// us        microseconds of one execution
// A field without a value is "-". The first five fields are those of device_bench.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/config/model_config.h"
#include "tests/bench/kernels/device_memory.h"
#include "tests/bench/kernels/roofline.h"

namespace lie::bench {

/// What is measured: the shapes of a model, or ones that an emulated device computes in seconds.
struct Sizes {
  std::string name;
  ModelConfig model;
  std::int64_t copied = 0;  // elements of the copy that is the ceiling
  std::int64_t matmul = 0;  // rows and columns of the matmul that is the ceiling
  std::vector<std::int64_t> batches, contexts;
  std::int64_t train_tokens = 0, head_rows = 0, optimizer_elements = 0;
  std::int64_t prompt = 0, response = 0;  // tokens that are read at once
};

/// Returns the sizes for "1.7b" or "4b" of Qwen3.
Sizes full_sizes(const std::string& model);
Sizes emulated_sizes();

/// The operators of a device.
struct Device {
  std::unique_ptr<Operators> own, library, exact;  // library: ATen
};

/// The operators and the memory of a measurement.
struct Inputs {
  Operators& operators;
  DeviceMemory& memory;
};

class KernelBench {
 public:
  /// One execution of the measured work. Its inputs exist as long as the Work.
  using Work = std::function<void()>;
  using Make = std::function<Work(Inputs)>;

  /// Measures on `device`. Without one it prints what is expected of each card.
  KernelBench(Sizes sizes, Device device) : sizes_(std::move(sizes)), device_(std::move(device)) {}

  const Sizes& sizes() const { return sizes_; }
  /// Prints the card and measures the ceilings, with which all later figures are compared.
  void begin();
  /// Measures the program's own operators. `make` is called several times where the inputs would
  /// stay in the device's cache, and each execution then uses other inputs.
  void measure(const std::string& name, const Cost& cost, const Make& make);
  /// Measures ATen's operators, if there is a device.
  void measure_library(const std::string& name, const Cost& cost, const Make& make);
  void measure_both(const std::string& name, const Cost& cost, const Make& make) {
    measure(name, cost, make);
    measure_library(name + ", ATen", cost, make);
  }
  /// Returns whether the figure was measured.
  bool measure_on(Operators* operators, const std::string& name, const Cost& cost,
                  const Make& make);
  /// Prints the largest number of bytes held since the last call.
  void say_peak_memory(const std::string& section);
  void say(const std::string& name, const char* result, const std::string& text) const;

  const Device& device() const { return device_; }
  bool is_emulated() const { return device_.own && device_.own->place().is_host(); }

 private:
  double measured_seconds(Operators& operators, const Cost& cost, const Make& make) const;
  void say_expected(const std::string& name, const Cost& cost) const;
  void say_measured(const std::string& name, const Cost& cost, double seconds) const;

  const Sizes sizes_;
  Device device_;
  std::optional<Card> card_;
  Ceilings ceilings_;  // measured
};

}  // namespace lie::bench
