#include "model/cpu/nf4_weight.h"

#include <algorithm>

#include "common/base/error.h"

namespace lie::cpu {

void Nf4Weight::pack(ThreadTeam& team, std::int64_t first_out, std::int64_t rows,
                     const float* matrix) {
  const std::int64_t first = first_out * in(), count = rows * in();
  if (first % nf4::kBlock != 0 || count % nf4::kBlock != 0) {
    fail("rows from {} to {} of an NF4 weight do not begin and end with a block", first_out,
         first_out + rows);
  }
  team.each(count / nf4::kBlock, [&](std::int64_t block, int) {
    const std::int64_t own = first / nf4::kBlock + block;
    scale(own) = nf4::quantize(matrix + block * nf4::kBlock, nf4::kValues.data(), codes(own));
  });
}

void Nf4Weight::dequantize(Range outs, Range ins, float* to, std::int64_t out_step,
                           std::int64_t in_step) const {
  for (std::int64_t o = outs.begin; o < outs.end; ++o, to += out_step) {
    float* at = to;
    const std::int64_t end = o * in() + ins.end;
    for (std::int64_t element = o * in() + ins.begin; element < end;) {
      const std::int64_t block = element / nf4::kBlock, first = block * nf4::kBlock;
      const float own_scale = scale(block);
      for (; element < std::min(first + nf4::kBlock, end); ++element, at += in_step) {
        *at = nf4::weight_at(codes(block), own_scale, element - first, nf4::kValues.data());
      }
    }
  }
}

}  // namespace lie::cpu
