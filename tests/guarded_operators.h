// A stand-in for a device: the CPU operators, or others that compute in host memory, with memory
// that the host cannot touch. Between calls every page is locked, so that code which accesses a
// tensor directly crashes. Transfers between host and device are counted. A replayed step is not
// executed. As with a CUDA graph, the operator calls of its first execution are repeated with the
// same arguments.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "model/operators/operators.h"

namespace lie::test {

class GuardedOperators : public Operators {
 public:
  /// Transfers between host and device since construction.
  struct Traffic {
    std::int64_t allocations = 0, allocated_bytes = 0;  // without packed weights
    std::int64_t to_host = 0, from_host = 0;            // elements
    std::int64_t waits = 0;     // waits of the host for all work of the device
    std::int64_t receipts = 0;  // receipts of tokens of an earlier pass, while the device works
    std::int64_t uploads = 0;   // asynchronous transfers to the device

    Traffic since(const Traffic& before) const {
      return {allocations - before.allocations,
              allocated_bytes - before.allocated_bytes,
              to_host - before.to_host,
              from_host - before.from_host,
              waits - before.waits,
              receipts - before.receipts,
              uploads - before.uploads};
    }
  };

  explicit GuardedOperators(std::unique_ptr<Operators> inner = make_cpu_operators(1))
      : inner_(std::move(inner)) {
    memory_ =
        ::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) fail("no address space for the guarded memory");
  }
  ~GuardedOperators() override { ::munmap(memory_, kBytes); }
  GuardedOperators(const GuardedOperators&) = delete;
  GuardedOperators& operator=(const GuardedOperators&) = delete;

  const Traffic& traffic() const { return traffic_; }
  /// Returns the largest number of bytes that buffers held at one time, without packed weights.
  std::int64_t peak_bytes() const { return held_->peak; }
  /// The number of passes whose tokens were not received yet.
  std::int64_t unreceived() const { return unreceived_; }

  DType activation_dtype() const override { return inner_->activation_dtype(); }
  DType packed_dtype() const override { return inner_->packed_dtype(); }
  MemoryPlace place() const override { return {.device = 0}; }
  std::optional<std::int64_t> free_bytes() const override { return free_; }
  /// Sets the result of free_bytes(), which allocations do not change.
  void set_free_bytes(std::int64_t bytes) { free_ = bytes; }
  Buffer allocate(std::int64_t rows, std::int64_t cols, DType dtype) override {
    forbid_in_capture();
    ++traffic_.allocations;
    const auto bytes = static_cast<std::size_t>(rows * cols * dtype_bytes(dtype));
    traffic_.allocated_bytes += static_cast<std::int64_t>(bytes);
    if (used_ + bytes > kBytes) fail("the guarded memory is used up");
    char* const data = static_cast<char*>(memory_) + used_;
    used_ += (bytes + 63) / 64 * 64;
    return {{data, rows, cols, cols, dtype}, held_->add(static_cast<std::int64_t>(bytes))};
  }
  std::unique_ptr<CudaGraphs> cuda_graphs() override { return std::make_unique<Graphs>(*this); }
  Indices upload(std::span<const std::int32_t> host) override {
    forbid_in_capture();
    ++traffic_.uploads;
    return inner_->upload(host);
  }
  void begin_pass() override {
    ++passes_;
    inner_->begin_pass();
  }
  void copy_to_host(Tensor from, std::span<float> to) override {
    forbid_in_capture();
    traffic_.to_host += from.elements();
    ++traffic_.waits;
    const Unlocked unlocked(*this);
    inner_->copy_to_host(from, to);
  }
  ReceiveTokens send_to_host(const DrawnTokens& drawn) override {
    traffic_.to_host += drawn.ids.elements() + drawn.log_probs.elements();
    ++unreceived_;
    return [this, sent_in = passes_, receive = call(&Operators::send_to_host, drawn)](
               std::span<std::int32_t> ids, std::span<float> log_probs) {
      ++(sent_in < passes_ ? traffic_.receipts : traffic_.waits);
      --unreceived_;
      receive(ids, log_probs);
    };
  }
  void copy_from_host(std::span<const float> from, Tensor to) override {
    traffic_.from_host += to.elements();
    ++traffic_.uploads;
    call(&Operators::copy_from_host, from, to);
  }
  std::unique_ptr<PackedWeight> make_weight(std::int64_t out, std::int64_t in,
                                            WeightUse use) override {
    return inner_->make_weight(out, in, use);
  }

  // All other calls are forwarded while the memory is unlocked.
  void zero(Tensor x) override { call(&Operators::zero, x); }
  void copy(Tensor from, Tensor to) override { call(&Operators::copy, from, to); }
  void pack(PackedWeight& w, std::int64_t first_out, Tensor part) override {
    call(&Operators::pack, w, first_out, part);
  }
  void linear(Tensor x, const PackedWeight& w, Tensor y) override {
    call(&Operators::linear, x, w, y);
  }
  void linear_add(Tensor x, const PackedWeight& w, Tensor residual, Tensor y) override {
    call(&Operators::linear_add, x, w, residual, y);
  }
  void add_bias(Tensor x, Tensor bias) override { call(&Operators::add_bias, x, bias); }
  void add_bias_backward(Tensor dy, Tensor dbias) override {
    call(&Operators::add_bias_backward, dy, dbias);
  }
  void linear_backward_input(Tensor dy, PackedWeight& w, Tensor dx) override {
    call(&Operators::linear_backward_input, dy, w, dx);
  }
  void linear_backward_input_add(Tensor dy, PackedWeight& w, Tensor dx) override {
    call(&Operators::linear_backward_input_add, dy, w, dx);
  }
  void scale(Tensor x, float factor) override { call(&Operators::scale, x, factor); }
  void linear_backward_weight(Tensor dy, Tensor x, std::span<const std::int32_t> starts,
                              Tensor dw) override {
    call(&Operators::linear_backward_weight, dy, x, starts, dw);
  }
  void embed(Tensor table, Indices tokens, Tensor y) override {
    run_unlocked([this, table, tokens, y] { inner_->embed(table, tokens, y); });
  }
  void embed(const PackedWeight& table, Indices tokens, Tensor y) override {
    run_unlocked([this, &table, tokens, y] { inner_->embed(table, tokens, y); });
  }
  void embed_backward(Tensor dy, Indices tokens, Tensor dtable) override {
    call(&Operators::embed_backward, dy, tokens, dtable);
  }
  void look_up_drawn(Indices tokens, Tensor drawn, Tensor to) override {
    call(&Operators::look_up_drawn, tokens, drawn, to);
  }
  void bar(Tensor logits, Indices rows, Indices ids) override {
    call(&Operators::bar, logits, rows, ids);
  }
  void gather_rows(Tensor x, Indices rows, Tensor y) override {
    call(&Operators::gather_rows, x, rows, y);
  }
  void scatter_rows(Tensor y, Indices rows, Tensor x) override {
    call(&Operators::scatter_rows, y, rows, x);
  }
  void rms_norm(Tensor x, Tensor weight, float eps, Tensor y, Tensor inverse_rms) override {
    call(&Operators::rms_norm, x, weight, eps, y, inverse_rms);
  }
  void rms_norm_backward(Tensor dy, Tensor x, Tensor weight, Tensor inverse_rms, Tensor dx,
                         Tensor dweight) override {
    call(&Operators::rms_norm_backward, dy, x, weight, inverse_rms, dx, dweight);
  }
  void swiglu(Tensor gate_up, Tensor y) override { call(&Operators::swiglu, gate_up, y); }
  void swiglu_backward(Tensor dy, Tensor gate_up, Tensor d_gate_up, Tensor y) override {
    call(&Operators::swiglu_backward, dy, gate_up, d_gate_up, y);
  }
  void qk_norm_rope(Tensor qkv, const QkNormRope& how, Tensor rotated) override {
    call(&Operators::qk_norm_rope, qkv, how, rotated);
  }
  void qk_norm_rope_backward(Tensor d_rotated, Tensor qkv, const QkNormRope& how, Tensor d_qkv,
                             Tensor dq_norm, Tensor dk_norm) override {
    call(&Operators::qk_norm_rope_backward, d_rotated, qkv, how, d_qkv, dq_norm, dk_norm);
  }
  void store_kv(Tensor rotated, Tensor qkv, const AttentionShape& shape, const DecodeBatch& batch,
                KvPages pages) override {
    call(&Operators::store_kv, rotated, qkv, shape, batch, pages);
  }
  void attention_decode(Tensor rotated, const AttentionShape& shape, const DecodeBatch& batch,
                        KvPages pages, Tensor y) override {
    call(&Operators::attention_decode, rotated, shape, batch, pages, y);
  }
  void attention(Tensor rotated, Tensor qkv, const AttentionShape& shape,
                 const PackedSequences& sequences, Tensor y, Tensor log_sum) override {
    call(&Operators::attention, rotated, qkv, shape, sequences, y, log_sum);
  }
  void attention_backward(Tensor dy, Tensor rotated, Tensor qkv, Tensor y, Tensor log_sum,
                          const AttentionShape& shape, const PackedSequences& sequences,
                          Tensor d_rotated, Tensor d_qkv) override {
    call(&Operators::attention_backward, dy, rotated, qkv, y, log_sum, shape, sequences, d_rotated,
         d_qkv);
  }
  void sample(Tensor logits, std::span<const Draw> draws, const DrawnTokens& drawn) override {
    traffic_.uploads += draws.empty() ? 0 : 1;
    call(&Operators::sample, logits, draws, drawn);
  }
  void log_probs(Tensor logits, Indices targets, float temperature, Tensor log_probs,
                 Tensor entropies, Tensor log_sum) override {
    call(&Operators::log_probs, logits, targets, temperature, log_probs, entropies, log_sum);
  }
  void log_probs_backward(Tensor logits, Indices targets, float temperature, Tensor entropies,
                          Tensor log_sum, Tensor d_log_probs, Tensor d_entropies) override {
    call(&Operators::log_probs_backward, logits, targets, temperature, entropies, log_sum,
         d_log_probs, d_entropies);
  }
  void add(Tensor from, Tensor to) override { call(&Operators::add, from, to); }
  void sums_of_squares(Tensor x, std::int64_t block, std::span<double> sums) override {
    ++traffic_.waits;
    call(&Operators::sums_of_squares, x, block, sums);
  }
  void adamw(const AdamWStep& how, const AdamWTensors& x) override {
    call(&Operators::adamw, how, x);
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{1} << 30;  // reserved; used on demand

  /// Bytes of the buffers that exist, which may outlive the operators.
  struct Held : std::enable_shared_from_this<Held> {
    std::int64_t bytes = 0, peak = 0;

    Buffer::Owner add(std::int64_t more) {
      bytes += more;
      peak = std::max(peak, bytes);
      const auto end = [all = shared_from_this(), more] { all->bytes -= more; };
      return {new std::function<void()>(end), +[](void* owned) {
                const std::unique_ptr<std::function<void()>> call(
                    static_cast<std::function<void()>*>(owned));
                (*call)();
              }};
    }
  };

  class Unlocked {
   public:
    explicit Unlocked(GuardedOperators& all) : all_(all) { all_.protect(PROT_READ | PROT_WRITE); }
    ~Unlocked() { all_.protect(PROT_NONE); }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

   private:
    GuardedOperators& all_;
  };

  using CapturedCalls = std::vector<std::function<void()>>;

  class Graphs final : public CudaGraphs {
   public:
    explicit Graphs(GuardedOperators& all) : all_(all) {}
    void run(const CudaGraphKey& key, const std::function<void()>& step) override {
      const auto [known, is_new] = steps_.try_emplace(key);
      if (is_new) {
        all_.capture_ = &known->second;
        step();
        all_.capture_ = nullptr;
        ++usage_.captured;
      } else {
        for (const auto& call : known->second) call();
        ++usage_.replayed;
      }
    }
    void clear() override { steps_.clear(); }

   private:
    GuardedOperators& all_;
    std::map<CudaGraphKey, CapturedCalls> steps_;
  };

  void forbid_in_capture() const {
    if (capture_) fail("a captured step allocates, uploads or waits");
  }
  /// Runs `call` with the memory unlocked, and adds it to the capture in progress.
  void run_unlocked(std::function<void()> call) {
    {
      const Unlocked unlocked(*this);
      call();
    }
    if (!capture_) return;
    capture_->push_back([this, call = std::move(call)] {
      const Unlocked unlocked(*this);
      call();
    });
  }

  void protect(int how) { ::mprotect(memory_, kBytes, how); }

  /// The type in which a captured call keeps an argument. Weights stay in place and are captured by
  /// reference; all other arguments may be temporary and are copied.
  template <typename Parameter>
  using CapturedArgument =
      std::conditional_t<std::is_base_of_v<PackedWeight, std::remove_cvref_t<Parameter>>, Parameter,
                         std::remove_cvref_t<Parameter>>;

  template <typename Result, typename... Parameters, typename... Arguments>
  Result call(Result (Operators::*method)(Parameters...), Arguments&&... arguments) {
    if constexpr (std::is_void_v<Result>) {
      std::tuple<CapturedArgument<Parameters>...> captured(arguments...);
      run_unlocked([this, method, captured] {
        std::apply([&](auto&... all) { (*inner_.*method)(all...); }, captured);
      });
    } else {
      forbid_in_capture();
      const Unlocked unlocked(*this);
      return (*inner_.*method)(std::forward<Arguments>(arguments)...);
    }
  }

  std::unique_ptr<Operators> inner_;
  void* memory_ = nullptr;
  std::size_t used_ = 0;
  std::shared_ptr<Held> held_ = std::make_shared<Held>();
  Traffic traffic_;
  std::optional<std::int64_t> free_;
  std::int64_t passes_ = 0, unreceived_ = 0;
  CapturedCalls* capture_ = nullptr;
};

}  // namespace lie::test
