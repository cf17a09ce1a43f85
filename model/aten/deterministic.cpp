#include "model/aten/deterministic.h"

#include <ATen/Context.h>

namespace lie::aten {
namespace {

std::mutex switch_mutex;

at::Context& all() { return at::globalContext(); }

}  // namespace

Deterministic::Deterministic()
    : lock_(switch_mutex),
      before_(all().deterministicAlgorithms()),
      only_warn_(all().deterministicAlgorithmsWarnOnly()),
      fills_(all().deterministicFillUninitializedMemory()) {
  all().setDeterministicAlgorithms(true, false);
  all().setDeterministicFillUninitializedMemory(false);
}

Deterministic::~Deterministic() {
  all().setDeterministicAlgorithms(before_, only_warn_);
  all().setDeterministicFillUninitializedMemory(fills_);
}

bool is_deterministic() { return all().deterministicAlgorithms(); }

}  // namespace lie::aten
