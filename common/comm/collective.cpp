#include "common/comm/collective.h"

#include "common/error.h"

namespace lie {

DeviceSpan slice_of(DeviceSpan whole, int rank, int size) {
  if (whole.count % size != 0) {
    fail("collective: {} elements are not {} slices of equal length", whole.count, size);
  }
  const std::int64_t count = whole.count / size;
  return whole.part(rank * count, count);
}

void check_slices(const Collective& group, DeviceSpan whole, DeviceSpan slice) {
  if (slice.count * group.size() != whole.count || slice.dtype != whole.dtype) {
    fail("collective: a slice of {} elements in a whole of {}, which {} members share", slice.count,
         whole.count, group.size());
  }
}

void check_host_sum(DType dtype, std::string_view implementation) {
  if (dtype == DType::kBFloat16) fail("collective: {} adds fp32 and fp64 only", implementation);
}

std::span<std::byte> host_bytes(DeviceSpan values, std::string_view implementation) {
  if (!values.place.is_host()) {
    fail(
        "collective: {} reaches host memory only, and {} elements lie on CUDA device {}: give them "
        "to a group over NCCL, or copy them to the host",
        implementation, values.count, values.place.device);
  }
  return {static_cast<std::byte*>(values.data), static_cast<std::size_t>(values.bytes())};
}

}  // namespace lie
