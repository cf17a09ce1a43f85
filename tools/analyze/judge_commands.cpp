#include "tools/analyze/analyze_commands.h"

#include <memory>
#include <string>

#include "tools/arguments/number_arguments.h"
#include "tools/arguments/output_argument.h"
#include "tools/judge/judge_command.h"

namespace lie {
namespace {

using judge::BehavioursArguments, judge::JudgeArguments, judge::SourceArguments;

void add_sources(CLI::App& command, SourceArguments& arguments) {
  command
      .add_option("RUN_DIR|FILE", arguments.sources,
                  "run directories, or JSONL files of prompt and response (and step)")
      ->required();
  add_integer(command, "--samples", arguments.choice.count,
              "responses of each source, spread over its steps; 0: all", 0);
  add_integer(command, "--seed", arguments.choice.seed, "of the draw of responses", 0);
  command
      .add_option_function<std::vector<std::string>>(
          "--steps",
          [&arguments](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              arguments.choice.ranges.push_back(parse_number_range("--steps", text));
            }
          },
          "only these, such as 40, 31-40 or 31-; each given range is a column [all, as four "
          "columns]")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_flag("--evaluation", arguments.choice.evaluation,
                   "a run's evaluation responses instead of those of training");
  add_integer(command, "--max-bytes", arguments.choice.most_bytes,
              "a longer response is read without its middle", 1000, 100000000);
  command.add_option("--json", arguments.json, "write tables and rows to this file")
      ->check(output_file());
}

void add_request(CLI::App& command, JudgeArguments& arguments) {
  judge::RequestOptions& request = arguments.request;
  command.add_option("--model", request.model, "as the endpoint names it")->required();
  add_number(command, "--temperature", request.temperature, "of the judge", 0, 2);
  add_integer(command, "--judge-seed", request.seed, "sent as seed; pass 2 sends the next", 0);
  add_integer(command, "--max-tokens", request.max_tokens, "of an answer", 1);
  command.add_option("--extra", arguments.extra,
                     "JSON object merged into each request; null removes a parameter: "
                     "'{\"max_tokens\": null, \"max_completion_tokens\": 4096}'");
  command
      .add_option("--prompts", request.prompts,
                  "directory of prompts of your own, as assets/judge [built in]")
      ->check(CLI::ExistingDirectory);
  add_integer(command, "--passes", arguments.passes,
              "2: ask twice, with another seed and the texts before the prompt, and show how "
              "far the answers agree",
              1, 2);
}

void add_transport(CLI::App& command, JudgeArguments& arguments) {
  judge::AskOptions& ask = arguments.ask;
  command.add_option("--endpoint", ask.endpoint.url, "URL before /chat/completions")->required();
  command
      .add_option("--key-variable", arguments.key_variable,
                  "environment variable that holds the API key, if one is needed")
      ->capture_default_str();
  add_integer(command, "--concurrency", ask.concurrency, "requests in flight", 1, 1024);
  command.add_option("--requests-per-minute", ask.requests_per_minute, "at most [no limit]")
      ->check(numbers(1e-3));
  add_integer(command, "--retries", ask.endpoint.retries,
              "after status 408, 429, 5xx and lost connections", 0, 100);
  add_number(command, "--retry-seconds", ask.endpoint.retry_seconds,
             "before the first retry; twice as long before each next one", 0, 60);
  add_integer(command, "--timeout", ask.endpoint.timeout_seconds, "seconds that a request may take",
              1, 86400);
  command.add_option("--input-price", ask.input_price, "of a million prompt tokens")
      ->check(numbers(0));
  command.add_option("--output-price", ask.output_price, "of a million answered tokens")
      ->check(numbers(0));
  command.add_option("--cache", arguments.cache,
                     "directory of the answers [RUN_DIR/judge, or FILE.judge]");
}

}  // namespace

void add_judge_commands(CLI::App& program, Chosen& chosen) {
  const auto judge = std::make_shared<JudgeArguments>();
  CLI::App* command = program.add_subcommand(
      "judge",
      "Count verification, backtracking, subgoals and backward chaining, and measure depth and "
      "width of the reasoning graph, by an OpenAI-compatible chat endpoint. Answers are kept: "
      "nothing is asked twice. Exit status 2: some are missing");
  command->footer("");  // not the program's
  add_sources(*command, *judge);
  add_request(*command, *judge);
  add_transport(*command, *judge);
  command->callback([judge, &chosen] { chosen = [judge] { return judge_command(*judge); }; });

  const auto counted = std::make_shared<BehavioursArguments>();
  counted->choice.count = 0;
  command = program.add_subcommand("behaviours",
                                   "Count sentences with listed phrases, such as \"let me check\": "
                                   "a proxy for the behaviors that needs no server");
  command->alias("behaviors")->footer("");
  add_sources(*command, *counted);
  command->add_option("--phrases", counted->phrases,
                      "a list of your own, as assets/judge/phrases.txt [built in]");
  command->callback([counted, &chosen] {
    chosen = [counted] {
      behaviours_command(*counted);
      return 0;
    };
  });
}

}  // namespace lie
