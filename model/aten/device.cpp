#include "model/aten/device.h"

#include <fmt/format.h>

#include <string>

#include "common/base/error.h"

namespace lie::aten {
namespace {

at::Device parse_device(std::string_view name) {
  try {
    return at::Device(std::string(name));
  } catch (const c10::Error&) {
    fail("model.device \"{}\": expected cpu, cuda or cuda:<number>", name);
  }
}

/// Returns the CUDA version that the driver must support; the number 13000 means 13.0.
std::string cuda_version() {
  const auto number = at::Context::versionCUDART();
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

}  // namespace

int usable_gpus() { return at::hasCUDA() ? static_cast<int>(at::getNumGPUs()) : 0; }

at::Device usable_device(std::string_view name) {
  const at::Device device = parse_device(name);
  if (device.is_cpu()) return device;
  if (!device.is_cuda()) fail("model.device \"{}\": only cpu and cuda are supported", name);
  if (!at::globalContext().hasCUDART())
    fail(
        "model.device \"{}\": this program was built without CUDA; set model.device to cpu, or "
        "build it with preset cuda (-DLIE_CUDA=ON)",
        name);
  const int gpus = usable_gpus();
  if (gpus == 0)
    fail(
        "model.device \"{}\": no usable NVIDIA GPU on this machine; nvidia-smi must list one and "
        "name a CUDA version of {} or later, and CUDA_VISIBLE_DEVICES must not hide it; or set "
        "model.device to cpu",
        name, cuda_version());
  const auto index = device.has_index() ? device.index() : c10::DeviceIndex{0};
  if (index >= gpus)
    fail("model.device \"{}\": this machine has GPUs 0 to {} only", name, gpus - 1);
  return {at::kCUDA, index};
}

}  // namespace lie::aten
