// The functions of attention_plans.h in a build without cuDNN's frontend.
#include "common/base/error.h"
#include "model/cudnn/attention_plans.h"

namespace lie::cudnn {
namespace {

constexpr const char* kRefusal = "this build has no cuDNN frontend";

}  // namespace

struct AttentionPlans::State {
  AttentionPlan none{kRefusal, {}, 0};
};

AttentionPlans::AttentionPlans(std::string)
    : state_(std::make_unique<State>()), refusal_(kRefusal) {}
AttentionPlans::~AttentionPlans() = default;

std::string AttentionPlans::version() { return "none"; }
const AttentionPlan& AttentionPlans::forward_plan(const AttentionSizes&) { return state_->none; }
const AttentionPlan& AttentionPlans::backward_plan(const AttentionSizes&) { return state_->none; }
const AttentionPlan& AttentionPlans::paged_plan(const PagedSizes&) { return state_->none; }
void AttentionPlans::forward(void*, const AttentionSizes&, const AttentionMemory&, void*) {
  fail("attention by cuDNN: {}", kRefusal);
}
void AttentionPlans::backward(void*, const AttentionSizes&, const AttentionMemory&, void*) {
  fail("attention by cuDNN: {}", kRefusal);
}
void AttentionPlans::paged(void*, const PagedSizes&, const PagedMemory&, void*) {
  fail("attention by cuDNN: {}", kRefusal);
}

}  // namespace lie::cudnn
