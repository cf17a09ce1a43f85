#include "verifier/c_api.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>

#include "verifier/verify.h"

namespace {

void copy_out(std::string_view text, char* out, size_t capacity) {
  if (out == nullptr || capacity == 0) return;
  const size_t length = std::min(capacity - 1, text.size());
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

lie::VerifierOptions options_from(std::string_view rules) {
  lie::VerifierOptions options;
  while (!rules.empty()) {
    const size_t end = std::min(rules.find('\n'), rules.size());
    if (end > 0) lie::set_rule(options, rules.substr(0, end));
    rules.remove_prefix(std::min(end + 1, rules.size()));
  }
  return options;
}

}  // namespace

int lie_verify_pair(const char* gold, size_t gold_bytes, const char* response,
                    size_t response_bytes, const char* rules, char* extracted, size_t capacity) {
  try {
    const lie::VerifierOptions options = options_from(rules == nullptr ? "" : rules);
    const lie::Verdict verdict =
        lie::verify({gold, gold_bytes}, {response, response_bytes}, options);
    copy_out(verdict.extracted, extracted, capacity);
    return static_cast<int>(verdict.code);
  } catch (const std::exception& error) {
    copy_out(error.what(), extracted, capacity);
    return -1;
  }
}

const char* lie_verdict_name(int code) {
  return code < 0 || code >= static_cast<int>(lie::kVerdictCount)
             ? "unknown"
             : lie::name(static_cast<lie::VerdictCode>(code)).data();
}

void lie_verifier_release_thread(void) { lie::release_thread_caches(); }
