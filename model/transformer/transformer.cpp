#include "model/transformer/transformer.h"

#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/error.h"
#include "model/config/parameter_layout.h"
#include "model/transformer/transformer_state.h"
#include "model/weights/adapter_file.h"

namespace lie {

Transformer::State::State(const ModelConfig& model, Operators& own,
                          std::shared_ptr<WeightSource> weights)
    : config(model),
      operators(own),
      shape(attention_shape(config)),
      eps(static_cast<float>(config.rms_norm_eps)),
      elements(flat_elements(parameter_layout(config))),
      source(std::move(weights)),
      low_rank(low_rank_cols(config)),
      placement(own) {}

Transformer::Transformer(const ModelConfig& config, Operators& operators,
                         std::shared_ptr<WeightSource> source)
    : state_(std::make_unique<State>(config, operators, std::move(source))) {}

Transformer::Transformer(std::shared_ptr<ResidentWeights> weights, Operators& operators)
    : Transformer(weights->config(), operators, weights) {
  state_->resident = std::move(weights);
}

Transformer::Transformer(const Weights& weights)
    : Transformer(std::make_shared<ResidentWeights>(weights), weights.operators()) {}

Transformer Transformer::fixed(const std::filesystem::path& directory, Operators& operators,
                               const std::filesystem::path& adapter) {
  auto stored = std::make_unique<StoredWeights>(find_policy(directory, adapter));
  return {std::make_shared<ResidentWeights>(std::move(stored), operators), operators};
}

Transformer Transformer::received(const ModelConfig& config, Operators& operators) {
  return {ResidentWeights::received(config, operators), operators};
}

Transformer Transformer::with_shared_weights(Operators& operators) const {
  Transformer made(state_->config, operators, state_->source);
  made.state_->resident = state_->resident;
  made.state_->shares_weights = true;
  made.state_->low_rank = state_->low_rank;
  return made;
}

Transformer Transformer::for_generation(Operators& operators) const {
  Transformer made = with_shared_weights(operators);
  made.state_->cache_memory = state_->cache_memory;
  return made;
}

Transformer Transformer::without_adapter() const {
  Transformer made = with_shared_weights(state_->operators);
  made.state_->low_rank = 0;
  return made;
}

Transformer::Transformer(Transformer&&) noexcept = default;
Transformer::~Transformer() = default;

ResidentWeights& Transformer::resident() const {
  if (!state_->resident) fail("the weights of this policy are not all resident");
  return *state_->resident;
}

void Transformer::weights_changed() {
  state_->training.kept = false;
  if (!state_->shares_weights) resident().weights_changed();
}

void Transformer::set_weights(Tensor flat) {
  state_->training.kept = false;
  resident().pack(flat);
}

void Transformer::set_weights(const LoadLayer& load) {
  state_->training.kept = false;
  resident().pack(load);
}

std::int64_t Transformer::set_weights_from(std::int64_t first, Tensor values) {
  state_->training.kept = false;
  return resident().pack_from(first, values);
}

PackedSize Transformer::packed_size() const { return state_->source->packed_size(); }

void Transformer::use_cuda_graphs(bool on) { state_->graphs.is_enabled = on; }

CudaGraphs::Usage Transformer::cuda_graph_usage() const {
  return state_->graphs.cuda_graphs ? state_->graphs.cuda_graphs->usage() : CudaGraphs::Usage();
}

void Transformer::share_cache_memory(std::int64_t bytes) {
  const std::int64_t floats = divided_up(bytes, dtype_bytes(DType::kFloat32));
  state_->cache_memory =
      std::make_shared<Buffer>(state_->operators.allocate(1, floats, DType::kFloat32));
}

Tensor Transformer::cache_memory() const {
  return state_->cache_memory ? state_->cache_memory->view() : Tensor();
}

void Transformer::limit_training_bytes(std::int64_t bytes) { state_->training.max_bytes = bytes; }

}  // namespace lie
