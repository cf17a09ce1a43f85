/* The verifier for other languages: plain types, no exceptions. Thread-safe. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Verifies one response. Text is UTF-8 and need not end in zero.

   rules: NULL for the defaults, else zero-terminated "rule=value" lines as `lie_verify --rules`
   lists them, such as "mode=lenient\ndecimal_places=4".

   extracted: receives the answer found, cut to `capacity` bytes including the terminating zero; may
   be NULL.

   Returns 0 equal, 1 unequal, 2 no answer, 3 unparsable answer, 4 unparsable gold, 5 out of budget,
   6 undecided, 7 copied (never without a prompt); -1 if a rule cannot be set, and then `extracted`
   says why. */
int lie_verify_pair(const char* gold, size_t gold_bytes, const char* response,
                    size_t response_bytes, const char* rules, char* extracted, size_t capacity);

/* "equal", "unequal", ... for a code; "unknown" for any other number. */
const char* lie_verdict_name(int code);

/* Frees the caches of the calling thread; call it before a thread that verified ends. */
void lie_verifier_release_thread(void);

#ifdef __cplusplus
}
#endif
