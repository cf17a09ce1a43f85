#include "tools/judge/judge_command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "common/base/build_id.h"
#include "common/base/error.h"
#include "common/io/file.h"
#include "common/io/json_lines.h"
#include "common/io/sha256.h"
#include "tools/judge/phrases.h"
#include "tools/judge/summary.h"
#include "tools/judge/texts.h"

namespace lie::judge {
namespace {

/// Answers by code.
using Codes = std::array<std::int64_t, kAnswerCodes>;

/// The answers to one sample's questions, read.
struct Judged {
  std::vector<Measured> measured;  // by response
  Codes codes = {};
  std::vector<std::string> first_details = std::vector<std::string>(kAnswerCodes);
  Json missing = Json::array();  // of answers that are not ok
};

AnswerCode read_into(const Question& question, const Completion& completion, Measured& measured) {
  if (completion.code != AnswerCode::kOk) return completion.code;
  Values& values = measured.passes[static_cast<std::size_t>(question.pass - 1)];
  return read_answer(question.topic, completion.text, values) ? AnswerCode::kOk
                                                              : AnswerCode::kUnparsable;
}

/// Without what is no UTF-8.
std::string clean(const std::string& text) { return Json::parse(json_quoted(text)); }

void note_missing(const Sample& sample, const Question& question, AnswerCode code,
                  const Completion& completion, Judged& judged) {
  const std::string detail = clean(completion.detail.empty() ? completion.text : completion.detail);
  std::string& first = judged.first_details[static_cast<std::size_t>(code)];
  if (first.empty()) first = without_middle(detail, 200);
  judged.missing.push_back({{"place", sample.responses[question.response].place},
                            {"topic", kTopics[question.topic]},
                            {"pass", question.pass},
                            {"code", name(code)},
                            {"detail", detail}});
}

Judged read_answers(const Sample& sample, const std::vector<Question>& questions,
                    const AnswerCache& cache, int passes) {
  Judged judged;
  for (const SampledResponse& response : sample.responses) {
    judged.measured.push_back(
        {response.step, std::vector<Values>(static_cast<std::size_t>(passes))});
  }
  const Completion none{.code = AnswerCode::kNotAsked, .text = {}, .detail = {}};
  for (const Question& question : questions) {
    const Completion* found = cache.find(question.key);
    const Completion& completion = found != nullptr ? *found : none;
    const AnswerCode code = read_into(question, completion, judged.measured[question.response]);
    ++judged.codes[static_cast<std::size_t>(code)];
    if (code != AnswerCode::kOk) note_missing(sample, question, code, completion, judged);
  }
  return judged;
}

std::string code_lines(const Judged& judged) {
  std::string text;
  for (std::size_t c = 0; c < judged.codes.size(); ++c) {
    if (judged.codes[c] == 0) continue;
    text += fmt::format("{:<20}{:>11}", name(static_cast<AnswerCode>(c)), judged.codes[c]);
    const std::string& detail = judged.first_details[c];
    text += detail.empty() ? "\n" : fmt::format("  the first: {}\n", json_quoted(detail));
  }
  return text;
}

Json codes_json(const Codes& codes) {
  Json object = Json::object();
  for (std::size_t c = 0; c < codes.size(); ++c)
    object[name(static_cast<AnswerCode>(c))] = codes[c];
  return object;
}

std::int64_t count_cut(const Sample& sample) {
  return std::ranges::count(sample.responses, true, &SampledResponse::cut);
}

std::string cut_line(const Sample& sample, const SampleChoice& choice) {
  const std::int64_t cut = count_cut(sample);
  if (cut == 0) return "";
  return fmt::format("{} responses are longer than {} bytes and were judged without their middle\n",
                     cut, choice.most_bytes);
}

/// Each response with its values: a list per measure, an entry per pass.
Json rows_json(const Sample& sample, const std::vector<Measured>& measured, std::size_t measures) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < measured.size(); ++i) {
    Json row = {{"place", sample.responses[i].place}, {"step", sample.responses[i].step}};
    for (std::size_t m = 0; m < measures; ++m) {
      for (const Values& pass : measured[i].passes) {
        row[kMeasures[m]].push_back(pass[m] ? Json(*pass[m]) : Json());
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json sample_json(const Sample& sample, const std::vector<Measured>& measured,
                 std::size_t measures) {
  return {{"source", sample.source},
          {"cut_responses", count_cut(sample)},
          {"ranges", summary_json(sample, measured, measures)},
          {"rows", rows_json(sample, measured, measures)}};
}

fs::path cache_directory(const JudgeArguments& arguments, const fs::path& source) {
  if (!arguments.cache.empty()) return arguments.cache;
  return fs::is_directory(source) ? source / "judge" : fs::path(source.string() + ".judge");
}

std::string key_of_environment(const JudgeArguments& arguments) {
  const char* found = std::getenv(arguments.key_variable.c_str());
  const std::string key = found != nullptr ? found : "";
  if (std::ranges::any_of(key, [](char c) { return c <= ' ' || c > '~'; })) {
    fail("the environment variable {} holds a space or line break; a key has none",
         arguments.key_variable);
  }
  const std::string& url = arguments.ask.endpoint.url;
  const bool is_local = url.starts_with("http://localhost") || url.starts_with("http://127.") ||
                        url.starts_with("http://[::1]");
  if (!key.empty() && url.starts_with("http://") && !is_local) {
    fmt::print(stderr, "warning: the key of {} goes to {} without encryption\n",
               arguments.key_variable, url);
  }
  return key;
}

void resolve(JudgeArguments& arguments) {
  arguments.ask.endpoint.url = endpoint_url(arguments.ask.endpoint.url);
  arguments.ask.endpoint.key = key_of_environment(arguments);
  arguments.request.extra = parse_json(arguments.extra, "--extra");
  if (!arguments.request.extra.is_object()) fail("--extra {}: expected an object", arguments.extra);
}

std::string tally_line(const AskTally& tally, const AskOptions& options) {
  std::string text = fmt::format("asked {}, from the cache {}; {} + {} tokens", tally.asked,
                                 tally.from_cache, tally.prompt_tokens, tally.completion_tokens);
  if (options.input_price > 0 || options.output_price > 0) {
    text += fmt::format(", cost {:.4f}", tally.cost);
  }
  return text;
}

/// One source's part of the report; false where answers are missing.
bool judge_source(const JudgeArguments& arguments, const fs::path& source, Json& report) {
  const Sample sample = draw_sample(source, arguments.choice);
  const auto questions = questions_about(sample, arguments.request, arguments.passes);
  AnswerCache cache(cache_directory(arguments, source));
  const AskTally tally = ask_missing(questions, cache, arguments.ask);
  const Judged judged = read_answers(sample, questions, cache, arguments.passes);
  Json part = sample_json(sample, judged.measured, kMeasures.size());
  part.update({{"answers", codes_json(judged.codes)},
               {"missing", judged.missing},
               {"agreement", agreement_json(judged.measured)},
               {"asked", tally.asked},
               {"from_cache", tally.from_cache},
               {"prompt_tokens", tally.prompt_tokens},
               {"completion_tokens", tally.completion_tokens},
               {"cost", tally.cost}});
  report["sources"].push_back(std::move(part));
  if (!arguments.json.empty()) write_json(report, arguments.json);
  fmt::print("{}: {} responses, judged by {}\n{}\n{}\n", sample.source, sample.responses.size(),
             arguments.request.model, summary_table(sample, judged.measured, kMeasures.size()),
             agreement_table(judged.measured));
  fmt::print("{}{}{}\nanswers: {}\n", code_lines(judged), cut_line(sample, arguments.choice),
             tally_line(tally, arguments.ask), cache.file().string());
  if (judged.missing.empty()) return true;
  fmt::print(stderr,
             "{}: {} of {} answers are missing; the same command asks again where no reply came\n",
             sample.source, judged.missing.size(), questions.size());
  return false;
}

Json prompt_digests(const RequestOptions& options) {
  Json digests = Json::object();
  for (const char* topic : kTopics) digests[topic] = sha256_hex(judge_text(topic, options.prompts));
  return digests;
}

}  // namespace

int judge_command(JudgeArguments arguments) {
  resolve(arguments);
  Json report = {{"build_id", build_id()},
                 {"endpoint", arguments.ask.endpoint.url},
                 {"model", arguments.request.model},
                 {"temperature", arguments.request.temperature},
                 {"seed", arguments.request.seed},
                 {"passes", arguments.passes},
                 {"prompts_sha256", prompt_digests(arguments.request)},
                 {"sources", Json::array()}};
  bool is_whole = true;
  for (const fs::path& source : arguments.sources) {
    if (!judge_source(arguments, source, report)) is_whole = false;
  }
  return is_whole ? 0 : 2;
}

void behaviours_command(const BehavioursArguments& arguments) {
  const std::vector<Phrase> phrases =
      arguments.phrases.empty()
          ? parse_phrases(judge_text("phrases", {}), "assets/judge/phrases.txt")
          : parse_phrases(read_file(arguments.phrases), arguments.phrases.string());
  Json report = {{"build_id", build_id()}, {"sources", Json::array()}};
  std::string tables;
  for (const fs::path& source : arguments.sources) {
    const Sample sample = draw_sample(source, arguments.choice);
    std::vector<Measured> measured;
    for (const SampledResponse& response : sample.responses) {
      measured.push_back({response.step, {count_phrases(phrases, response.response)}});
    }
    tables += fmt::format(
        "{}: {} responses, sentences with listed phrases (a proxy for behaviors)\n{}{}\n",
        sample.source, sample.responses.size(), summary_table(sample, measured, kGraphTopic),
        cut_line(sample, arguments.choice));
    report["sources"].push_back(sample_json(sample, measured, kGraphTopic));
  }
  if (!arguments.json.empty()) write_json(report, arguments.json);
  fmt::print("{}depth and width of the reasoning graph need a judge: lie_analyze judge\n", tables);
}

}  // namespace lie::judge
