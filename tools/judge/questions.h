// The questions about a sample, and their way to the endpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/io/json.h"
#include "tools/judge/answer_cache.h"
#include "tools/judge/measures.h"
#include "tools/judge/sampled_responses.h"

namespace lie::judge {

/// What a request holds besides the texts.
struct RequestOptions {
  std::string model;
  double temperature = 0;
  std::int64_t seed = 1;           // of pass 1; pass 2 has the next
  std::int64_t max_tokens = 4096;  // of the answer
  Json extra = Json::object();     // merged into the request (RFC 7396): null removes a parameter
  std::filesystem::path prompts;   // directory; empty: built in
};

/// One request.
struct Question {
  std::size_t response = 0;  // of the sample
  std::size_t topic = 0;     // of kTopics
  int pass = 1;              // 2 shows the texts before the prompt, 1 after it
  std::string body;          // JSON
  std::string key;           // see AnswerCache
};

/// Every topic of every response in each of `passes` passes.
std::vector<Question> questions_about(const Sample& sample, const RequestOptions& options,
                                      int passes);

struct AskOptions {
  Endpoint endpoint;
  std::int64_t concurrency = 4;              // requests in flight
  double requests_per_minute = 0;            // at most; 0: no limit
  double input_price = 0, output_price = 0;  // of a million tokens
};

/// What was asked, in this call.
struct AskTally {
  std::int64_t asked = 0, from_cache = 0, prompt_tokens = 0, completion_tokens = 0;
  double cost = 0;
};

/// Asks what the cache lacks, each request once; shows progress on standard error. After 8 failed
/// requests in a row the rest is not asked. Throws Error if the cache cannot be written.
AskTally ask_missing(const std::vector<Question>& questions, AnswerCache& cache,
                     const AskOptions& options);

}  // namespace lie::judge
