#include "tools/replay/data_shapes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/error.h"
#include "model/tokenizer/utf8.h"
#include "tools/replay/chat_turns.h"
#include "tools/replay/group_choice.h"
#include "tools/replay/response_columns.h"

namespace lie::replay {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

bool is_within(const AccuracyBounds& bounds, const LoggedGroup& group) {
  return bounds.contain(share(count_right(group.scores()), std::ssize(group.scores())));
}

constexpr const char* kOtherAccuracy = "groups of an accuracy out of bounds";
constexpr const char* kNoneRight = "groups without a right response";
constexpr const char* kNoneWrong = "groups without a wrong response";
constexpr const char* kOtherProblem = "problems of an accuracy out of bounds";

class Responses : public DataShape {
 public:
  Responses(const ShapeOptions& options, std::span<const LoggedRun> runs)
      : columns_(chosen_columns(response_columns(runs), options.columns)),
        accuracy_(options.accuracy) {}

  Row example() const override {
    return row([](const ResponseColumn& column) { return column.example; });
  }

  GroupRows rows(const LoggedGroup& group) override {
    if (!is_within(accuracy_, group)) return {.left_out = kOtherAccuracy};
    GroupRows all;
    for (std::size_t i = 0; i < group.scores().size(); ++i) {
      all.rows.push_back(row([&](const ResponseColumn& column) { return column.value(group, i); }));
    }
    return all;
  }

 private:
  Row row(auto value) const {
    Row row = Row::object();
    for (const ResponseColumn& column : columns_) row[column.name] = value(column);
    return row;
  }

  std::vector<ResponseColumn> columns_;
  AccuracyBounds accuracy_;
};

/// The best right responses of each group.
class Demonstrations : public DataShape {
 public:
  explicit Demonstrations(const ShapeOptions& options)
      : as_one_list_(options.shape == "messages"),
        best_(options.best),
        accuracy_(options.accuracy),
        wording_(options.messages || as_one_list_) {}

  Row example() const override { return row(wording_.example(), wording_.example()); }

  GroupRows rows(const LoggedGroup& group) override {
    if (!is_within(accuracy_, group)) return {.left_out = kOtherAccuracy};
    std::vector<std::size_t> best = best_right(group.scores());
    if (best.empty()) return {.left_out = kNoneRight};
    if (best_ > 0 && best.size() > best_) best.resize(best_);
    GroupRows all;
    for (const std::size_t i : best) {
      all.rows.push_back(row(wording_.prompt(group), wording_.response(group, i)));
    }
    return all;
  }

 private:
  Row row(Row prompt, Row response) const {
    if (!as_one_list_) return {{"prompt", std::move(prompt)}, {"completion", std::move(response)}};
    prompt.push_back(response.front());
    return {{"messages", std::move(prompt)}};
  }

  bool as_one_list_;
  std::size_t best_;
  AccuracyBounds accuracy_;
  Wording wording_;
};

/// The best right response of each group beside its worst wrong one.
class Preferences : public DataShape {
 public:
  explicit Preferences(const ShapeOptions& options)
      : accuracy_(options.accuracy), wording_(options.messages) {}

  Row example() const override {
    return row(wording_.example(), wording_.example(), wording_.example());
  }

  GroupRows rows(const LoggedGroup& group) override {
    if (!is_within(accuracy_, group)) return {.left_out = kOtherAccuracy};
    const auto right = best_right(group.scores());
    const auto wrong = worst_wrong(group.scores());
    if (right.empty()) return {.left_out = kNoneRight};
    if (!wrong) return {.left_out = kNoneWrong};
    return {{row(wording_.prompt(group), wording_.response(group, right.front()),
                 wording_.response(group, *wrong))}};
  }

 private:
  static Row row(Row prompt, Row chosen, Row rejected) {
    return {{"prompt", std::move(prompt)},
            {"chosen", std::move(chosen)},
            {"rejected", std::move(rejected)}};
  }

  AccuracyBounds accuracy_;
  Wording wording_;
};

/// Each problem once, in the order in which they were first asked, with the share of right
/// responses over all of its groups.
class Problems : public DataShape {
 public:
  explicit Problems(const ShapeOptions& options) : accuracy_(options.accuracy), wording_(true) {}

  Row example() const override {
    Asked some{.turns = wording_.example(), .prompt = {}, .responses = 1};
    some.prompt.reference_length = 1;
    return row(some);
  }

  GroupRows rows(const LoggedGroup& group) override {
    const Prompt& prompt = group.ticket().prompt;
    const auto [place, is_new] = places_.try_emplace({prompt.text, prompt.gold}, asked_.size());
    if (is_new) asked_.push_back({.turns = wording_.prompt(group), .prompt = prompt});
    Asked& asked = asked_[place->second];
    asked.responses += std::ssize(group.scores());
    asked.right += count_right(group.scores());
    return {};
  }

  std::vector<GroupRows> rest() override {
    std::vector<GroupRows> all;
    for (const Asked& asked : asked_) {
      const bool is_within = accuracy_.contain(share(asked.right, asked.responses));
      all.push_back(is_within ? GroupRows{{row(asked)}} : GroupRows{.left_out = kOtherProblem});
    }
    return all;
  }

 private:
  struct Asked {
    Row turns;
    Prompt prompt;
    std::int64_t responses = 0, right = 0;
  };

  static Row row(const Asked& asked) {
    const Prompt& prompt = asked.prompt;
    const bool has_length = prompt.reference_length >= 0;
    return {{"data_source", repair_utf8(prompt.data_source)},
            {"prompt", asked.turns},
            {"ability", "math"},
            {"reward_model", {{"style", "rule"}, {"ground_truth", repair_utf8(prompt.gold)}}},
            {"reference_length", has_length ? Row(prompt.reference_length) : Row()},
            {"extra_info",
             {{"index", prompt.problem},
              {"responses", asked.responses},
              {"accuracy", share(asked.right, asked.responses)}}}};
  }

  AccuracyBounds accuracy_;
  Wording wording_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;  // by text and gold
  std::vector<Asked> asked_;
};

void check_options(const ShapeOptions& options) {
  const bool is_sft = options.shape == "sft", is_messages = options.shape == "messages";
  if (!options.columns.empty() && options.shape != "responses") {
    fail("--columns: only --as responses has columns to choose");
  }
  if (options.best != 1 && !is_sft && !is_messages) {
    fail("--best: only --as sft and --as messages take the best responses of a group");
  }
  if (options.messages && !is_sft && options.shape != "pairs") {
    fail("--messages: only --as sft and --as pairs have a choice between messages and texts");
  }
}

}  // namespace

std::unique_ptr<DataShape> make_shape(const ShapeOptions& options,
                                      std::span<const LoggedRun> runs) {
  check_options(options);
  if (options.shape == "responses") return std::make_unique<Responses>(options, runs);
  if (options.shape == "pairs") return std::make_unique<Preferences>(options);
  if (options.shape == "problems") return std::make_unique<Problems>(options);
  return std::make_unique<Demonstrations>(options);
}

}  // namespace lie::replay
