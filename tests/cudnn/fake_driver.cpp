// The functions have the names of cuda.h, which is not included: cuDNN finds them by name. It
// refuses a driver that lacks one of them.
#include "tests/cudnn/fake_driver.h"

#include <cstdint>
#include <cstring>
#include <utility>

namespace lie::test {
namespace {

std::vector<LoadedKernel> loaded;
void* const kHandle = &loaded;

template <typename T>
T read(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// A section of a 64-bit ELF file.
struct Section {
  std::string name;
  const char* data;
  std::uint64_t bytes;
};

std::vector<Section> sections_of(const char* elf) {
  const char* const table = elf + read<std::uint64_t>(elf + 0x28);
  const auto size = read<std::uint16_t>(elf + 0x3a), count = read<std::uint16_t>(elf + 0x3c),
             names = read<std::uint16_t>(elf + 0x3e);
  const char* const texts = elf + read<std::uint64_t>(table + names * size + 0x18);
  std::vector<Section> sections;
  for (int i = 0; i < count; ++i) {
    const char* const header = table + i * size;
    sections.push_back({texts + read<std::uint32_t>(header),
                        elf + read<std::uint64_t>(header + 0x18),
                        read<std::uint64_t>(header + 0x20)});
  }
  return sections;
}

/// Counts the instructions of 16 bytes whose lowest twelve bits are HGMMA's.
std::int64_t count_tensor_core_instructions(const Section& text) {
  constexpr std::uint64_t kHgmma = 0x9f0;
  std::int64_t count = 0;
  for (std::uint64_t at = 0; at + 16 <= text.bytes; at += 16) {
    if ((read<std::uint64_t>(text.data + at) & 0xfff) == kHgmma) ++count;
  }
  return count;
}

/// Returns the largest frame size of .nv.info: records of a format byte, a key byte and 16 bits,
/// which are the size of what follows if the format is 4.
std::int64_t largest_stack(const Section& info) {
  constexpr std::uint8_t kSized = 4, kFrameSize = 0x11;
  std::int64_t largest = 0;
  for (std::uint64_t at = 0; at + 4 <= info.bytes;) {
    const auto format = read<std::uint8_t>(info.data + at),
               key = read<std::uint8_t>(info.data + at + 1);
    const auto size = read<std::uint16_t>(info.data + at + 2);
    if (format == kSized && key == kFrameSize) {
      const std::int64_t bytes = read<std::uint32_t>(info.data + at + 8);
      if (bytes > largest) largest = bytes;
    }
    at += format == kSized ? 4u + size : 4u;
  }
  return largest;
}

void load(const void* image) {
  const char* const elf = static_cast<const char*>(image);
  if (std::memcmp(elf, "\177ELF", 4) != 0) return;
  LoadedKernel kernel;
  for (const Section& section : sections_of(elf)) {
    if (section.name == ".nv.info") kernel.stack_bytes = largest_stack(section);
    if (!section.name.starts_with(".text.")) continue;
    kernel.name = section.name.substr(6);
    kernel.tensor_core_instructions += count_tensor_core_instructions(section);
  }
  loaded.push_back(std::move(kernel));
}

}  // namespace

std::vector<LoadedKernel> take_loaded_kernels() { return std::exchange(loaded, {}); }

}  // namespace lie::test

using lie::test::kHandle;

extern "C" {

constexpr int kSuccess = 0, kNoDevice = 100;

int cuInit(unsigned) { return kNoDevice; }
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}
int cuGetErrorString(int, const char** text) {
  *text = "an error of the fake driver";
  return kSuccess;
}
int cuGetErrorName(int error, const char** text) { return cuGetErrorString(error, text); }
int cuLibraryLoadData(void** library, const void* image, void*, void*, unsigned, void*, void*,
                      unsigned) {
  lie::test::load(image);
  *library = kHandle;
  return kSuccess;
}
int cuLibraryUnload(void*) { return kSuccess; }
int cuLibraryGetKernel(void** kernel, void*, const char*) {
  *kernel = kHandle;
  return kSuccess;
}
int cuKernelGetFunction(void** function, void*) {
  *function = kHandle;
  return kSuccess;
}
int cuKernelSetAttribute(int, int, void*, int) { return kSuccess; }
int cuKernelGetAttribute(int* value, int, void*, int) {
  *value = 0;
  return kSuccess;
}
int cuFuncSetAttribute(void*, int, int) { return kSuccess; }
int cuFuncGetAttribute(int* value, int, void*) {
  *value = 0;
  return kSuccess;
}

// Functions that are never called without a device.
int cuCtxGetCurrent() { return kNoDevice; }
int cuCtxGetLimit() { return kNoDevice; }
int cuCtxPopCurrent() { return kNoDevice; }
int cuCtxPushCurrent() { return kNoDevice; }
int cuDeviceGet() { return kNoDevice; }
int cuDeviceGetCount() { return kNoDevice; }
int cuLaunchCooperativeKernel() { return kNoDevice; }
int cuLaunchKernel() { return kNoDevice; }
int cuLaunchKernelEx() { return kNoDevice; }
int cuLibraryLoadFromFile() { return kNoDevice; }
int cuLinkAddData() { return kNoDevice; }
int cuLinkComplete() { return kNoDevice; }
int cuLinkCreate() { return kNoDevice; }
int cuLinkDestroy() { return kNoDevice; }
int cuModuleGetFunction() { return kNoDevice; }
int cuModuleLoadData() { return kNoDevice; }
int cuModuleUnload() { return kNoDevice; }
int cuOccupancyMaxPotentialClusterSize() { return kNoDevice; }
int cuStreamGetCtx() { return kNoDevice; }
int cuTensorMapEncodeIm2col() { return kNoDevice; }
int cuTensorMapEncodeTiled() { return kNoDevice; }

}  // extern "C"
