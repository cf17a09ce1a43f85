#include "tools/replay/response_columns.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/error.h"
#include "model/tokenizer/utf8.h"
#include "tools/run/input/token_rows.h"

namespace lie::replay {
namespace {

using Columns = std::vector<ResponseColumn>;
using Group = const LoggedGroup&;

/// Parquet's texts are UTF-8.
Row text(const std::string& bytes) { return repair_utf8(bytes); }
Row number(double value) { return std::isfinite(value) ? Row(value) : Row(); }
/// Reads back to the same float, in few digits.
Row number(float value) {
  return std::isfinite(value) ? short_numbers(std::span(&value, 1)).front() : Row();
}

void add_place(Columns& all) {
  all.push_back({"run", "", [](Group g, auto) { return text(g.run.directory.string()); }});
  all.push_back({"step", 0, [](Group g, auto) { return Row(g.ticket().step); }});
  all.push_back({"kind", "", [](Group g, auto) {
                   return Row(g.ticket().purpose == Purpose::kTrain ? "train" : "eval");
                 }});
  all.push_back({"group", 0, [](Group g, auto) { return Row(g.ticket().group); }});
  all.push_back({"sample", 0, [](Group, auto i) { return Row(i); }});
}

void add_problem(Columns& all) {
  const auto prompt = [](Group g) -> const Prompt& { return g.ticket().prompt; };
  all.push_back({"problem", 0, [=](Group g, auto) { return Row(prompt(g).problem); }});
  all.push_back({"data_source", "", [=](Group g, auto) { return text(prompt(g).data_source); }});
  all.push_back({"prompt", "", [=](Group g, auto) { return text(prompt(g).text); }});
  all.push_back({"gold", "", [=](Group g, auto) { return text(prompt(g).gold); }});
  all.push_back({"reference_length", 0.0, [=](Group g, auto) {
                   const double length = prompt(g).reference_length;
                   return length < 0 ? Row() : number(length);
                 }});
}

void add_response(Columns& all) {
  all.push_back({"response", "", [](Group g, auto i) { return text(g.text(i)); }});
  all.push_back({"tokens", 0, [](Group g, auto i) { return Row(g.response(i).ids.size()); }});
  all.push_back({"finish_reason", "", [](Group g, auto i) {
                   const bool is_cut = g.response(i).finish == FinishReason::kLength;
                   return Row(is_cut ? "length" : "end_of_sequence");
                 }});
}

void add_score(Columns& all) {
  all.push_back({"verdict", "",
                 [](Group g, auto i) { return Row(std::string(name(g.scores()[i].verdict))); }});
  all.push_back({"right", false, [](Group g, auto i) {
                   return Row(g.scores()[i].verdict == VerdictCode::kEqual);
                 }});
  all.push_back({"extracted", "", [](Group g, auto i) { return text(g.scores()[i].extracted); }});
  all.push_back(
      {"target_length", 0.0, [](Group g, auto i) { return number(g.scores()[i].target_length); }});
  all.push_back({"distinct_ngrams", 0,
                 [](Group g, auto i) { return Row(g.scores()[i].coverage.distinct_ngrams); }});
  all.push_back({"ngrams", 0, [](Group g, auto i) { return Row(g.scores()[i].coverage.ngrams); }});
  all.push_back({"largest_repeat", 0,
                 [](Group g, auto i) { return Row(g.scores()[i].coverage.largest_repeat); }});
  all.push_back({"reward", 0.0, [](Group g, auto i) { return number(g.scores()[i].reward()); }});
}

Row reward_of(Group group, std::size_t sample, const std::string& term) {
  const RewardNames& terms = group.run.log.info().rewards;
  const auto found = std::ranges::find(terms, term, &RewardName::name);
  if (found == terms.end()) return {};
  return number(group.scores()[sample].rewards[static_cast<std::size_t>(found - terms.begin())]);
}

Row number_of(Group group, std::size_t sample, const std::string& name) {
  const auto& numbers = group.scores()[sample].numbers;
  const auto found = std::ranges::find(numbers, name, &NamedNumber::name);
  return found == numbers.end() ? Row() : number(found->value);
}

/// A column unless an earlier run has it.
void add_once(Columns& all, ResponseColumn column) {
  if (std::ranges::find(all, column.name, &ResponseColumn::name) == all.end()) {
    all.push_back(std::move(column));
  }
}

void add_named(Columns& all, std::span<const LoggedRun> runs) {
  for (const LoggedRun& run : runs) {
    for (const RewardName& term : run.log.info().rewards) {
      add_once(all, {"reward_" + term.name, 0.0,
                     [name = term.name](Group g, auto i) { return reward_of(g, i, name); }});
    }
  }
  for (const LoggedRun& run : runs) {
    for (const std::string& name : run.log.info().numbers) {
      add_once(all, {name, 0.0, [name](Group g, auto i) { return number_of(g, i, name); }});
    }
  }
}

/// `get` of what the learner found; null where it did not train on the response.
auto of_result(auto get) {
  return [get](Group group, std::size_t sample) {
    const auto& results = group.record.results;
    if (results.empty()) return Row();
    return Row(get(results[sample]));
  };
}

void add_result(Columns& all) {
  using R = const LearnerResult&;
  all.push_back({"advantage", 0.0, of_result([](R r) { return number(r.advantage); })});
  all.push_back({"sequence_log_ratio", 0.0, of_result([](R r) {
                   return r.mini_batch < 0 ? Row() : number(r.sequence_log_ratio);
                 })});
  all.push_back({"clipped", false, of_result([](R r) { return Row(r.clipped); })});
}

void add_tokens(Columns& all) {
  const auto add = [&](const char* name, Row element, auto value) {
    all.push_back({name, Row::array({std::move(element)}), value, /*is_default=*/false});
  };
  add("prompt_ids", 0, [](Group g, auto) { return Row(g.record.scored.rollout.prompt_ids); });
  add("response_ids", 0, [](Group g, auto i) { return Row(g.response(i).ids); });
  add("behavior_log_probs", 0.0,
      [](Group g, auto i) { return short_numbers(g.response(i).behavior_log_probs); });
  add("learner_log_probs", 0.0, of_result([](const LearnerResult& r) {
        return r.log_probs.empty() ? Row() : short_numbers(r.log_probs);
      }));
}

}  // namespace

std::vector<ResponseColumn> response_columns(std::span<const LoggedRun> runs) {
  Columns all;
  add_place(all);
  add_problem(all);
  add_response(all);
  add_score(all);
  add_named(all, runs);
  add_result(all);
  add_tokens(all);
  return all;
}

std::vector<ResponseColumn> chosen_columns(std::vector<ResponseColumn> all,
                                           std::span<const std::string> names) {
  if (names.empty()) {
    std::erase_if(all, [](const ResponseColumn& column) { return !column.is_default; });
    return all;
  }
  Columns chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &ResponseColumn::name);
    if (found == all.end()) {
      std::vector<std::string> known;
      for (const ResponseColumn& column : all) known.push_back(column.name);
      fail("--columns {}: no such column; there are {}", name, fmt::join(known, ", "));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

}  // namespace lie::replay
