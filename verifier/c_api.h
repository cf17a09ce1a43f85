/* The verifier for other languages: one call, plain types, no exceptions. Thread-safe. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Codes as in VerdictCode: 0 equal, 1 unequal, 2 no answer, 3 unparsable answer, 4 unparsable gold, 5 out of budget,
   6 undecided. `lenient`: 0 for reward mode (the last box), else wherever an answer may stand. `extracted` takes the
   answer found, cut to `capacity` bytes with its terminating zero; NULL where it is not wanted. Text is UTF-8. */
int lie_verify_pair(const char* gold, size_t gold_bytes, const char* response, size_t response_bytes, int lenient,
                    char* extracted, size_t capacity);

/* "equal", "unequal", ... for a code. */
const char* lie_verdict_name(int code);

#ifdef __cplusplus
}
#endif
