// An H200 as cuDNN describes a device. Its plans can be built on any machine.
#pragma once

namespace lie::test {

inline constexpr const char* kH200 = R"({"deviceVer":900,"driverVersion":13000,"driverVer":13000,
"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,
"multiProcessorCount":132,"warpSize":32,"maxSharedMemoryPerBlock":49152,
"maxSharedMemoryPerBlockOptin":232448,"reservedSharedMemoryPerBlock":1024,
"maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,
"pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1,"smClockRateKHz":1980000,
"memClockRateKHz":3201000,"memoryBusWidth":6144,"l2CacheSize":62914560,
"deviceName":"NVIDIA H200","totalGlobalMem":150754820096,"cudaDeviceId":0})";

}  // namespace lie::test
