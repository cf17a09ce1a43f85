#include "model/layers/resident_weights.h"

#include <algorithm>
#include <utility>

#include "common/base/error.h"

namespace lie {

ResidentWeights::ResidentWeights(const ModelConfig& config, Operators& operators)
    : config_(config),
      operators_(operators),
      layout_(parameter_layout(config)),
      trained_layout_(trained_layout(config)) {
  for (std::int64_t l = 0; l < config_.layers; ++l) {
    blocks_.push_back(make_block(config_, layout_, l));
    if (config_.lora) add_pairs(config_, trained_layout_, l, blocks_.back());
  }
}

ResidentWeights::ResidentWeights(const Weights& weights)
    : ResidentWeights(weights.config(), weights.operators()) {
  weights_ = &weights;
  if (config_.lora) {
    stored_ = std::make_unique<StoredWeights>(config_.lora->base);
    make_matrices(true);
    stored_.reset();
    make_pairs();
    pack(weights.flat());
    return;
  }
  if (views_weights()) flat_ = FlatTensors(layout_, weights.flat());
  make_matrices(views_weights());
}

ResidentWeights::ResidentWeights(std::unique_ptr<StoredWeights> stored, Operators& operators)
    : ResidentWeights(stored->config(), operators) {
  stored_ = std::move(stored);
  make_matrices(true);
  if (config_.lora) {
    const Weights adapter = stored_->adapter(operators);
    make_pairs();
    pack_rows(0, adapter.flat());
  }
  stored_.reset();
}

std::shared_ptr<ResidentWeights> ResidentWeights::received(const ModelConfig& config,
                                                           Operators& operators) {
  std::shared_ptr<ResidentWeights> made(new ResidentWeights(config, operators));
  made->is_received_ = true;
  if (config.lora) {
    made->stored_ = std::make_unique<StoredWeights>(config.lora->base);
    made->make_matrices(true);
    made->stored_.reset();
    made->make_pairs();
  } else {
    made->make_matrices(false);
    made->make_vectors();
  }
  return made;
}

/// Makes all matrices, and `packs` each layer as soon as it is made.
void ResidentWeights::make_matrices(bool packs) {
  for (std::int64_t l = 0; l < config_.layers; ++l) {
    for (Linear* linear : linears_of(blocks_[static_cast<std::size_t>(l)])) {
      linear->matrix = make_layer_weight(linear->out(), linear->in);
    }
    if (packs) pack_layer(l);
  }
  outer_.head = make_weight(config_.vocabulary, config_.width);
  if (!views_weights() && !config_.tied_embeddings) {
    outer_.own_embedding = make_weight(config_.vocabulary, config_.width);
  }
  if (packs) pack_outer();
}

std::unique_ptr<PackedWeight> ResidentWeights::make_weight(std::int64_t rows,
                                                           std::int64_t cols) const {
  const WeightUse stored = weights_ || is_received_ ? WeightUse::kFrozen : WeightUse::kFixed;
  return operators_.make_weight(rows, cols, stored_ ? stored : WeightUse::kTrained);
}

/// Makes a matrix of a layer, which may be quantized, as head and embedding are not.
std::unique_ptr<PackedWeight> ResidentWeights::make_layer_weight(std::int64_t rows,
                                                                 std::int64_t cols) const {
  if (config_.lora && config_.lora->nf4) {
    return operators_.make_weight(rows, cols, WeightUse::kNf4);
  }
  return make_weight(rows, cols);
}

/// Makes the matrices of all pairs. They are as wide as their use requires even if they never
/// change, since they are small.
void ResidentWeights::make_pairs() {
  const auto make = [&](std::int64_t rows, std::int64_t cols) {
    return operators_.make_weight(rows, cols, WeightUse::kTrained);
  };
  for (Block& block : blocks_) {
    for (Linear* linear : linears_of(block)) {
      LowRank& low_rank = linear->low_rank;
      if (low_rank.pairs.empty()) continue;
      low_rank.a = make(low_rank.cols(), low_rank.in);
      for (LowRankPair& pair : low_rank.pairs) pair.b = make(pair.rows, low_rank.rank);
    }
  }
}

/// Makes the norms and biases of received weights. Processes that map one copy of the weights share
/// them, too.
void ResidentWeights::make_vectors() {
  const auto make = [&](Tensor& tensor, const Parameter& one) {
    Buffer& own = own_vectors_[one.name];
    own = operators_.allocate_weights(one.cols);
    tensor = own.view();
  };
  for (std::int64_t l = 0; l < config_.layers; ++l) {
    for_each_vector(blocks_[static_cast<std::size_t>(l)],
                    [&](Tensor& tensor, ParameterRole role) { make(tensor, parameter(l, role)); });
  }
  make(outer_.final_norm, parameter(kNoLayer, ParameterRole::kFinalNorm));
}

std::int64_t ResidentWeights::pack_from(std::int64_t first, Tensor values) {
  if (!is_received_) fail("weights that are not received cannot be set in parts");
  return pack_rows(first, values);
}

std::int64_t ResidentWeights::pack_rows(std::int64_t first, Tensor values) {
  std::int64_t incomplete = 0;
  for (const ParameterPiece& piece : pieces_of(trained_layout_, {first, values.cols})) {
    const std::int64_t cols = piece.parameter->cols, rows = piece.count / cols;
    incomplete = piece.count % cols;
    Tensor complete = values.elements_at(piece.at, rows * cols);
    complete.rows = rows;
    complete.cols = complete.stride = cols;
    if (rows > 0) set_rows(*piece.parameter, piece.first / cols, complete);
  }
  return values.cols - incomplete;
}

void ResidentWeights::set_rows(const Parameter& one, std::int64_t first_row, Tensor rows) {
  using enum ParameterRole;
  const auto pack = [&](PackedWeight& weight, std::int64_t first_out) {
    operators_.pack(weight, first_out + first_row, rows);
  };
  if (one.role == kHead || (one.role == kEmbedding && config_.tied_embeddings)) {
    return pack(*outer_.head, 0);
  }
  if (one.role == kEmbedding) return pack(*outer_.own_embedding, 0);
  if (one.rows == 1 && own_vectors_.contains(one.name)) {
    return operators_.copy(rows, own_vectors_[one.name].view());
  }
  for (Linear* linear : linears_of(blocks_[static_cast<std::size_t>(one.layer)])) {
    std::int64_t first_out = 0;
    for (const Projection& p : linear->projections) {
      if (p.weight == one.role) return pack(*linear->matrix, first_out);
      first_out += p.rows;
    }
    first_out = 0;
    for (LowRankPair& pair : linear->low_rank.pairs) {
      if (pair.roles.a == one.role) return pack(*linear->low_rank.a, first_out);
      if (pair.roles.b == one.role) return pack(*pair.b, 0);
      first_out += linear->low_rank.rank;
    }
  }
  fail("no packed weight holds {}", one.name);
}

void ResidentWeights::weights_changed() {
  if (!weights_) fail("the weights of a fixed policy cannot be changed");
  pack(weights_->flat());
}

void ResidentWeights::pack(Tensor flat) {
  if (!weights_) fail("the weights of a fixed policy cannot be changed");
  if (config_.lora) {
    pack_rows(0, flat);
  } else {
    flat_ = FlatTensors(layout_, flat);
    for (std::int64_t l = 0; l < config_.layers; ++l) pack_layer(l);
    pack_outer();
  }
}

void ResidentWeights::pack(const LoadLayer& load) {
  if (!weights_) fail("the weights of a fixed policy cannot be changed");
  if (views_weights() || config_.lora) fail("these weights are not packed layer by layer");
  for (std::int64_t l = 0; l < config_.layers; ++l) {
    flat_.set(l, load(l));
    pack_layer(l);
  }
  flat_.set(kNoLayer, load(kNoLayer));
  pack_outer();
}

void ResidentWeights::pack_layer(std::int64_t layer) {
  Block& block = blocks_[static_cast<std::size_t>(layer)];
  for (Linear* linear : linears_of(block)) {
    std::int64_t first_out = 0;
    for (const Projection& p : linear->projections) {
      pack_matrix(*linear->matrix, first_out, parameter(layer, p.weight));
      first_out += p.rows;
    }
  }
  for_each_vector(
      block, [&](Tensor& tensor, ParameterRole role) { tensor = vector(parameter(layer, role)); });
}

void ResidentWeights::pack_outer() {
  using enum ParameterRole;
  outer_.final_norm = vector(parameter(kNoLayer, kFinalNorm));
  const Parameter& embedding = parameter(kNoLayer, kEmbedding);
  pack_matrix(*outer_.head, 0, config_.tied_embeddings ? embedding : parameter(kNoLayer, kHead));
  if (outer_.own_embedding) pack_matrix(*outer_.own_embedding, 0, embedding);
  if (views_weights() && !config_.tied_embeddings) {
    outer_.embedding = flat_.layer(kNoLayer)[kEmbedding];
  }
}

void ResidentWeights::pack_matrix(PackedWeight& weight, std::int64_t first_out,
                                  const Parameter& parameter) const {
  constexpr std::int64_t kBlockElements = 1 << 20;
  if (!stored_) {
    return operators_.pack(weight, first_out, flat_.layer(parameter.layer)[parameter.role]);
  }
  constexpr std::int64_t kRows = 64;  // always whole blocks of NF4
  const std::int64_t block_rows =
      std::min((kBlockElements / parameter.cols / kRows + 1) * kRows, parameter.rows);
  const Buffer memory = operators_.allocate(block_rows, parameter.cols, DType::kFloat32);
  for (std::int64_t first = 0; first < parameter.rows; first += block_rows) {
    const Tensor block = memory.view().rows_at(0, std::min(block_rows, parameter.rows - first));
    stored_->read(parameter, first * parameter.cols, operators_, block);
    operators_.pack(weight, first_out + first, block);
  }
}

Tensor ResidentWeights::vector(const Parameter& parameter) {
  if (views_weights()) return flat_.layer(parameter.layer)[parameter.role];
  Buffer& own = own_vectors_[parameter.name];
  if (own.empty()) own = operators_.allocate(1, parameter.cols, DType::kFloat32);
  stored_ ? stored_->read(parameter, 0, operators_, own.view())
          : operators_.copy(flat_.layer(parameter.layer)[parameter.role], own.view());
  return own.view();
}

std::vector<const PackedWeight*> ResidentWeights::packed_weights() const {
  std::vector<const PackedWeight*> all = {outer_.head.get()};
  if (outer_.own_embedding) all.push_back(outer_.own_embedding.get());
  for (const Block& block : blocks_) {
    for (const Linear* linear : linears_of(block)) {
      all.push_back(linear->matrix.get());
      if (linear->low_rank.a) all.push_back(linear->low_rank.a.get());
      for (const LowRankPair& pair : linear->low_rank.pairs) all.push_back(pair.b.get());
    }
  }
  return all;
}

PackedSize ResidentWeights::packed_size() const {
  PackedSize size;
  for (const PackedWeight* weight : packed_weights()) {
    const std::int64_t elements = weight->out() * weight->in(), bytes = weight->bytes();
    size.elements += elements;
    if (bytes >= elements * dtype_bytes(DType::kFloat32)) size.fp32_elements += elements;
    if (bytes < elements * dtype_bytes(DType::kBFloat16)) size.nf4_elements += elements;
    size.bytes += bytes;
  }
  return size;
}

}  // namespace lie
