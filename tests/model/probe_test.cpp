#include "model/operators/probe.h"

#include <gmock/gmock.h>

#include "common/base/error.h"
#include "tests/guarded_operators.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

/// A device that sets one element of a matmul or of a norm to another value.
class FaultyOperators : public test::GuardedOperators {
 public:
  FaultyOperators(bool faulty_matmul, bool faulty_norm)
      : faulty_matmul_(faulty_matmul), faulty_norm_(faulty_norm) {}
  void linear(Tensor x, const PackedWeight& w, Tensor y) override {
    GuardedOperators::linear(x, w, y);
    if (faulty_matmul_) set_one(y);
  }
  void rms_norm(Tensor x, Tensor weight, float eps, Tensor y, Tensor inverse_rms) override {
    GuardedOperators::rms_norm(x, weight, eps, y, inverse_rms);
    if (faulty_norm_) set_one(y);
  }

 private:
  void set_one(Tensor y) {
    const float value = 1e9F;
    copy_from_host({&value, 1}, y.rows_at(3, 1).cols_at(5, 1));
  }

  bool faulty_matmul_, faulty_norm_;
};

std::string fault(bool of_matmul, bool of_norm) {
  FaultyOperators operators(of_matmul, of_norm);
  return error_of([&] { probe(operators); });
}

TEST(Probe, PassesOnDevicesThatCompute) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    const auto operators = make_cpu_operators(1, {}, dtype);
    probe(*operators);
  }
  EXPECT_EQ(fault(false, false), "no error");
}

TEST(Probe, NamesTheElementThatIsIncorrect) {
  EXPECT_THAT(fault(true, false), testing::HasSubstr("element 1157 of a matmul is 1000000000"));
  EXPECT_THAT(fault(false, true), testing::HasSubstr("element 1541 of a norm is 1000000000"));
}

}  // namespace
}  // namespace lie
