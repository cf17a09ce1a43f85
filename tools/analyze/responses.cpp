#include "tools/analyze/responses.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "model/tokenizer/utf8.h"
#include "tools/analyze/derived_curves.h"
#include "tools/analyze/report/html.h"
#include "tools/analyze/table.h"

namespace lie::analyze {
namespace {

constexpr std::size_t kMostCharacters = 6000;

/// Chooses training responses of a step, alternately correct and incorrect, each of another group.
void choose(const Run& run, std::int64_t step, std::size_t count,
            std::vector<std::size_t>& chosen) {
  std::set<std::int64_t> groups;
  const std::size_t wanted = chosen.size() + count;
  for (const bool strict : {true, false}) {
    bool right = false, found = true;
    while (found && chosen.size() < wanted) {
      found = false;
      for (std::size_t i = 0; i < run.samples.size() && !found; ++i) {
        const bool fits = run.samples.is_training(i) && run.samples.step[i] == step &&
                          (!strict || (run.samples.verdict[i] == 0) == right) &&
                          !groups.contains(run.trajectories->samples()[i].key.group);
        if (!fits) continue;
        chosen.push_back(i);
        groups.insert(run.trajectories->samples()[i].key.group);
        right = !right;
        found = true;
      }
    }
  }
}

std::string clipped_text(std::string text) {
  if (text.size() <= kMostCharacters) return escaped(text);
  const std::size_t cut = utf8_start(text, kMostCharacters);
  return escaped(text.substr(0, cut)) + fmt::format("<em> … {} more bytes</em>", text.size() - cut);
}

std::string chip(std::string_view name, const std::string& value) {
  return fmt::format("<span class=chip>{} <b>{}</b></span>", name, escaped(value));
}

std::string reward_chips(const SampleColumns& s, std::size_t i) {
  std::string html = chip("reward", short_number(s.reward[i]));
  for (const RewardColumn& term : s.rewards) {
    if (term.values[i] != 0) html += chip(escaped(term.about), short_number(term.values[i]));
  }
  for (const NumberColumn& number : s.numbers) {
    if (!std::isnan(number.values[i]))
      html += chip(escaped(number.name), short_number(number.values[i]));
  }
  return html + chip("advantage", short_number(s.advantage[i]));
}

std::string shape_chips(const SampleColumns& s, std::size_t i) {
  std::string html = chip("L", std::to_string(s.tokens[i]));
  if (s.target_length[i] > 0) html += chip("L_target", short_number(s.target_length[i]));
  html += chip("C_context", std::to_string(s.distinct_ngrams[i]));
  if (s.largest_repeat[i] > 1) html += chip("largest repeat", std::to_string(s.largest_repeat[i]));
  if (s.finish_reason[i] == 1) html += "<span class=\"chip bad\">cut at the limit</span>";
  return html;
}

std::string card(const Run& run, const Decoder& decode, std::size_t i) {
  return "<article>" + prompt_text(run, decode, i) + answer_text(run, decode, i, "") +
         "</article>\n";
}

}  // namespace

std::string prompt_text(const Run& run, const Decoder& decode, std::size_t i) {
  return fmt::format("<pre class=prompt>{}</pre>",
                     clipped_text(decode(run.trajectories->problem(i).prompt_ids)));
}

std::string answer_text(const Run& run, const Decoder& decode, std::size_t i,
                        const std::string& heading) {
  const SampleColumns& s = run.samples;
  const SampleKey& key = run.trajectories->samples()[i].key;
  const std::string extracted = run.trajectories->extracted(i);
  return fmt::format(
      "<header>{}<b>step {}</b> problem {}, sample {}<span class=\"verdict {}\">{}</span>"
      "</header><pre>{}</pre><p>{}{}{}</p><p>{}</p>",
      heading, key.step, s.problem[i], key.sample, s.verdict[i] == 0 ? "good" : "bad",
      verdict_word(s.verdict[i]), clipped_text(decode(run.trajectories->response_ids(i))),
      chip("gold", run.trajectories->problem(i).gold),
      chip("extracted", extracted.empty() ? "nothing" : extracted), shape_chips(s, i),
      reward_chips(s, i));
}

std::vector<std::size_t> chosen_responses(const Run& run, std::size_t count) {
  std::vector<std::size_t> chosen;
  if (run.train_count.empty() || count == 0) return chosen;
  const std::int64_t first = run.train_count.begin()->first;
  const std::int64_t last = run.train_count.rbegin()->first;
  if (first != last) choose(run, first, count / 3, chosen);
  choose(run, last, count - chosen.size(), chosen);
  return chosen;
}

std::string last_responses(const Run& run, const Decoder& decode, std::size_t count) {
  std::vector<std::size_t> chosen;
  if (!run.train_count.empty()) choose(run, run.train_count.rbegin()->first, count, chosen);
  std::string out;
  for (const std::size_t i : chosen) {
    const SampleColumns& s = run.samples;
    const SampleKey& key = run.trajectories->samples()[i].key;
    const ProblemText problem = run.trajectories->problem(i);
    out += fmt::format(
        "== step {}, problem {}, sample {}: {}, reward {}, {} tokens{}\n{}\n--\n{}\n-- gold {}, "
        "extracted {}\n\n",
        key.step, s.problem[i], key.sample, verdict_word(s.verdict[i]), short_number(s.reward[i]),
        s.tokens[i], s.finish_reason[i] == 1 ? ", cut at the limit" : "",
        visible(decode(problem.prompt_ids)), visible(decode(run.trajectories->response_ids(i))),
        visible(problem.gold), visible(run.trajectories->extracted(i)));
  }
  return out;
}

std::string response_cards(const Run& run, const Decoder& decode, std::size_t count) {
  std::string html;
  for (const std::size_t i : chosen_responses(run, count)) html += card(run, decode, i);
  return html;
}

}  // namespace lie::analyze
