#include "tests/aten/optimizer.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/operators/moment_rounding.h"

namespace lie::aten {
namespace {

/// Elements processed at a time, which limits temporaries to 64 MiB of fp32.
constexpr std::int64_t kPart = std::int64_t{16} << 20;

void adamw_part(const AdamWStep& how, const at::Tensor& gradient, at::Tensor weights,
                at::Tensor first, at::Tensor second) {
  const at::Tensor g = gradient * how.clip;
  first.mul_(how.beta1).add_(g, how.one_minus_beta1);
  second.mul_(how.beta2).addcmul_(g, g, how.one_minus_beta2);
  const at::Tensor divisor = second.sqrt().div_(how.root_correction).add_(how.eps);
  weights.mul_(how.keep).addcdiv_(first, divisor, -how.step_size);
}

}  // namespace

void sums_of_squares(const at::Tensor& x, std::int64_t block, std::span<double> sums) {
  std::vector<at::Tensor> parts;
  const std::int64_t whole = x.numel() / block * block,
                     most = std::max(block, kPart / block * block);
  const auto add = [&](std::int64_t first, std::int64_t count, std::int64_t blocks) {
    const at::Tensor part = x.narrow(0, first, count);
    parts.push_back(part.to(at::kDouble).square_().view({blocks, -1}).sum(1));
  };
  for (std::int64_t done = 0; done < whole; done += most) {
    const std::int64_t count = std::min(most, whole - done);
    add(done, count, count / block);
  }
  if (whole < x.numel()) add(whole, x.numel() - whole, 1);
  if (parts.empty()) return;
  const at::Tensor all = at::cat(parts).cpu();
  std::copy_n(all.const_data_ptr<double>(), sums.size(), sums.begin());
}

void adamw(const AdamWStep& how, const at::Tensor& gradient, const at::Tensor& weights,
           const at::Tensor& first, const at::Tensor& second) {
  for (std::int64_t done = 0; done < weights.numel(); done += kPart) {
    const std::int64_t count = std::min(kPart, weights.numel() - done);
    const auto part = [&](const at::Tensor& x) { return x.narrow(0, done, count); };
    adamw_part(how, part(gradient), part(weights), part(first), part(second));
  }
}

void round_moments(const AdamWStep& how, const at::Tensor& first, const at::Tensor& second) {
  const at::Tensor first_here = first.cpu(), second_here = second.cpu();
  const std::span<float> m(first_here.data_ptr<float>(), static_cast<std::size_t>(first.numel()));
  const std::span<float> v(second_here.data_ptr<float>(), m.size());
  for (std::size_t i = 0; i < m.size(); ++i) {
    const std::uint32_t bits =
        moment_rounding_bits(how.update, how.element + static_cast<std::int64_t>(i));
    m[i] = from_bfloat16(round_first_moment(m[i], bits));
    v[i] = from_bfloat16(round_second_moment(v[i], bits));
  }
  first.copy_(first_here);
  second.copy_(second_here);
}

}  // namespace lie::aten
