#include "model/tokenizer/template/templates.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/error.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "common/io/sha256.h"
#include "common/text/scan.h"
#include "model/tokenizer/tokenizer_config.h"
#include "model/tokenizer/tokenizer_file.h"
#include "model/tokenizer/tokenizer_json.h"
#include "model/tokenizer/tokens_beside.h"

namespace lie {
namespace {

constexpr std::string_view kProbeAnswer = "an answer that no template contains";

/// Returns the template named "default" from a list, the form of older tokenizer configs.
std::string default_of(const Json& named) {
  for (const Json& one : named) {
    if (one.is_object() && one.value("name", Json()) == "default" && one.contains("template") &&
        one["template"].is_string()) {
      return one["template"];
    }
  }
  return "";
}

/// Returns the text of a token, which is a string or an object with "content".
std::string token_text(const Json& token) {
  if (token.is_string()) return token;
  const auto content = token.is_object() ? token.find("content") : token.end();
  return content != token.end() && content->is_string() ? content->get<std::string>() : "";
}

/// Returns the tokens that transformers passes to the template as variables: bos_token and other
/// keys that end with "_token", and those that extra_special_tokens names.
JinjaVariables named_tokens(const Json& config) {
  JinjaVariables tokens;
  const auto add = [&](const std::string& name, const Json& token) {
    const std::string text = token_text(token);
    if (token.is_string() || !text.empty()) tokens.insert_or_assign(name, text);
  };
  for (const auto& [name, token] : config.items()) {
    if (name.ends_with("_token")) add(name, token);
  }
  const auto extra = config.find("extra_special_tokens");
  if (extra == config.end() || !extra->is_object()) return tokens;
  for (const auto& [name, token] : extra->items()) add(name, token);
  return tokens;
}

/// Returns the texts of all added tokens of a model.
std::vector<std::string> added_tokens(const fs::path& model_directory) {
  std::vector<std::string> texts;
  for (const auto& [name, text] : named_tokens(read_tokenizer_config(model_directory))) {
    texts.push_back(text);
  }
  for (const AddedToken& token : tokens_beside(model_directory)) texts.push_back(token.content);
  const fs::path path = model_directory / "tokenizer.json";
  if (!fs::exists(path)) return texts;
  const Json tree = read_tokenizer_file(path).tree;
  const auto found = tree.find("added_tokens");
  if (found == tree.end() || !found->is_array()) return texts;
  for (const Json& token : *found) texts.push_back(token_text(token));
  return texts;
}

/// Returns the leftmost of `tokens` in a text, and the longest if several begin there. Returns an
/// empty string if the text contains none.
std::string first_token(std::string_view text, const std::vector<std::string>& tokens) {
  std::pair<std::size_t, std::string> first = {std::string_view::npos, ""};
  for (const std::string& token : tokens) {
    const std::size_t at = token.empty() ? std::string_view::npos : text.find(token);
    const bool is_longer = at == first.first && token.size() > first.second.size();
    if (at < first.first || (at != std::string_view::npos && is_longer)) first = {at, token};
  }
  return first.second;
}

}  // namespace

std::optional<ChatTemplateFile> find_chat_template(const fs::path& model_directory) {
  const fs::path file = model_directory / "chat_template.jinja";
  if (fs::exists(file)) return ChatTemplateFile{file, read_file(file)};
  const Json config = read_tokenizer_config(model_directory);
  const auto found = config.find("chat_template");
  if (found == config.end()) return std::nullopt;
  std::string text = found->is_array() ? default_of(*found) : token_text(*found);
  if (text.empty()) return std::nullopt;
  return ChatTemplateFile{model_directory / "tokenizer_config.json", std::move(text)};
}

ChatTemplate::ChatTemplate(const ChatTemplateFile& file, const fs::path& model_directory)
    : place_(file.path.string()),
      template_(file.text, place_),
      tokens_(named_tokens(read_tokenizer_config(model_directory))),
      end_of_turn_(find_end_of_turn(model_directory)) {}

std::string ChatTemplate::prompt(std::span<const ChatMessage> messages) const {
  return template_.render(messages, true, tokens_);
}

std::string ChatTemplate::rendered_answer(std::span<const ChatMessage> messages,
                                          std::string_view content,
                                          std::string_view reasoning) const {
  std::vector<ChatMessage> all(messages.begin(), messages.end());
  all.push_back({"assistant", std::string(content), std::string(reasoning)});
  return template_.render(all, false, tokens_);
}

std::string ChatTemplate::answer(std::span<const ChatMessage> messages, std::string_view content,
                                 std::string_view reasoning) const {
  const std::string asked = prompt(messages);
  std::string answer = rendered_answer(messages, content, reasoning);
  const bool follows = answer.starts_with(asked);
  if (follows) answer.erase(0, asked.size());
  if (!follows || answer.find(trimmed(content)) == std::string::npos) {
    fail(
        "{}: the chat template renders this answer differently from the prompt, so there is no "
        "text to learn after the prompt; set data.prompt_template to a named template",
        place_);
  }
  const std::string_view thought =
      std::string_view(answer).substr(0, answer.rfind(trimmed(content)));
  if (thought.find(trimmed(reasoning)) == std::string_view::npos) {
    fail(
        "{}: the chat template does not render the reasoning of this answer, which would be lost; "
        "write it into the content, or set data.prompt_template to one that has thoughts",
        place_);
  }
  // The text after the end of turn belongs to the next turn. No model writes it.
  const std::size_t end = end_of_turn_.empty() ? std::string::npos : answer.rfind(end_of_turn_);
  if (end != std::string::npos) answer.resize(end + end_of_turn_.size());
  return answer;
}

std::string ChatTemplate::find_end_of_turn(const fs::path& model_directory) const {
  const std::vector<ChatMessage> question = {{"user", "a question"}};
  const std::string text = rendered_answer(question, kProbeAnswer, "");
  const std::size_t at = text.rfind(kProbeAnswer);
  if (at == std::string::npos) return "";
  return first_token(std::string_view(text).substr(at + kProbeAnswer.size()),
                     added_tokens(model_directory));
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThinkEnd = "</think>";
constexpr std::string_view kEmptyThought = "<think>\n\n</think>\n\n";

std::string_view without_leading(std::string_view text, std::string_view set) {
  return text.substr(std::min(text.find_first_not_of(set), text.size()));
}

std::string_view without_trailing(std::string_view text, std::string_view set) {
  return text.substr(0, text.find_last_not_of(set) + 1);
}

std::string chatml_turn(std::string_view role, std::string_view content) {
  return fmt::format("<|im_start|>{}\n{}<|im_end|>\n", role, content);
}

/// Returns an earlier answer without its thought, as Qwen3's template renders it.
std::string_view without_thought(std::string_view content) {
  const std::size_t end = content.rfind(kThinkEnd);
  if (end == std::string_view::npos) return content;
  return without_leading(content.substr(end + kThinkEnd.size()), "\n");
}

/// Returns the text between <think> and the first </think> of an answer, or an empty string.
std::string_view thought_of(std::string_view content) {
  const std::size_t end = content.find(kThinkEnd);
  if (end == std::string_view::npos) return "";
  std::string_view thought = without_trailing(content.substr(0, end), "\n");
  const std::size_t begin = thought.rfind("<think>");
  if (begin != std::string_view::npos) thought.remove_prefix(begin + 7);
  return without_leading(thought, "\n");
}

std::string chatml_prompt(std::span<const ChatMessage> messages) {
  std::string text;
  for (const ChatMessage& m : messages) text += chatml_turn(m.role, m.content);
  return text + "<|im_start|>assistant\n";
}

std::string qwen3_prompt(std::span<const ChatMessage> messages) {
  std::string text;
  for (const ChatMessage& m : messages) {
    const bool is_answer = m.role == "assistant";
    text += chatml_turn(m.role, is_answer ? without_thought(m.content) : m.content);
  }
  return text + "<|im_start|>assistant\n";
}

std::string qwen3_no_thinking_prompt(std::span<const ChatMessage> messages) {
  return qwen3_prompt(messages).append(kEmptyThought);
}

std::string llama3_prompt(std::span<const ChatMessage> messages) {
  std::string text = "<|begin_of_text|>";
  for (const ChatMessage& m : messages) {
    text += fmt::format("<|start_header_id|>{}<|end_header_id|>\n\n{}<|eot_id|>", m.role,
                        trimmed(m.content));
  }
  return text + "<|start_header_id|>assistant<|end_header_id|>\n\n";
}

/// Renders the "complex template" of arXiv:2506.20512. The chat template of the tokenizer used in
/// the LIE paper's runs is not published. The first token is included here, since Llama models
/// expect it.
std::string octothinker_prompt(std::span<const ChatMessage> messages) {
  return "<|begin_of_text|>A conversation between User and Assistant. The user asks a question, "
         "and the Assistant solves it. The assistant first thinks about the reasoning process in "
         "the mind and then provides the user with the answer.\nUser: You must put your answer "
         "inside \\boxed{} and "
         "Your final answer will be extracted automatically by the \\boxed{} tag.\n" +
         joined_contents(messages) + "\nAssistant:";
}

std::string unchanged_answer(std::string_view content) { return std::string(content); }
std::string trimmed_answer(std::string_view content) { return std::string(trimmed(content)); }
std::string qwen3_answer(std::string_view content) {
  return fmt::format("<think>\n{}\n</think>\n\n{}", thought_of(content),
                     without_leading(without_thought(content), "\n"));
}
std::string qwen3_no_thinking_answer(std::string_view content) {
  return std::string(without_leading(without_thought(content), "\n"));
}

/// A template with a name. A model's chat template is recognized by the SHA-256 of its text without
/// surrounding white space.
struct NamedTemplate {
  std::string_view name;
  std::string (*prompt)(std::span<const ChatMessage>);
  std::string (*answer)(std::string_view content);
  std::string_view end_of_turn;
  std::string_view jinja_sha256 = "";  // of the equivalent chat template, if there is one
  std::string_view system = "";        // message of a conversation that begins without one
};

/// Throws Error if a message has reasoning that the template does not have a place for.
void refuse_reasoning(std::string_view name, std::string_view reasoning) {
  if (reasoning.empty()) return;
  fail(
      "prompt template {} does not render the reasoning of an assistant, which would be lost; "
      "write it into the content, or set data.prompt_template to one that has thoughts, such as "
      "qwen3",
      name);
}

/// Returns whether a template renders thoughts of answers, and drops those of earlier turns.
bool renders_thoughts(std::string_view name) { return name == "qwen3"; }
bool drops_earlier_thoughts(std::string_view name) {
  return name == "qwen3" || name == "qwen3-no-thinking";
}

/// Returns a text without its think tags and white space.
std::string bare(std::string_view text) {
  std::string rest;
  while (!text.empty()) {
    const std::size_t tag = text.starts_with("<think>") ? 7 : text.starts_with(kThinkEnd) ? 8 : 0;
    if (tag == 0 && !is_space(text.front())) rest += text.front();
    text.remove_prefix(std::max<std::size_t>(tag, 1));
  }
  return rest;
}

/// Throws Error if a rendered answer lacks a part of its text, such as a second thought.
void require_whole(std::string_view name, std::string_view text, std::string_view rendered) {
  if (bare(text) == bare(rendered)) return;
  fail("prompt template {} renders {}, so text before </think> in this answer would be lost; {}",
       name, renders_thoughts(name) ? "one thought, which begins the answer" : "no thought",
       renders_thoughts(name) ? "write all thoughts as one, or remove them"
                              : "remove it, or set data.prompt_template to qwen3");
}

constexpr std::array<NamedTemplate, 9> kNamedTemplates = {{
    {"plain", joined_contents, unchanged_answer, ""},
    {"qwen3", qwen3_prompt, qwen3_answer, "<|im_end|>",
     "87a2728cb8dc9fe424d624542f6060ec05a1d285ebbec578bb078900e33396b5"},
    {"qwen3-no-thinking", qwen3_no_thinking_prompt, qwen3_no_thinking_answer, "<|im_end|>"},
    {"octothinker", octothinker_prompt, unchanged_answer, ""},
    {"chatml", chatml_prompt, unchanged_answer, "<|im_end|>",
     "fcf7a096fe99a48fd9ad2b250bf9237e96e8f48bffec1c7ea4d3f225176cd40e"},
    {"smollm2", chatml_prompt, unchanged_answer, "<|im_end|>",
     "872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788",
     "You are a helpful AI assistant named SmolLM, trained by Hugging Face"},
    {"qwen2.5", chatml_prompt, unchanged_answer, "<|im_end|>", "",
     "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."},
    {"qwen2.5-math", chatml_prompt, unchanged_answer, "<|im_end|>", "",
     "Please reason step by step, and put your final answer within \\boxed{}."},
    {"llama3", llama3_prompt, trimmed_answer, "<|eot_id|>",
     "ba03a121d097859c7b5b9cd03af99aafe95275210d2876f642ad9929a150f122"},
}};

const NamedTemplate& named_template(std::string_view name) {
  const auto found = std::find_if(kNamedTemplates.begin(), kNamedTemplates.end(),
                                  [&](const NamedTemplate& k) { return k.name == name; });
  if (found != kNamedTemplates.end()) return *found;
  fail("unknown prompt template \"{}\"; known are {}, and \"model\" for the model's own", name,
       fmt::join(template_names(), ", "));
}

PromptTemplate model_template(const fs::path& directory) {
  const std::optional<ChatTemplateFile> file = find_chat_template(directory);
  if (!file) {
    fail(
        "{}: contains no chat template (chat_template.jinja, or chat_template in "
        "tokenizer_config.json); set data.prompt_template to one of {}",
        directory.string(), fmt::join(template_names(), ", "));
  }
  const std::string sha256 = sha256_hex(trimmed(file->text));
  for (const NamedTemplate& k : kNamedTemplates) {
    if (k.jinja_sha256 == sha256) return {std::string(k.name)};
  }
  return {"model", std::make_shared<const ChatTemplate>(*file, directory)};
}

}  // namespace

std::vector<std::string> template_names() {
  std::vector<std::string> names;
  for (const NamedTemplate& k : kNamedTemplates) names.emplace_back(k.name);
  return names;
}

bool has_chat_template(const fs::path& model_directory) {
  return find_chat_template(model_directory).has_value();
}

std::string PromptTemplate::prompt(std::span<const ChatMessage> messages) const {
  std::string text = rendered(messages);
  return text.starts_with(begin) ? text : begin + text;
}

std::string PromptTemplate::rendered(std::span<const ChatMessage> messages) const {
  if (own) return own->prompt(messages);
  const NamedTemplate& named = named_template(name);
  std::vector<ChatMessage> all(messages.begin(), messages.end());
  if (!named.system.empty() && all.front().role != "system") {
    all.insert(all.begin(), {"system", std::string(named.system)});
  }
  for (const ChatMessage& message : all) {
    if (!drops_earlier_thoughts(name)) refuse_reasoning(name, message.reasoning);
  }
  return named.prompt(all);
}

std::string PromptTemplate::answer(std::span<const ChatMessage> messages, std::string_view content,
                                   std::string_view reasoning) const {
  if (own) return own->answer(messages, content, reasoning);
  if (!renders_thoughts(name)) refuse_reasoning(name, reasoning);
  const std::string thought =
      reasoning.empty() ? "" : fmt::format("<think>\n{}\n</think>\n\n", reasoning);
  const std::string text = thought + std::string(content);
  const NamedTemplate& named = named_template(name);
  const std::string answer = named.answer(text);
  require_whole(name, text, answer);
  return answer + std::string(named.end_of_turn);
}

std::string_view PromptTemplate::end_of_turn() const {
  return own ? own->end_of_turn() : named_template(name).end_of_turn;
}

bool PromptTemplate::joins_messages() const {
  return !own && (name == "plain" || name == "octothinker");
}

PromptTemplate prompt_template(std::string_view name, const fs::path& model_directory,
                               BeginOfSequence begin) {
  PromptTemplate found = name == "model" ? model_template(model_directory)
                                         : PromptTemplate{std::string(named_template(name).name)};
  const bool begins = begin == BeginOfSequence::kAlways ||
                      (begin == BeginOfSequence::kAuto && found.name == "plain");
  if (begins) found.begin = begin_of_sequence(model_directory);
  return found;
}

}  // namespace lie
