#include "tools/judge/chat_client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include "common/base/error.h"
#include "common/io/json.h"

namespace lie::judge {
namespace {

constexpr double kLongestBackoff = 60, kLongestRetryAfter = 300;  // seconds
constexpr std::size_t kShownBytes = 300;

bool may_pass(const HttpReply& reply) {
  return reply.status == 0 || reply.status == 408 || reply.status == 429 || reply.status >= 500;
}

void wait_before(std::int64_t attempt, const Endpoint& endpoint, const HttpReply& reply) {
  const double backoff = endpoint.retry_seconds * std::exp2(static_cast<double>(attempt));
  const double seconds = std::max(std::min(backoff, kLongestBackoff),
                                  std::min(reply.retry_after_seconds, kLongestRetryAfter));
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// Models that are asked for an object and say this instead.
bool reads_as_refusal(std::string_view text) {
  constexpr std::array<std::string_view, 6> kBeginnings = {"I'm sorry", "I am sorry", "I can't",
                                                           "I cannot",  "I'm unable", "Sorry,"};
  if (text.find('{') != std::string_view::npos) return false;
  return std::ranges::any_of(kBeginnings, [&](auto words) { return text.starts_with(words); });
}

std::string text_at(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t tokens_at(const Json& body, const char* field) {
  const Json::json_pointer place(std::string("/usage/") + field);
  const bool known = body.contains(place) && body[place].is_number_unsigned();
  return known ? body[place].get<std::int64_t>() : 0;
}

Completion read_choice(const Json& choice) {
  const Json& message = choice["message"];
  const std::string finish = text_at(choice, "finish_reason");
  const std::string refusal = text_at(message, "refusal");
  Completion completion{.code = AnswerCode::kOk, .text = text_at(message, "content"), .detail = {}};
  if (finish == "length") {
    completion.code = AnswerCode::kTruncated;
  } else if (finish == "content_filter" || !refusal.empty() || reads_as_refusal(completion.text)) {
    completion.code = AnswerCode::kRefused;
    completion.detail = !refusal.empty() ? refusal : finish + ": " + completion.text;
  }
  return completion;
}

std::string shown(const std::string& text) {
  return text.size() <= kShownBytes ? text : text.substr(0, kShownBytes) + "...";
}

}  // namespace

std::string_view name(AnswerCode code) {
  constexpr std::array<std::string_view, kAnswerCodes> kNames = {
      "ok",        "unparsable", "refused",     "truncated",
      "bad_reply", "http_error", "unreachable", "not_asked"};
  return kNames[static_cast<std::size_t>(code)];
}

std::string endpoint_url(const std::string& url) {
  const std::size_t host = url.find("://") + 3;
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    fail("--endpoint {}: expected a URL such as http://localhost:8000/v1", url);
  }
  if (url.substr(host, url.find('/', host) - host).find('@') != std::string::npos ||
      url.find_first_of("?#") != std::string::npos) {
    fail(
        "--endpoint: a URL with user, password or query is refused, for it would be logged; "
        "--key-variable names the environment variable that holds a key");
  }
  return url.substr(0, url.find_last_not_of('/') + 1);
}

Completion read_completion(std::string_view body) {
  Completion bad{.code = AnswerCode::kBadReply, .text = {}, .detail = {}};
  const Json parsed = Json::parse(body, nullptr, false);
  const Json::json_pointer first("/choices/0");
  if (parsed.is_discarded() || !parsed.is_object() || !parsed.contains(first) ||
      !parsed[first].is_object() || !parsed[first].contains("message") ||
      !parsed[first]["message"].is_object()) {
    bad.detail = "no chat completion: " + shown(std::string(body));
    return bad;
  }
  Completion completion = read_choice(parsed[first]);
  completion.prompt_tokens = tokens_at(parsed, "prompt_tokens");
  completion.completion_tokens = tokens_at(parsed, "completion_tokens");
  return completion;
}

Completion ask(HttpClient& client, const Endpoint& endpoint, const std::string& body) {
  const std::string url = endpoint.url + "/chat/completions";
  HttpReply reply;
  for (std::int64_t attempt = 0;; ++attempt) {
    reply = client.post_json(url, endpoint.key, body, endpoint.timeout_seconds);
    if (reply.status == 200) return read_completion(reply.body);
    if (!may_pass(reply) || attempt >= endpoint.retries) break;
    wait_before(attempt, endpoint, reply);
  }
  if (reply.status == 0) {
    return {.code = AnswerCode::kUnreachable, .text = {}, .detail = reply.error};
  }
  return {.code = AnswerCode::kHttpError,
          .text = {},
          .detail = fmt::format("status {}: {}", reply.status, shown(reply.body))};
}

}  // namespace lie::judge
