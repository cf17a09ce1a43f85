#include "tools/judge/http.h"

#include <curl/curl.h>

#include <array>

#include "common/base/error.h"

namespace lie::judge {
namespace {

constexpr std::size_t kMostBytes = 16 << 20;

std::size_t take(char* bytes, std::size_t, std::size_t count, void* body) {
  auto& text = *static_cast<std::string*>(body);
  if (text.size() + count > kMostBytes) return 0;  // ends the transfer
  text.append(bytes, count);
  return count;
}

/// Header lines of one request.
class Headers {
 public:
  ~Headers() { curl_slist_free_all(list_); }
  void add(const std::string& line) {
    curl_slist* longer = curl_slist_append(list_, line.c_str());
    if (longer == nullptr) fail("out of memory");
    list_ = longer;
  }
  curl_slist* list() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

}  // namespace

struct HttpClient::Impl {
  Impl() {
    curl_global_init(CURL_GLOBAL_DEFAULT);  // counted: once for each client
    curl = curl_easy_init();
    if (curl == nullptr) fail("libcurl cannot be started");
  }
  ~Impl() {
    curl_easy_cleanup(curl);
    curl_global_cleanup();
  }
  Impl(const Impl&) = delete;

  CURL* curl = nullptr;
  std::array<char, CURL_ERROR_SIZE> error = {};
};

HttpClient::HttpClient() : impl_(std::make_unique<Impl>()) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;

HttpReply HttpClient::post_json(const std::string& url, const std::string& key,
                                const std::string& body, std::int64_t timeout_seconds) {
  CURL* curl = impl_->curl;
  HttpReply reply;
  Headers headers;
  headers.add("Content-Type: application/json");
  headers.add("Expect:");  // do not wait for "100 Continue"
  if (!key.empty()) headers.add("Authorization: Bearer " + key);
  impl_->error[0] = '\0';
  curl_easy_reset(curl);  // keeps the connection
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.list());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply.body);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, impl_->error.data());
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, static_cast<long>(timeout_seconds));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  const CURLcode code = curl_easy_perform(curl);
  if (code == CURLE_WRITE_ERROR) {
    reply.body = "more than 16 MiB";  // no JSON
  } else if (code != CURLE_OK) {
    const bool said = impl_->error[0] != '\0';
    reply.error = said ? impl_->error.data() : curl_easy_strerror(code);
    return reply;
  }
  long status = 0;
  curl_off_t wait = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait);
  reply.status = static_cast<int>(status);
  reply.retry_after_seconds = static_cast<double>(wait);
  return reply;
}

}  // namespace lie::judge
