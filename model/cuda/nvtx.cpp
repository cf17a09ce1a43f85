#include "model/cuda/nvtx.h"

#include <nvtx3/nvToolsExt.h>

namespace lie::cuda {
namespace {

/// The index is the range's payload, so that no text is formatted.
void begin(const char* name, std::int64_t index) {
  nvtxEventAttributes_t range = {};
  range.version = NVTX_VERSION;
  range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  range.messageType = NVTX_MESSAGE_TYPE_ASCII;
  range.message.ascii = name;
  if (index >= 0) {
    range.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    range.payload.llValue = index;
  }
  nvtxRangePushEx(&range);
}

void end() { nvtxRangePop(); }

}  // namespace

const Tracer* nvtx_tracer() {
  static constexpr Tracer tracer = {begin, end};
  return &tracer;
}

}  // namespace lie::cuda
