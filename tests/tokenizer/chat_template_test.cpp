// Compares chat templates of published models with transformers, whose results are in
// golden/chat_templates.json (golden/make_chat_templates.py). The templates come with the engine.
#include "model/tokenizer/template/templates.h"

#include <gtest/gtest.h>

#include "common/io/file.h"
#include "common/io/json.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

const JinjaVariables kTokens = {{"bos_token", "<|bos|>"}, {"eos_token", "<|eos|>"}};

std::vector<ChatMessage> messages_of(const Json& json) {
  std::vector<ChatMessage> messages;
  for (const Json& m : json) messages.push_back({m["role"], m["content"]});
  return messages;
}

/// Returns the rendered conversation, or none if the template rejects it.
std::optional<std::string> rendered(const JinjaTemplate& jinja, const Json& messages, bool asked) {
  try {
    return jinja.render(messages_of(messages), asked, kTokens);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::string> expected(const Json& row, bool asked) {
  const Json text = row[!asked || row.contains("appended") ? "plain" : "asked"];
  if (text.is_null()) return std::nullopt;
  return text.get<std::string>() + (asked ? row.value("appended", "") : "");
}

TEST(ChatTemplates, OfPublishedModelsRenderAsInTransformers) {
  const Json golden =
      read_json(fs::path(source_directory()) / "tests/tokenizer/golden/chat_templates.json");
  for (const auto& [name, rows] : golden["templates"].items()) {
    const JinjaTemplate jinja(read_file(fs::path(LIE_CHAT_TEMPLATES) / name), name);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const bool asked : {false, true}) {
        EXPECT_EQ(rendered(jinja, golden["conversations"][i], asked), expected(rows[i], asked))
            << name << ", conversation " << i << (asked ? ", asked" : "");
      }
    }
  }
}

std::string error_in(const std::string& source) {
  return error_of([&] {
    const std::vector<ChatMessage> question = {{"user", "a"}};
    JinjaTemplate(source, "M/chat_template.jinja").render(question, true, kTokens);
  });
}

TEST(ChatTemplates, ErrorsNameFileAndLine) {
  EXPECT_EQ(error_in("a\n{% for m in messages %}\n{% endif %}"),
            "M/chat_template.jinja, line 3: the chat template cannot be read: Unknown statement: "
            "endif");
  EXPECT_EQ(error_in("a\n\n{{ raise_exception('No ' + messages[0].role) }}"),
            "M/chat_template.jinja, line 3: the chat template rejects the conversation: Jinja "
            "Exception: No user");
  const std::string unclosed = error_in("{# ");
  EXPECT_EQ(unclosed,
            "M/chat_template.jinja: the chat template cannot be read: lexer: missing end of "
            "comment tag");
  const std::string unknown = error_in("{{ 'a' | nosuch }}");
  EXPECT_NE(unknown.find("line 1"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("nosuch"), std::string::npos) << unknown;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(ChatTemplates, UntrustedOnesNeitherCrashNorFillMemoryNorRunForever) {
  const auto expect_error = [](const std::string& source, const std::string& why) {
    const std::string error = error_in(source);
    EXPECT_NE(error.find(why), std::string::npos) << source.substr(0, 80) << ": " << error;
    EXPECT_TRUE(error.starts_with("M/chat_template.jinja")) << error;
  };
  const std::string memory = "more than 1024 MiB of memory", crash = "crashes its process";
  expect_error("{% for i in range(1000000000) %}{% endfor %}", memory);
  expect_error(repeated("{% for i in range(999) %}", 3) + repeated("{% endfor %}", 3),
               "more than 3 s of processor time");
  expect_error(
      "{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
      memory);
  expect_error(
      "{% set n = namespace(x=[1]) %}{% for i in range(40) %}{% set n.x = [n.x, n.x] %}{% endfor %}"
      "{{ n.x | tojson }}",
      "more than");
  expect_error("{{ messages | tojson(indent=1000000000) }}", memory);
  expect_error("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", crash);
  expect_error("{% set a = [] %}{% set _ = a.append(a) %}{{ a | tojson }}", crash);
  expect_error("{{ " + repeated("(", 400'000), crash);
  expect_error(std::string(2'000'000, ' '), "bytes, more than");
  // A long template without deep nesting is within the limits.
  EXPECT_EQ(error_in(repeated("{% set a = [1, (2, 'x' ~ 'y')] %}{% if a %}{% endif %}", 1000)),
            "no error");
}

/// The expected texts are those of transformers.
TEST(ChatTemplates, KeepTheirFirstCharacter) {
  const auto text = [](const std::string& source) {
    return JinjaTemplate(source, "").render({}, true, {});
  };
  EXPECT_EQ(text("A{% if true %}B{% endif %}"), "AB");
  EXPECT_EQ(text("A  {%- if true %}B{% endif %}"), "AB");
  EXPECT_EQ(text("A{# c #}B"), "AB");
  EXPECT_EQ(text("\u00e9{% if true %}B{% endif %}"), "\u00e9B");
  EXPECT_EQ(text("\n{# c #}B"), "\nB");
  EXPECT_EQ(text("\r\n{# c #}B"), "\nB");
  EXPECT_EQ(text("\n\n  {% if true %}B{% endif %}"), "\n\nB");
  EXPECT_EQ(text("  {% if true %}B{% endif %}"), "B");
  EXPECT_EQ(text("\nA {{ 'x' }}"), "\nA x");
  EXPECT_EQ(text("\n{{- 'x' }}"), "x");
  EXPECT_EQ(text("   {{ 'x' }}"), "   x");
  EXPECT_EQ(text("A"), "A");
  EXPECT_EQ(text(""), "");
}

TEST(ChatTemplates, TextThatIsNotUtf8IsRefused) {
  const JinjaTemplate jinja("{{ messages[0].content[0:2] }}", "M/chat_template.jinja");
  EXPECT_EQ(jinja.render(std::vector<ChatMessage>{{"user", "abc"}}, true, {}), "ab");
  const std::string error = error_of([&] {
    jinja.render(std::vector<ChatMessage>{{"user", "a\u00e9c"}}, true, {});
  });
  EXPECT_TRUE(error.starts_with("M/chat_template.jinja: ")) << error;
  EXPECT_NE(error.find("not UTF-8"), std::string::npos) << error;
}

TEST(ChatTemplates, HaveAFixedDate) {
  const JinjaTemplate jinja("{{ strftime_now('%Y-%m-%d %H:%M') }}", "");
  EXPECT_EQ(jinja.render({}, true, {}), "2024-07-26 12:00");
}

/// A model directory with a published template and the special tokens of its text.
class ModelWithTemplate : public testing::Test {
 protected:
  PromptTemplate model_template(const std::string& name, const std::vector<std::string>& tokens) {
    const std::string text = read_file(fs::path(LIE_CHAT_TEMPLATES) / (name + ".jinja"));
    directory_.write("chat_template.jinja", text);
    directory_.write("tokenizer_config.json",
                     Json{{"bos_token", "<s>"}, {"eos_token", {{"content", "</s>"}}}}.dump());
    Json added = Json::array();
    for (const std::string& token : tokens) added.push_back({{"content", token}});
    directory_.write("tokenizer.json", Json{{"added_tokens", added}}.dump());
    return prompt_template("model", directory_.path());
  }

  const std::vector<ChatMessage> question_ = {{"user", "1+1?"}};
  TemporaryDirectory directory_;
};

TEST_F(ModelWithTemplate, AnswersEndWithTheTemplatesEndOfTurn) {
  const PromptTemplate phi =
      model_template("microsoft-Phi-3.5-mini-instruct", {"<|end|>", "<|user|>", "<|assistant|>"});
  EXPECT_EQ(phi.name, "model");
  EXPECT_EQ(phi.prompt(question_), "<|user|>\n1+1?<|end|>\n<|assistant|>\n");
  EXPECT_EQ(phi.end_of_turn(), "<|end|>");
  EXPECT_EQ(phi.answer(question_, "2"), "2<|end|>");
  const PromptTemplate gemma =
      model_template("google-gemma-2-2b-it", {"<start_of_turn>", "<end_of_turn>"});
  EXPECT_EQ(gemma.prompt(question_),
            "<s><start_of_turn>user\n1+1?<end_of_turn>\n<start_of_turn>model\n");
  EXPECT_EQ(gemma.answer(question_, " 2 <end_of_turn> 3"), "2 <end_of_turn> 3<end_of_turn>");
  const PromptTemplate mistral = model_template("mistralai-Mistral-Nemo-Instruct-2407", {"[INST]"});
  EXPECT_EQ(mistral.end_of_turn(), "</s>");
  EXPECT_EQ(mistral.answer(question_, "2"), "2</s>");
}

TEST_F(ModelWithTemplate, RejectsAnswersThatDoNotContinueThePrompt) {
  const auto error = [&](const std::string& jinja, const std::string& content) {
    directory_.write("chat_template.jinja", jinja);
    const PromptTemplate prompts = prompt_template("model", directory_.path());
    return error_of([&] { prompts.answer(question_, content); });
  };
  const std::string all =
      "{% for m in messages %}{{ m.content.split('</think>')[-1] }}{% endfor %}";
  EXPECT_EQ(error(all, "2"), "no error");
  EXPECT_NE(error(all, "<think>\nhm</think>2").find("no text to learn"), std::string::npos);
  const std::string opens = all + "{% if add_generation_prompt %}<think>{% endif %}";
  EXPECT_NE(error(opens, "2").find("no text to learn"), std::string::npos);
}

TEST_F(ModelWithTemplate, ReasoningMustBeRenderedBeforeTheContent) {
  const auto error = [&](const std::string& jinja) {
    directory_.write("chat_template.jinja", "{% for m in messages %}" + jinja + "{% endfor %}");
    const PromptTemplate prompts = prompt_template("model", directory_.path());
    return error_of([&] { prompts.answer(question_, "It is \\boxed{5}.", "5"); });
  };
  EXPECT_NE(error("{{ m.content }}").find("does not render the reasoning"), std::string::npos)
      << "the content contains the same text";
  EXPECT_EQ(error("{{ m.reasoning_content }}\n{{ m.content }}"), "no error");
}

TEST_F(ModelWithTemplate, UsesTheDefaultTemplateOfAList) {
  directory_.write("tokenizer_config.json",
                   Json{{"chat_template",
                         {{{"name", "tool_use"}, {"template", "no"}},
                          {{"name", "default"}, {"template", "yes {{ messages[0].content }}"}}}}}
                       .dump());
  EXPECT_EQ(prompt_template("model", directory_.path()).prompt(question_), "yes 1+1?");
}

/// The expected texts are those of transformers 5.24.
TEST_F(ModelWithTemplate, TokensOfBothFilesAreVariables) {
  directory_.write(
      "chat_template.jinja",
      "[{{ eos_token }}|{{ image_token }}|{{ think_token }}|{{ bos_token is defined }}]");
  const auto text = [&](const std::string& config, const std::string& map = "{}") {
    directory_.write("tokenizer_config.json", config);
    directory_.write("special_tokens_map.json", map);
    return prompt_template("model", directory_.path()).prompt(question_);
  };
  EXPECT_EQ(text(R"({"eos_token": "<a>"})", R"({"eos_token": "<b>"})"), "[<b>|||False]");
  EXPECT_EQ(text(R"({"eos_token": "<a>"})", R"({"eos_token": {"content": "<b>"}})"),
            "[<b>|||False]");
  EXPECT_EQ(text(R"({"eos_token": "<a>", "added_tokens_decoder": {}})",
                 R"({"eos_token": "<b>", "bos_token": "<b>"})"),
            "[<a>|||False]");
  EXPECT_EQ(text(R"({"eos_token": "<a>", "bos_token": ""})", R"({"eos_token": null})"),
            "[|||True]");
  EXPECT_EQ(text("{}", R"({"image_token": "<b>"})"), "[|<b>||False]");
  EXPECT_EQ(text(R"({"image_token": "<a>"})", R"({"image_token": "<b>"})"), "[|<a>||False]");
  const std::string extra = R"({"extra_special_tokens": {"think_token": "<t>"}})";
  EXPECT_EQ(text(extra), "[||<t>|False]");
  EXPECT_EQ(text(extra, R"({"extra_special_tokens": {"image_token": "<i>"}})"), "[|<i>|<t>|False]");
  EXPECT_EQ(text(extra, R"({"extra_special_tokens": ["<i>"]})"), "[||<t>|False]");
}

TEST_F(ModelWithTemplate, NamedTokensReplaceNoOtherVariable) {
  directory_.write("chat_template.jinja", "{{ messages[0].content }}");
  directory_.write("tokenizer_config.json", R"({"extra_special_tokens": {"messages": "<m>"}})");
  EXPECT_EQ(prompt_template("model", directory_.path()).prompt(question_), "1+1?");
}

}  // namespace
}  // namespace lie
