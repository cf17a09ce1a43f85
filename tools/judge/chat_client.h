// One question to an OpenAI-compatible chat endpoint, and what came of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/judge/http.h"

namespace lie::judge {

/// What came of a question. Each answer has one; only kOk has a value.
enum class AnswerCode {
  kOk,
  kUnparsable,   // the text does not end with the object that was asked for
  kRefused,      // by the model or its content filter
  kTruncated,    // it reached the token limit
  kBadReply,     // a reply that is no chat completion
  kHttpError,    // a status other than 200, after all attempts
  kUnreachable,  // no reply, after all attempts
  kNotAsked,     // too many failures before
};
inline constexpr int kAnswerCodes = 8;

/// "ok", "unparsable", ...
std::string_view name(AnswerCode code);

struct Endpoint {
  std::string url;                     // up to "/v1"; as given, without a slash at its end
  std::string key;                     // empty: none
  std::int64_t retries = 5;            // after 408, 429, 5xx and lost connections
  double retry_seconds = 1;            // before the first; each next one waits twice as long
  std::int64_t timeout_seconds = 600;  // of one attempt
};

/// Checks a URL and brings it to that form. Throws Error if it is none of http(s) or has a user
/// name, password or query, which would be logged.
std::string endpoint_url(const std::string& url);

struct Completion {
  AnswerCode code = AnswerCode::kNotAsked;
  std::string text;                                       // the model's; of kOk and kTruncated
  std::string detail;                                     // of the others: what was wrong
  std::int64_t prompt_tokens = 0, completion_tokens = 0;  // as the server counts them

  /// Whether asking again would be a new question, not another attempt.
  bool is_final() const { return code <= AnswerCode::kTruncated; }
};

/// Reads the body of a reply with status 200.
Completion read_completion(std::string_view body);

/// Posts `body` to URL/chat/completions, again where that may help: at most retries + 1 attempts,
/// with waits of at most a minute, or of what Retry-After says, up to five.
Completion ask(HttpClient& client, const Endpoint& endpoint, const std::string& body);

}  // namespace lie::judge
