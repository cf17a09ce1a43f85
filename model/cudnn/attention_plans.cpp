#include "model/cudnn/attention_plans.h"

#include <cudnn_frontend.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace lie::cudnn {
namespace {

namespace fe = cudnn_frontend;
using Graph = fe::graph::Graph;
using TensorOfGraph = std::shared_ptr<fe::graph::Tensor_attributes>;

/// The tensors of a graph, by which a call names its memory.
enum Name : std::int64_t {
  kQueries = 1,
  kKeys,
  kValues,
  kY,
  kLogSum,
  kDy,
  kDQueries,
  kDKeys,
  kDValues,
  kQueryLengths,
  kKeyLengths,
  kRotatedOffsets,
  kValuesOffsets,
  kYOffsets,
  kLogSumOffsets,
  kDyOffsets,
  kDRotatedOffsets,
  kDKvOffsets,
  kTable,
};

/// Returns the message's first reason in one line. cuDNN lists the reasons of all engines.
std::string text(fe::error_t error) {
  const std::string message = error.get_message();
  const std::size_t reason = message.find("Reason: ");
  const std::size_t first = reason == std::string::npos ? 0 : reason + 8;
  return message.substr(first, message.find('\n', first) - first);
}

/// Declares the tensors of a graph. A tensor [sequences, heads, longest, columns] begins each
/// sequence where its offsets say.
struct Declare {
  Graph& graph;
  std::int64_t sequences, longest, head_width;

  template <typename Sizes>
  Declare(Graph& to, const Sizes& sizes)
      : graph(to),
        sequences(sizes.sequences),
        longest(sizes.longest),
        head_width(sizes.head_width) {}

  TensorOfGraph list(Name name, std::int64_t count, fe::DataType_t type) const {
    return graph.tensor(fe::graph::Tensor_attributes()
                            .set_uid(name)
                            .set_dim({count, 1, 1, 1})
                            .set_stride({1, 1, 1, 1})
                            .set_data_type(type));
  }
  TensorOfGraph offsets(Name name) const {
    return list(name, sequences + 1, fe::DataType_t::INT64);
  }
  TensorOfGraph lengths(Name name) const { return list(name, sequences, fe::DataType_t::INT32); }
  void shape(const TensorOfGraph& x, Name name, std::int64_t heads, std::int64_t stride,
             const TensorOfGraph& offsets) const {
    x->set_uid(name)
        .set_dim({sequences, heads, longest, head_width})
        .set_stride({longest * stride, head_width, stride, 1})
        .set_ragged_offset(offsets);
  }
  TensorOfGraph input(Name name, std::int64_t heads, std::int64_t stride,
                      const TensorOfGraph& offsets) const {
    const TensorOfGraph x = graph.tensor(fe::graph::Tensor_attributes().set_uid(name));
    shape(x, name, heads, stride, offsets);
    return x;
  }
  void output(const TensorOfGraph& x, Name name, std::int64_t heads, std::int64_t stride,
              const TensorOfGraph& offsets) const {
    shape(x, name, heads, stride, offsets);
    x->set_output(true);
  }
  /// Statistics have one column, and the heads of a row side by side.
  void statistics(const TensorOfGraph& x, std::int64_t heads, std::int64_t stride,
                  const TensorOfGraph& offsets) const {
    x->set_uid(kLogSum)
        .set_dim({sequences, heads, longest, 1})
        .set_stride({longest * stride, 1, stride, 1})
        .set_ragged_offset(offsets)
        .set_data_type(fe::DataType_t::FLOAT);
  }
  float scale() const { return 1 / std::sqrt(static_cast<float>(head_width)); }
  /// Sets what forward passes have in common.
  fe::graph::SDPA_attributes causal(bool has_statistics, fe::DiagonalAlignment_t alignment) const {
    return fe::graph::SDPA_attributes()
        .set_generate_stats(has_statistics)
        .set_attn_scale(scale())
        .set_padding_mask(true)
        .set_seq_len_q(lengths(kQueryLengths))
        .set_seq_len_kv(lengths(kKeyLengths))
        .set_diagonal_alignment(alignment)
        .set_diagonal_band_right_bound(0);
  }
};

void declare_forward(Graph& graph, const AttentionSizes& sizes) {
  const Declare declare{graph, sizes};
  const TensorOfGraph rotated = declare.offsets(kRotatedOffsets),
                      of_values = declare.offsets(kValuesOffsets);
  const auto options = declare.causal(/*has_statistics=*/true, fe::DiagonalAlignment_t::TOP_LEFT);
  const auto [y, log_sum] =
      graph.sdpa(declare.input(kQueries, sizes.heads, sizes.rotated_stride, rotated),
                 declare.input(kKeys, sizes.kv_heads, sizes.rotated_stride, rotated),
                 declare.input(kValues, sizes.kv_heads, sizes.values_stride, of_values), options);
  declare.output(y, kY, sizes.heads, sizes.y_stride, declare.offsets(kYOffsets));
  declare.statistics(log_sum, sizes.heads, sizes.log_sum_stride, declare.offsets(kLogSumOffsets));
  log_sum->set_output(true);
}

void declare_paged(Graph& graph, const PagedSizes& sizes) {
  const Declare declare{graph, sizes};
  const auto pages = [&](Name name) {
    const std::int64_t head = sizes.page_tokens * sizes.head_width;
    return graph.tensor(
        fe::graph::Tensor_attributes()
            .set_uid(name)
            .set_dim({sizes.pages, sizes.kv_heads, sizes.page_tokens, sizes.head_width})
            .set_stride({sizes.page_stride, head, sizes.head_width, 1}));
  };
  const TensorOfGraph table = graph.tensor(fe::graph::Tensor_attributes()
                                               .set_uid(kTable)
                                               .set_dim({sizes.sequences, 1, sizes.table_width, 1})
                                               .set_stride({sizes.table_width, 1, 1, 1})
                                               .set_data_type(fe::DataType_t::INT32));
  auto options = declare.causal(/*has_statistics=*/false, fe::DiagonalAlignment_t::BOTTOM_RIGHT);
  options.set_paged_attention_k_table(table)
      .set_paged_attention_v_table(table)
      .set_paged_attention_max_seq_len_kv(static_cast<int>(sizes.table_width * sizes.page_tokens));
  const auto [y, log_sum] = graph.sdpa(
      declare.input(kQueries, sizes.heads, sizes.queries_stride, declare.offsets(kRotatedOffsets)),
      pages(kKeys), pages(kValues), options);
  declare.output(y, kY, sizes.heads, sizes.y_stride, declare.offsets(kYOffsets));
}

void declare_backward(Graph& graph, const AttentionSizes& sizes) {
  const Declare declare{graph, sizes};
  const TensorOfGraph rotated = declare.offsets(kRotatedOffsets),
                      of_values = declare.offsets(kValuesOffsets),
                      d_kv = declare.offsets(kDKvOffsets);
  const TensorOfGraph log_sum = graph.tensor(fe::graph::Tensor_attributes().set_uid(kLogSum));
  declare.statistics(log_sum, sizes.heads, sizes.log_sum_stride, declare.offsets(kLogSumOffsets));
  const auto options = fe::graph::SDPA_backward_attributes()
                           .set_attn_scale(declare.scale())
                           .set_padding_mask(true)
                           .set_seq_len_q(declare.lengths(kQueryLengths))
                           .set_seq_len_kv(declare.lengths(kKeyLengths))
                           .set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
                           .set_diagonal_band_right_bound(0)
                           .set_deterministic_algorithm(true)
                           .set_max_total_seq_len_q(sizes.tokens)
                           .set_max_total_seq_len_kv(sizes.tokens);
  const auto [d_queries, d_keys, d_values] = graph.sdpa_backward(
      declare.input(kQueries, sizes.heads, sizes.rotated_stride, rotated),
      declare.input(kKeys, sizes.kv_heads, sizes.rotated_stride, rotated),
      declare.input(kValues, sizes.kv_heads, sizes.values_stride, of_values),
      declare.input(kY, sizes.heads, sizes.y_stride, declare.offsets(kYOffsets)),
      declare.input(kDy, sizes.heads, sizes.dy_stride, declare.offsets(kDyOffsets)), log_sum,
      options);
  declare.output(d_queries, kDQueries, sizes.heads, sizes.d_rotated_stride,
                 declare.offsets(kDRotatedOffsets));
  declare.output(d_keys, kDKeys, sizes.kv_heads, sizes.d_kv_stride, d_kv);
  declare.output(d_values, kDValues, sizes.kv_heads, sizes.d_kv_stride, d_kv);
}

using Pointers = std::unordered_map<std::int64_t, void*>;

void* at(const void* data) { return const_cast<void*>(data); }

Pointers forward_pointers(const AttentionMemory& m) {
  return {{kQueries, at(m.queries)},
          {kKeys, at(m.keys)},
          {kValues, at(m.values)},
          {kY, m.y},
          {kLogSum, m.log_sum},
          {kQueryLengths, at(m.lengths)},
          {kKeyLengths, at(m.lengths)},
          {kRotatedOffsets, at(m.rotated_offsets)},
          {kValuesOffsets, at(m.values_offsets)},
          {kYOffsets, at(m.y_offsets)},
          {kLogSumOffsets, at(m.log_sum_offsets)}};
}

Pointers backward_pointers(const AttentionMemory& m) {
  Pointers pointers = forward_pointers(m);
  pointers.insert({{kDy, at(m.dy)},
                   {kDQueries, m.d_queries},
                   {kDKeys, m.d_keys},
                   {kDValues, m.d_values},
                   {kDyOffsets, at(m.dy_offsets)},
                   {kDRotatedOffsets, at(m.d_rotated_offsets)},
                   {kDKvOffsets, at(m.d_kv_offsets)}});
  return pointers;
}

Pointers paged_pointers(const PagedMemory& m) {
  return {{kQueries, at(m.queries)},
          {kKeys, at(m.keys)},
          {kValues, at(m.values)},
          {kY, m.y},
          {kTable, at(m.table)},
          {kQueryLengths, at(m.row_counts)},
          {kKeyLengths, at(m.position_counts)},
          {kRotatedOffsets, at(m.queries_offsets)},
          {kYOffsets, at(m.y_offsets)}};
}

/// A graph and its plan.
struct Compiled {
  std::unique_ptr<Graph> graph;
  AttentionPlan plan;
};

/// The plans of a pass by shape, and the kernels that serve all shapes with the same heads.
template <typename Sizes>
struct PlansByShape {
  std::map<Sizes, Compiled> plans;
  std::map<std::array<std::int64_t, 3>, std::shared_ptr<fe::KernelCache>> kernels;
};

}  // namespace

struct AttentionPlans::State {
  cudnnHandle_t handle = nullptr;                // null where plans cannot run
  std::shared_ptr<fe::DeviceProperties> device;  // likewise the other way round
  std::int32_t sm = 0;                           // ten times the compute capability, of `device`
  PlansByShape<AttentionSizes> forward;
  PlansByShape<PagedSizes> paged;
  std::map<AttentionSizes, Compiled> backward;

  ~State() {
    if (handle != nullptr) cudnnDestroy(handle);
  }

  /// Compiles a graph. With `kernels_of_all` it asks for a kernel for all shapes.
  template <typename Sizes>
  Compiled compile(void (*declare)(Graph&, const Sizes&), const Sizes& sizes,
                   const std::shared_ptr<fe::KernelCache>& kernels_of_all) {
    Compiled made{std::make_unique<Graph>(), {}};
    Graph& graph = *made.graph;
    graph.set_io_data_type(fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    if (kernels_of_all) graph.set_dynamic_shape_enabled(true).set_kernel_cache(kernels_of_all);
    if (device) {
      graph.set_device_properties(device);
      graph.set_sm_version(sm);
    }
    declare(graph, sizes);
    fe::error_t error = graph.validate();
    if (error.is_good()) {
      error = device ? graph.build_operation_graph() : graph.build_operation_graph(handle);
    }
    if (error.is_good()) error = graph.create_execution_plans({fe::HeurMode_t::A});
    if (error.is_good()) error = graph.check_support();
    if (error.is_good()) error = graph.build_plans();
    if (error.is_good()) error = graph.get_workspace_size(made.plan.workspace_bytes);
    if (error.is_good()) error = graph.get_plan_name(made.plan.engine);
    if (error.is_bad()) made.plan.refusal = text(error);
    return made;
  }
  /// Returns the plan for a shape, which it compiles the first time: for all shapes with these
  /// heads at once, where cuDNN can.
  template <typename Sizes>
  Compiled& plan_for(PlansByShape<Sizes>& known, void (*declare)(Graph&, const Sizes&),
                     const Sizes& sizes) {
    const auto found = known.plans.find(sizes);
    if (found != known.plans.end()) return found->second;
    auto& kernels = known.kernels[{sizes.heads, sizes.kv_heads, sizes.head_width}];
    if (!kernels) kernels = std::make_shared<fe::KernelCache>();
    Compiled made = compile(declare, sizes, kernels);
    if (!made.plan.refusal.empty()) made = compile(declare, sizes, nullptr);
    return known.plans.emplace(sizes, std::move(made)).first->second;
  }
  Compiled& forward_for(const AttentionSizes& sizes) {
    return plan_for(forward, declare_forward, sizes);
  }
  Compiled& paged_for(const PagedSizes& sizes) { return plan_for(paged, declare_paged, sizes); }
  Compiled& backward_for(const AttentionSizes& sizes) {
    const auto found = backward.find(sizes);
    if (found != backward.end()) return found->second;
    return backward.emplace(sizes, compile(declare_backward, sizes, nullptr)).first->second;
  }
  void run(void* stream, const Compiled& compiled, Pointers pointers, void* workspace) const {
    if (handle == nullptr || !compiled.plan.refusal.empty()) {
      fail("attention by cuDNN: the plan cannot run: {}", compiled.plan.refusal);
    }
    if (cudnnSetStream(handle, static_cast<cudaStream_t>(stream)) != CUDNN_STATUS_SUCCESS) {
      fail("attention by cuDNN: the stream was refused");
    }
    const fe::error_t error = compiled.graph->execute(handle, pointers, workspace);
    if (error.is_bad()) fail("attention by cuDNN failed: {}", text(error));
  }
};

AttentionPlans::AttentionPlans(std::string properties) : state_(std::make_unique<State>()) {
  // cuDNN's frontend reads from the environment above which size a product is not stored.
  setenv("CUDNN_FRONTEND_ATTN_DP_WORKSPACE_LIMIT", std::to_string(kMostStoredBytes).c_str(),
         /*overwrite=*/0);
  if (properties.empty()) {
    const cudnnStatus_t status = cudnnCreate(&state_->handle);
    if (status == CUDNN_STATUS_SUCCESS) return;
    state_->handle = nullptr;
    refusal_ = fmt::format("cuDNN does not start: {}", cudnnGetErrorString(status));
    return;
  }
  state_->device = std::make_shared<fe::DeviceProperties>();
  const fe::error_t error = state_->device->deserialize({properties.begin(), properties.end()});
  if (error.is_bad()) refusal_ = "cuDNN refused the properties of the device: " + text(error);
  const std::size_t key = properties.find("\"deviceVer\":");
  if (key != std::string::npos) state_->sm = std::atoi(properties.c_str() + key + 12) / 10;
}

AttentionPlans::~AttentionPlans() = default;

std::string AttentionPlans::version() {
  const std::size_t version = cudnnGetVersion();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

const AttentionPlan& AttentionPlans::forward_plan(const AttentionSizes& sizes) {
  return state_->forward_for(sizes).plan;
}

const AttentionPlan& AttentionPlans::backward_plan(const AttentionSizes& sizes) {
  return state_->backward_for(sizes).plan;
}

const AttentionPlan& AttentionPlans::paged_plan(const PagedSizes& sizes) {
  return state_->paged_for(sizes).plan;
}

void AttentionPlans::forward(void* stream, const AttentionSizes& sizes,
                             const AttentionMemory& memory, void* workspace) {
  state_->run(stream, state_->forward_for(sizes), forward_pointers(memory), workspace);
}

void AttentionPlans::backward(void* stream, const AttentionSizes& sizes,
                              const AttentionMemory& memory, void* workspace) {
  state_->run(stream, state_->backward_for(sizes), backward_pointers(memory), workspace);
}

void AttentionPlans::paged(void* stream, const PagedSizes& sizes, const PagedMemory& memory,
                           void* workspace) {
  state_->run(stream, state_->paged_for(sizes), paged_pointers(memory), workspace);
}

}  // namespace lie::cudnn
