#include "tests/bench/kernels/device_clock.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "tests/bench/kernels/aten_device.h"
#include "tests/bench/machine_limits.h"

namespace lie::bench {

double device_seconds(const Operators& operators, const std::function<void()>& calls) {
  const at::Device device = device_of(operators);
  if (device.is_cpu()) return best_seconds(1, calls);
  const c10::Stream stream = c10::impl::VirtualGuardImpl(device.type()).getStream(device);
  c10::Event begin(device.type(), c10::EventFlag::BACKEND_DEFAULT),  // with timing
      end(device.type(), c10::EventFlag::BACKEND_DEFAULT);
  begin.record(stream);
  calls();
  end.record(stream);
  end.synchronize();
  return begin.elapsedTime(end) / 1e3;
}

std::optional<double> take_peak_bytes(const Operators& operators) {
  const at::Device device = device_of(operators);
  if (device.is_cpu()) return {};
  auto& allocator = *c10::getDeviceAllocator(device.type());
  const auto stats = allocator.getDeviceStats(device.index());
  allocator.resetPeakStats(device.index());
  return static_cast<double>(stats.allocated_bytes[0].peak);
}

}  // namespace lie::bench
