#include "tools/judge/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "common/io/sha256.h"
#include "common/process/live_line.h"
#include "tools/judge/texts.h"

namespace lie::judge {
namespace {

constexpr int kFailuresInARow = 8;

std::string request_body(const std::string& prompt, const SampledResponse& response, int pass,
                         const RequestOptions& options) {
  const std::string texts = fmt::format("<problem>\n{}\n</problem>\n\n<response>\n{}\n</response>",
                                        response.prompt, response.response);
  const std::string content = pass == 1 ? prompt + "\n" + texts : texts + "\n\n" + prompt;
  Json body = {{"model", options.model},
               {"messages", Json::array({{{"role", "user"}, {"content", content}}})},
               {"temperature", options.temperature},
               {"seed", options.seed + pass - 1},
               {"max_tokens", options.max_tokens}};
  body.merge_patch(options.extra);
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Threads that share the questions which the cache lacks.
class Team {
 public:
  Team(std::vector<const Question*> questions, AnswerCache& cache, const AskOptions& options,
       AskTally& tally)
      : questions_(std::move(questions)), cache_(cache), options_(options), tally_(tally) {}

  void run() {
    const auto count = static_cast<std::size_t>(options_.concurrency);
    std::vector<HttpClient> clients(std::min(count, questions_.size()));
    std::vector<std::future<void>> workers;
    for (HttpClient& client : clients) {
      workers.push_back(std::async(std::launch::async, [this, &client] { work(client); }));
    }
    for (std::future<void>& worker : workers) worker.wait();
    line_.finish();
    for (std::future<void>& worker : workers) worker.get();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void work(HttpClient& client) {
    while (const Question* question = next()) {
      take(*question, ask(client, options_.endpoint, question->body));
    }
  }

  /// The next question, when its time has come.
  const Question* next() {
    Clock::time_point start;
    const Question* question = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (gives_up_ || next_ == questions_.size()) return nullptr;
      question = questions_[next_++];
      start = next_start_ = std::max(next_start_, Clock::now());
      if (options_.requests_per_minute > 0) {
        next_start_ += std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(60 / options_.requests_per_minute));
      }
    }
    std::this_thread::sleep_until(start);
    return question;
  }

  void take(const Question& question, const Completion& completion) {
    const std::lock_guard lock(mutex_);
    gives_up_ = true;  // unless all goes well
    cache_.add(question.key, {{"topic", kTopics[question.topic]}, {"pass", question.pass}},
               completion);
    failures_ = completion.is_final() ? 0 : failures_ + 1;
    failed_ += completion.is_final() ? 0 : 1;
    gives_up_ = failures_ >= kFailuresInARow;
    count(completion);
    show();
  }

  void count(const Completion& completion) {
    ++tally_.asked;
    tally_.prompt_tokens += completion.prompt_tokens;
    tally_.completion_tokens += completion.completion_tokens;
    tally_.cost = (static_cast<double>(tally_.prompt_tokens) * options_.input_price +
                   static_cast<double>(tally_.completion_tokens) * options_.output_price) /
                  1e6;
  }

  /// On a terminal after each answer, elsewhere after each tenth of them.
  void show() {
    const auto done = static_cast<std::size_t>(tally_.asked);
    const std::size_t rhythm = std::max<std::size_t>(1, questions_.size() / 10);
    if (!line_.is_rewritten() && done % rhythm != 0 && done != questions_.size()) return;
    std::string text = fmt::format("asked {} of {} | {} + {} tokens", done, questions_.size(),
                                   tally_.prompt_tokens, tally_.completion_tokens);
    if (tally_.cost > 0) text += fmt::format(" | cost {:.4f}", tally_.cost);
    if (failed_ > 0) text += fmt::format(" | {} failed", failed_);
    line_.show(text);
  }

  const std::vector<const Question*> questions_;
  AnswerCache& cache_;
  const AskOptions& options_;
  AskTally& tally_;
  std::mutex mutex_;
  std::size_t next_ = 0;
  Clock::time_point next_start_ = Clock::now();
  bool gives_up_ = false;
  int failures_ = 0;  // in a row
  std::int64_t failed_ = 0;
  LiveLine line_{stderr};
};

}  // namespace

std::vector<Question> questions_about(const Sample& sample, const RequestOptions& options,
                                      int passes) {
  std::array<std::string, kTopics.size()> prompts;
  std::ranges::transform(kTopics, prompts.begin(),
                         [&](const char* topic) { return judge_text(topic, options.prompts); });
  std::vector<Question> questions;
  for (std::size_t i = 0; i < sample.responses.size(); ++i) {
    for (int pass = 1; pass <= passes; ++pass) {
      for (std::size_t topic = 0; topic < kTopics.size(); ++topic) {
        std::string body = request_body(prompts[topic], sample.responses[i], pass, options);
        std::string key = sha256_hex(body);
        questions.push_back({i, topic, pass, std::move(body), std::move(key)});
      }
    }
  }
  return questions;
}

AskTally ask_missing(const std::vector<Question>& questions, AnswerCache& cache,
                     const AskOptions& options) {
  AskTally tally;
  std::vector<const Question*> missing;
  std::set<std::string_view> keys;  // equal responses are equal questions
  for (const Question& question : questions) {
    const bool known = cache.find(question.key) != nullptr || !keys.insert(question.key).second;
    if (known) ++tally.from_cache;
    if (!known) missing.push_back(&question);
  }
  if (!missing.empty()) Team(std::move(missing), cache, options, tally).run();
  return tally;
}

}  // namespace lie::judge
