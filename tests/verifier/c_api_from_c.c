/* Shows that verifier/c_api.h is C. */
#include <string.h>

#include "verifier/c_api.h"

int lie_verify_texts_from_c(const char* gold, const char* response);

int lie_verify_texts_from_c(const char* gold, const char* response) {
  return lie_verify_pair(gold, strlen(gold), response, strlen(response), NULL, NULL, 0);
}
