#include "model/tokenizer/template/jinja.h"

#include <jinja/lexer.h>
#include <jinja/parser.h>
#include <jinja/runtime.h>
#include <jinja/value.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace lie {
namespace {

using jinja::statement_ptr, jinja::statements, jinja::value;

// The largest published templates have 30 kB and a depth of 12, and take 10,000 steps for a
// conversation.
constexpr std::size_t kMaxTemplateBytes = 1 << 20;
constexpr int kMaxNesting = 400;              // of brackets, operators and blocks
constexpr std::int64_t kMaxSteps = 200'000;   // statements, operands and loop iterations
constexpr std::int64_t kStepsOfPass = 10;     // per iteration, as the engine copies all variables
constexpr std::int64_t kMaxBytes = 64 << 20;  // of all texts computed in one rendering
constexpr std::int64_t kMaxRange = 20'000;    // numbers in range()
constexpr std::intptr_t kMaxStackBytes = 2 << 20;
constexpr std::time_t kFixedTime = 1'721'995'200;  // 2024-07-26 12:00 UTC

/// The name of the variable that holds the meter. No template can access it, since names in Jinja
/// contain no blanks.
constexpr const char* kMeterName = "the meter";

/// The resources used by one rendering. It is passed along as a variable of the context.
struct Meter : jinja::value_t {
  std::int64_t steps = 0, bytes = 0;
  std::intptr_t stack = 0;  // a stack address at the start of rendering

  std::string type() const override { return "Meter"; }
  jinja::hasher unique_hash() const noexcept override { return {}; }
  bool equivalent(const value_t&) const override { return false; }

  void charge_bytes(std::int64_t count) {
    bytes += count;
    if (bytes > kMaxBytes) fail("rendering exceeds {} bytes of text", kMaxBytes);
  }
  void charge_steps(std::int64_t count) {
    steps += count;
    if (steps > kMaxSteps) fail("rendering exceeds {} steps", kMaxSteps);
  }
  void check_depth() const {
    const char here = 0;
    if (std::abs(stack - reinterpret_cast<std::intptr_t>(&here)) > kMaxStackBytes) {
      fail("macros or blocks nest too deeply");
    }
  }
};

Meter& meter_of(jinja::context& context) {
  return static_cast<Meter&>(*context.get_val(kMeterName));
}

/// Returns the memory of a text, which the engine stores as a list of pieces.
std::int64_t text_bytes(const value& v) {
  if (!jinja::is_val<jinja::value_string>(v)) return 0;
  return static_cast<std::int64_t>(v->val_str.length() +
                                   sizeof(jinja::string_part) * v->val_str.parts.size());
}

/// Wraps a node and charges its cost: one step, the entries of lists over which loops may iterate,
/// and the bytes of texts.
struct Metered : jinja::expression {
  statement_ptr inner;
  explicit Metered(statement_ptr node) : inner(std::move(node)) { pos = inner->pos; }
  std::string type() const override { return inner->type(); }
  value execute_impl(jinja::context& context) const override {
    meter_of(context).check_depth();
    value result = inner->execute(context);
    meter_of(context).charge_steps(
        1 +
        kStepsOfPass * static_cast<std::int64_t>(result->val_arr.size() + result->val_obj.size()));
    meter_of(context).charge_bytes(text_bytes(result));
    return result;
  }
};

struct Constant : jinja::expression {
  value held;
  explicit Constant(value v) : held(std::move(v)) { pos = 0; }
  value execute_impl(jinja::context&) const override { return held; }
};

/// The operator `*`, which can repeat a text. The bytes are charged before they are allocated.
struct Multiplication : jinja::expression {
  jinja::token op;
  statement_ptr left, right;
  explicit Multiplication(jinja::binary_expression& node)
      : op(node.op), left(std::move(node.left)), right(std::move(node.right)) {
    pos = node.pos;
  }
  value execute_impl(jinja::context& context) const override {
    const value a = left->execute(context);
    const value b = right->execute(context);
    const std::int64_t bytes = std::max(text_bytes(a), text_bytes(b));
    const std::int64_t times = std::max(
        {a->is_numeric() ? a->as_int() : 0, b->is_numeric() ? b->as_int() : 0, std::int64_t{0}});
    if (bytes > 0 && times > kMaxBytes / bytes) fail("a text is repeated {} times", times);
    meter_of(context).charge_bytes(bytes * times);
    return jinja::binary_expression(op, std::make_unique<Constant>(a),
                                    std::make_unique<Constant>(b))
        .execute_impl(context);
  }
};

/// A name. It replaces the engine's node, which copies its table of functions at each lookup.
struct Name : jinja::identifier {
  explicit Name(const identifier& node) : identifier(node.val) { pos = node.pos; }
  value execute_impl(jinja::context& context) const override {
    value found = context.get_val(val);
    if (!found->is_undefined()) return found;
    const jinja::func_builtins& functions = jinja::global_builtins();
    const auto function = functions.find(val);
    if (function == functions.end()) return found;
    return jinja::mk_val<jinja::value_func>(val, function->second);
  }
};

void prepare(statement_ptr& node);

void prepare_all(statements& nodes) {
  for (statement_ptr& node : nodes) prepare(node);
}

void meter(statement_ptr& node) {
  prepare(node);
  if (node) node = std::make_unique<Metered>(std::move(node));
}

void meter_all(statements& nodes) {
  for (statement_ptr& node : nodes) meter(node);
}

/// Calls `visit` if the node is a T, and returns whether it is.
template <typename T, typename Visit>
bool visit_as(jinja::statement& node, const Visit& visit) {
  T* const typed = dynamic_cast<T*>(&node);
  if (typed != nullptr) visit(*typed);
  return typed != nullptr;
}

bool prepare_statement(jinja::statement& node) {
  return visit_as<jinja::if_statement>(node,
                                       [](auto& n) {
                                         meter(n.test);
                                         meter_all(n.body);
                                         meter_all(n.alternate);
                                       }) ||
         visit_as<jinja::for_statement>(
             node,
             [](auto& n) {
               auto* const filtered = dynamic_cast<jinja::select_expression*>(n.iterable.get());
               meter(filtered != nullptr ? filtered->lhs : n.iterable);
               if (filtered != nullptr) meter(filtered->test);
               meter_all(n.body);
               meter_all(n.default_block);
             }) ||
         visit_as<jinja::set_statement>(node,
                                        [](auto& n) {
                                          meter(n.val);
                                          meter_all(n.body);
                                        }) ||
         visit_as<jinja::macro_statement>(node,
                                          [](auto& n) {
                                            prepare_all(n.args);
                                            meter_all(n.body);
                                          }) ||
         visit_as<jinja::call_statement>(node,
                                         [](auto& n) {
                                           prepare(n.call);
                                           prepare_all(n.caller_args);
                                           meter_all(n.body);
                                         }) ||
         visit_as<jinja::filter_statement>(node, [](auto& n) {
           prepare(n.filter);
           meter_all(n.body);
         });
}

bool prepare_literal(jinja::statement& node) {
  return visit_as<jinja::array_literal>(node, [](auto& n) { prepare_all(n.val); }) ||
         visit_as<jinja::tuple_literal>(node, [](auto& n) { prepare_all(n.val); }) ||
         visit_as<jinja::object_literal>(node, [](auto& n) {
           for (auto& [key, item] : n.val) {
             prepare(key);
             prepare(item);
           }
         });
}

bool prepare_call(jinja::statement& node) {
  return visit_as<jinja::call_expression>(node,
                                          [](auto& n) {
                                            prepare(n.callee);
                                            prepare_all(n.args);
                                          }) ||
         visit_as<jinja::filter_expression>(node,
                                            [](auto& n) {
                                              meter(n.operand);
                                              prepare(n.filter);
                                            }) ||
         visit_as<jinja::test_expression>(node,
                                          [](auto& n) {
                                            prepare(n.operand);
                                            prepare(n.test);
                                          }) ||
         visit_as<jinja::keyword_argument_expression>(node, [](auto& n) { prepare(n.val); }) ||
         visit_as<jinja::spread_expression>(node, [](auto& n) { prepare(n.argument); });
}

bool prepare_operation(jinja::statement& node) {
  return visit_as<jinja::binary_expression>(node,
                                            [](auto& n) {
                                              meter(n.left);
                                              meter(n.right);
                                            }) ||
         visit_as<jinja::unary_expression>(node, [](auto& n) { prepare(n.argument); }) ||
         visit_as<jinja::select_expression>(node,
                                            [](auto& n) {
                                              prepare(n.lhs);
                                              prepare(n.test);
                                            }) ||
         visit_as<jinja::ternary_expression>(node,
                                             [](auto& n) {
                                               prepare(n.condition);
                                               prepare(n.true_expr);
                                               prepare(n.false_expr);
                                             }) ||
         visit_as<jinja::member_expression>(node,
                                            [](auto& n) {
                                              prepare(n.object);
                                              if (n.computed) prepare(n.property);
                                            }) ||
         visit_as<jinja::slice_expression>(node, [](auto& n) {
           prepare(n.start_expr);
           prepare(n.stop_expr);
           prepare(n.step_expr);
         });
}

/// Inserts meters into the tree where work or texts can grow: in bodies, operands and assigned
/// values.
void prepare(statement_ptr& node) {
  if (!node) return;
  prepare_statement(*node) || prepare_literal(*node) || prepare_call(*node) ||
      prepare_operation(*node);
  if (const auto* name = dynamic_cast<jinja::identifier*>(node.get())) {
    node = std::make_unique<Name>(*name);
  } else if (auto* binary = dynamic_cast<jinja::binary_expression*>(node.get());
             binary != nullptr && binary->op.value == "*") {
    node = std::make_unique<Multiplication>(*binary);
  }
}

value bounded_range(const jinja::func_args& args) {
  for (const value& bound : args.get_args()) {
    if (bound->is_numeric() && std::abs(bound->as_float()) > static_cast<double>(kMaxRange)) {
      fail("range() beyond {}", kMaxRange);
    }
  }
  return jinja::global_builtins().at("range")(args);
}

/// The function strftime_now, which formats kFixedTime in UTC.
value fixed_date(const jinja::func_args& args) {
  args.ensure_vals<jinja::value_string>();
  const std::string format = args.get_pos(0)->as_string().str();
  std::tm now{};
  gmtime_r(&kFixedTime, &now);
  std::array<char, 256> text;
  const std::size_t length = std::strftime(text.data(), text.size(), format.c_str(), &now);
  return jinja::mk_val<jinja::value_string>(std::string(text.data(), length));
}

/// Computes an upper bound of the parser's recursion depth and the tree's depth. It counts open
/// brackets and blocks, and the operators of the current expression, since each operator may
/// contain the rest of it.
class Nesting {
 public:
  void add(const jinja::token& token) {
    if (is_block_word_) add_block_word(token.value);
    is_block_word_ = token.t == Kind::open_statement;
    add_to_expression(token);
    if (token.t == Kind::equals) is_set_block_ = false;
    if (token.t != Kind::close_statement && token.t != Kind::close_expression) return;
    if (std::exchange(is_set_block_, false)) blocks_.push_back(1);
    depth_ = 0;
    opened_.clear();
  }
  bool is_too_deep() const {
    return std::max(depth_, std::accumulate(blocks_.begin(), blocks_.end(), 0)) > kMaxNesting;
  }

 private:
  using Kind = jinja::token;

  void add_block_word(const std::string& word) {
    is_set_block_ = word == "set";  // an equals sign resets it
    if (word.starts_with("end")) {
      if (!blocks_.empty() && word != "endgeneration") blocks_.pop_back();
    } else if (word == "elif") {
      if (!blocks_.empty()) ++blocks_.back();  // each elif nests in the previous branch
    } else if (is_one_of(word, {"if", "for", "macro", "call", "filter"})) {
      blocks_.push_back(1);
    }
  }

  void add_to_expression(const jinja::token& token) {
    const int outside = opened_.empty() ? 0 : opened_.back() + 1;
    switch (token.t) {
      case Kind::open_paren:
      case Kind::open_square_bracket:
      case Kind::open_curly_bracket: opened_.push_back(depth_++); break;
      case Kind::close_paren:
      case Kind::close_square_bracket:
      case Kind::close_curly_bracket:
        depth_ = outside;
        if (!opened_.empty()) opened_.pop_back();
        break;
      case Kind::comma: depth_ = outside; break;
      default:
        if (is_operator(token)) ++depth_;
    }
  }

  static bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
    return std::ranges::find(words, word) != words.end();
  }
  static bool is_operator(const jinja::token& token) {
    return (token.t >= Kind::call_operator && token.t <= Kind::unary_operator) ||
           token.t == Kind::pipe || token.t == Kind::dot ||
           (token.t == Kind::identifier &&
            is_one_of(token.value, {"not", "and", "or", "if", "else", "is", "in"}));
  }

  int depth_ = 0;            // of the current expression
  std::vector<int> opened_;  // depth outside of each open bracket
  std::vector<int> blocks_;  // number of branches of each open block
  bool is_block_word_ = false, is_set_block_ = false;
};

std::int64_t line_of(std::string_view source, std::size_t position) {
  return 1 + std::ranges::count(source.substr(0, position), '\n');
}

/// Returns the engine's error message without its excerpt of the template.
std::string reason_of(std::string text) {
  const std::size_t error = text.rfind("\nError: ");
  if (error != std::string::npos) {
    text.erase(0, error + 8);
  } else {
    text.resize(std::min(text.find('\n'), text.size()));
  }
  return text;
}

std::string parse_problem(const jinja::lexer_result& lexed, std::size_t tokens) {
  const auto end = lexed.tokens.begin() + static_cast<std::ptrdiff_t>(tokens);
  try {
    jinja::parse_from_tokens({{lexed.tokens.begin(), end}, lexed.source});
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// Returns the position of a parse error, which the engine does not always report. It is the end of
/// the shortest sequence of tokens that causes the same error.
std::size_t place_of(const std::string& problem, const jinja::lexer_result& lexed) {
  std::size_t low = 0;
  std::size_t high = lexed.tokens.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (parse_problem(lexed, middle) == problem) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low == 0 ? 0 : lexed.tokens[low - 1].pos;
}

jinja::lexer_result lexed(const std::string& source, const std::string& place) {
  if (source.size() > kMaxTemplateBytes) {
    fail("{}: the chat template has {} bytes, more than {}", place, source.size(),
         kMaxTemplateBytes);
  }
  try {
    return jinja::lexer().tokenize(source);
  } catch (const std::exception& error) {
    fail("{}: the chat template cannot be read: {}", place, reason_of(error.what()));
  }
}

jinja::program parsed(const jinja::lexer_result& tokens, const std::string& place) {
  Nesting nesting;
  for (const jinja::token& token : tokens.tokens) {
    nesting.add(token);
    if (!nesting.is_too_deep()) continue;
    fail("{}, line {}: the chat template nests more than {} deep", place,
         line_of(tokens.source, token.pos), kMaxNesting);
  }
  try {
    return jinja::parse_from_tokens(tokens);
  } catch (const std::exception& error) {
    fail("{}, line {}: the chat template cannot be read: {}", place,
         line_of(tokens.source, place_of(error.what(), tokens)), reason_of(error.what()));
  }
}

/// Returns "line 7" or similar from the engine's report, or an empty string.
std::string line_in(std::string_view report) {
  const std::size_t begin = report.find(" at line ");
  if (begin == std::string_view::npos) return "";
  const std::string_view rest = report.substr(begin + 4);
  return std::string(rest.substr(0, rest.find(',')));
}

nlohmann::ordered_json globals(std::span<const ChatMessage> messages, bool add_generation_prompt,
                               const JinjaVariables& variables) {
  nlohmann::ordered_json all = {{"messages", nlohmann::ordered_json::array()},
                                {"tools", nullptr},
                                {"documents", nullptr},
                                {"add_generation_prompt", add_generation_prompt}};
  for (const ChatMessage& m : messages) {
    all["messages"].push_back({{"role", m.role}, {"content", m.content}});
  }
  for (const auto& [name, text] : variables) all[name] = text;
  return all;
}

}  // namespace

struct JinjaTemplate::Program {
  std::string place, source;
  jinja::program tree;
};

JinjaTemplate::JinjaTemplate(const std::string& source, std::string place) {
  jinja::lexer_result tokens = lexed(source, place);
  jinja::program tree = parsed(tokens, place);
  meter_all(tree.body);
  program_.reset(new Program{std::move(place), std::move(tokens.source), std::move(tree)});
}

JinjaTemplate::~JinjaTemplate() = default;
JinjaTemplate::JinjaTemplate(JinjaTemplate&&) noexcept = default;
JinjaTemplate& JinjaTemplate::operator=(JinjaTemplate&&) noexcept = default;

std::string JinjaTemplate::render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                                  const JinjaVariables& variables) const {
  jinja::context context(program_->source);
  const auto meter = std::make_shared<Meter>();
  meter->stack = reinterpret_cast<std::intptr_t>(&context);
  jinja::global_from_json(context, globals(messages, add_generation_prompt, variables), false);
  context.set_val(kMeterName, meter);
  context.set_val("range", jinja::mk_val<jinja::value_func>("range", bounded_range));
  context.set_val("strftime_now", jinja::mk_val<jinja::value_func>("strftime_now", fixed_date));
  try {
    const jinja::value_array parts = jinja::runtime(context).execute(program_->tree);
    return jinja::render_string_parts(jinja::runtime::gather_string_parts(parts));
  } catch (const std::exception& error) {
    const std::string line = line_in(error.what());
    fail("{}{}{}: the chat template rejects the conversation: {}", program_->place,
         line.empty() ? "" : ", ", line, reason_of(error.what()));
  }
}

}  // namespace lie
