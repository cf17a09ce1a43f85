// POST over HTTP(S), by libcurl; without it http_missing.cpp answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace lie::judge {

struct HttpReply {
  int status = 0;                  // 0: no reply came
  std::string body;                // of a longer one than 16 MiB only this fact
  double retry_after_seconds = 0;  // as the server asks; 0: it does not
  std::string error;               // why no reply came
};

/// One connection, kept open between requests. One thread at a time; redirects are not followed,
/// proxies are taken from the environment as curl takes them.
class HttpClient {
 public:
  /// Throws Error in a build without libcurl.
  HttpClient();
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;

  /// Posts JSON. `key` becomes the header "Authorization: Bearer" unless it is empty. Blocks up to
  /// `timeout_seconds`. A failure is a reply without status.
  HttpReply post_json(const std::string& url, const std::string& key, const std::string& body,
                      std::int64_t timeout_seconds);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lie::judge
