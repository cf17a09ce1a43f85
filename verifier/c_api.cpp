#include "verifier/c_api.h"

#include <algorithm>
#include <cstring>

#include "verifier/verify.h"

int lie_verify_pair(const char* gold, size_t gold_bytes, const char* response,
                    size_t response_bytes, int lenient, char* extracted, size_t capacity) {
  lie::VerifierOptions options;
  if (lenient != 0) options.mode = lie::ExtractionMode::kLenient;
  const lie::Verdict verdict = lie::verify({gold, gold_bytes}, {response, response_bytes}, options);
  if (extracted != nullptr && capacity > 0) {
    const size_t length = std::min(capacity - 1, verdict.extracted.size());
    std::memcpy(extracted, verdict.extracted.data(), length);
    extracted[length] = '\0';
  }
  return static_cast<int>(verdict.code);
}

const char* lie_verdict_name(int code) {
  return code < 0 || code > 6 ? "unknown" : lie::name(static_cast<lie::VerdictCode>(code)).data();
}
