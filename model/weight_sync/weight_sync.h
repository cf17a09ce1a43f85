// Weights from the learners to the actors: one sender, one receiver, and the messages between them.
//
// An update is a WeightHeader, broadcast by learner 0 as host bytes. All weights follow, fp32 or
// rounded to bf16, unless the actors compute with the learners' weights. They are sent in parts,
// which an actor packs as they arrive. There are three transports:
//   broadcast         each actor packs the weights into memory of its own
//   one copy a host   one actor of a host packs them into memory that its other actors map
//                     (host_copy.h)
//   same process      the actor computes with the learner's weights; only headers are sent
//                     (LocalWeightSync)
// weight_transports.h chooses one and makes the two ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/clock.h"
#include "common/comm/collective/collective.h"
#include "common/config/options.h"
#include "model/transformer/transformer.h"
#include "model/weight_sync/arriving_weights.h"
#include "model/weight_sync/host_copy.h"

namespace lie {

/// How learner 0 sends the weights. Rounding depends on one weight alone, so all actors receive
/// bit-identical weights, also after a resume.
struct WeightSyncOptions {
  DType weights = DType::kFloat32;  // or kBFloat16
};
void describe(FieldList& fields, WeightSyncOptions& options);

/// Precedes the weights of every update.
struct WeightHeader {
  std::uint64_t magic = kMagic;
  std::int64_t policy_version = 0;
  std::int64_t elements = 0;  // of the weights that follow; kFinish: the run is over
  std::int64_t type = 0;      // DType of these elements: kFloat32 or kBFloat16
  std::int64_t part = 0;      // elements of each broadcast but the last
  static constexpr std::uint64_t kMagic = 0x3354'4857'4945'494c;  // "LIEIWHT3"
  static constexpr std::int64_t kFinish = -1;
};

// ---- Both ends of the broadcast. Learner 0 is member 0 of the group.

/// The weights that a learner sends, fp32, in the flat order.
struct SentWeights {
  SentWeights() = default;
  SentWeights(std::int64_t count, std::function<DeviceSpan(FlatRange part)> get)
      : elements(count), part(std::move(get)) {}
  /// Sends weights in one place.
  SentWeights(DeviceSpan all)  // NOLINT(google-explicit-constructor)
      : SentWeights(all.count, [all](FlatRange of) { return all.part(of.first, of.count); }) {}

  std::int64_t elements = 0;
  /// Returns a part, which is valid until the next call.
  std::function<DeviceSpan(FlatRange part)> part = {};
};

/// Learner 0: sends weights to all actors. No elements send the header only. Blocks until the
/// actors have received them. Tests vary `part`.
void publish_weights(Collective& group, std::int64_t policy_version, const SentWeights& weights,
                     const WeightSyncOptions& options = {},
                     std::int64_t part = kWeightPartElements);
/// Learner 0: notifies all actors that no more weights follow.
void publish_finish(Collective& group);

/// Where an actor receives the weights of an update.
struct WeightParts {
  std::int64_t elements = 0;                           // of all parts
  std::function<DeviceSpan(std::int64_t count)> next;  // returns fp32 memory for the next part
  std::function<void()> arrived;                       // the memory of next() is filled
};
/// Actor: waits for the next update, receives its parts in the flat order, and returns its policy
/// version, or nothing at the end of the run. Throws Error if the learner's model has another
/// number of parameters, or the weights have an unknown type.
std::optional<std::int64_t> receive_weights(Collective& group, const WeightParts& parts);

// ---- The two ends that learners and actors see.

/// What a learner's end of weight sync needs. All of it must outlive the sender.
struct LearnerWeights {
  std::shared_ptr<Transformer> policy;  // with all that it computes with
  Operators& operators;
  /// The weights as they are after each update. If they are sent, all learners ask for each part,
  /// since they may hold it together.
  SentWeights weights;
  Collective& learners;  // for the operators' memory
};

/// A learner's end. Only learner 0 sends; the senders of the other learners take part in finish().
class WeightSender {
 public:
  WeightSender() = default;
  /// Learner 0: sends `weights` to the other members of `actors`. Keeps a reference to the group.
  WeightSender(Collective& actors, SentWeights weights, const WeightSyncOptions& options)
      : actors_(&actors), weights_(std::move(weights)), options_(options) {}
  /// Makes the end of a learner that sends to no actor, but helps to gather what learner 0 sends.
  explicit WeightSender(SentWeights weights) : weights_(std::move(weights)) {}
  /// Makes the end of a learner whose weights actors compute with. `actors` is null except on
  /// learner 0, which sends headers only. Keeps references to both groups.
  WeightSender(Collective* actors, Collective& learners) : actors_(actors), learners_(&learners) {}

  /// Returns whether actors compute with the learners' weights. An update must then be complete on
  /// the devices of all learners before publish().
  bool shares_memory() const { return learners_ != nullptr; }

  /// Gives all actors the current weights, as those of `policy_version`. Blocks until the actors
  /// of this learner have received them. Collective over the learners unless they share memory.
  void publish(std::int64_t policy_version);
  /// Notifies the actors that the run is over, and returns when they have received this. If
  /// actors compute with the learners' weights, it is collective over the learners: no learner's
  /// memory may go away before the actors have finished.
  void finish();

 private:
  Collective* actors_ = nullptr;    // null: this learner sends to no actor
  Collective* learners_ = nullptr;  // null: actors hold weights of their own
  SentWeights weights_;             // none if actors compute with the learners' weights
  WeightSyncOptions options_;
};

/// An actor's end. Holds the policy that the actor generates with.
class WeightReceiver {
 public:
  /// Makes a policy with weights of its own, which are undefined until the first receive(). With
  /// `host_copy` they are the copy that the actors of this host share. Keeps references to all but
  /// the config.
  WeightReceiver(const ModelConfig& config, Operators& operators, Collective& group,
                 HostCopy* host_copy = nullptr);
  /// Takes a policy that computes with a learner's weights. Keeps a reference to the group.
  WeightReceiver(Transformer policy, Collective& group);
  /// Takes a policy whose weights never change. receive() must not be called.
  explicit WeightReceiver(Transformer policy);

  Transformer& policy() { return policy_; }

  /// Waits for the next weights, makes the policy compute with them, and returns their policy
  /// version, or nothing at the end of the run. Counts waiting as idle and packing as busy.
  std::optional<std::int64_t> receive(BusyIdleClock& clock);

 private:
  std::optional<std::int64_t> receive_and_pack(BusyIdleClock& clock);

  Collective* group_ = nullptr;
  HostCopy* host_copy_ = nullptr;            // null: no other actor uses these weights
  std::optional<ArrivingWeights> arriving_;  // empty if the policy has a learner's weights
  Transformer policy_;
};

}  // namespace lie
