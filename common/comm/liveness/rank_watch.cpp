#include "common/comm/liveness/rank_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace lie {
namespace {

using Kind = RankNews::Kind;

RankNews about(int rank, Kind kind) { return {kind, {.rank = rank}}; }

Kind over(Loss loss) { return loss == Loss::kDied ? Kind::kOver : Kind::kOverSilent; }

}  // namespace

RankWatch::RankWatch(RankState own, Send send) : own_(std::move(own)), send_(std::move(send)) {}

void RankWatch::add_parent(const RankState& parent) {
  for (const auto& [rank, known] : known_) send_(parent.rank, {Kind::kRunning, known.state});
  parent_ = parent.rank;
  known_[parent.rank] = {parent, parent.rank};
  if (quiet_) send_(parent.rank, about(own_.rank, Kind::kFailing));
}

void RankWatch::add_child(const RankState& child) {
  children_.insert(child.rank);
  send_(child.rank, {Kind::kRunning, own_});
  if (quiet_) send_(child.rank, about(own_.rank, Kind::kFailing));
  hear(child.rank, {Kind::kRunning, child});
  choose_deputy();
}

void RankWatch::tell(const RankState& own) {
  own_ = own;
  tell_all({Kind::kRunning, own_});
}

void RankWatch::tell_failing() {
  if (std::exchange(quiet_, true)) return;
  tell_all(about(own_.rank, Kind::kFailing));
}

std::optional<LossEnding> RankWatch::hear(int neighbour, const RankNews& news) {
  switch (news.kind) {
    case Kind::kRunning:
    case Kind::kEnded: note(neighbour, news); return std::nullopt;
    case Kind::kFailing:
      if (!std::exchange(quiet_, true)) tell_all(news, neighbour);
      return std::nullopt;
    case Kind::kDeputy: deputy_ = news.rank.rank; return std::nullopt;
    case Kind::kDied:
      known_[news.rank.rank].state = news.rank;
      return quiet_ ? std::nullopt : child_lost(news.rank.rank, Loss::kDied);
    case Kind::kOver:
    case Kind::kOverSilent:
      tell_children(news);
      return LossEnding{.loss = news.kind == Kind::kOver ? Loss::kDied : Loss::kSilent};
  }
  return std::nullopt;
}

/// Stores the news and passes it up. When the parent has ended, losses are ignored from then on,
/// because no rank is left to report them to.
void RankWatch::note(int neighbour, const RankNews& news) {
  const bool ended = news.kind == Kind::kEnded;
  known_[news.rank.rank] = {news.rank, neighbour, ended};
  if (neighbour == parent_) {
    quiet_ = quiet_ || ended;
  } else if (parent_) {
    send_(*parent_, news);
  }
}

std::optional<LossEnding> RankWatch::lose(int neighbour, Loss loss) {
  const bool is_parent = neighbour == parent_;
  children_.erase(neighbour);
  if (is_parent) parent_.reset();
  choose_deputy();
  if (quiet_ || known_[neighbour].ended) return std::nullopt;
  return is_parent ? parent_lost(neighbour, loss) : child_lost(neighbour, loss);
}

LossEnding RankWatch::parent_lost(int parent, Loss loss) {
  if (deputy_ == own_.rank) return report(parent, loss);
  tell_children(about(own_.rank, over(loss)));
  return {.loss = loss, .gives_time = true};
}

/// Reports the loss on rank 0, and on a rank without a parent. Other ranks pass it up.
std::optional<LossEnding> RankWatch::child_lost(int child, Loss loss) {
  if (!parent_) return report(child, loss);
  send_(*parent_, {Kind::kDied, known_[child].state});
  return std::nullopt;
}

LossEnding RankWatch::report(int rank, Loss loss) {
  tell_children(about(own_.rank, over(loss)));
  const RankState& state = known_[rank].state;
  if (loss == Loss::kDied) return {state, "the process has died without a report of its own"};
  const auto ranks = std::ranges::count(known_, rank, [](const auto& e) { return e.second.by; });
  return {
      state,
      fmt::format("the host no longer answers: it or its network is lost (ranks on it: {})", ranks),
      loss};
}

void RankWatch::tell_all(const RankNews& news, int but) {
  if (parent_ && parent_ != but) send_(*parent_, news);
  for (const int child : children_) {
    if (child != but) send_(child, news);
  }
}

void RankWatch::tell_children(const RankNews& news) {
  for (const int child : children_) send_(child, news);
}

/// Chooses the deputy. The previous deputy is notified too, so that two of them never report.
void RankWatch::choose_deputy() {
  if (own_.rank != 0) return;
  const auto worth = [&](int child) {
    return std::tuple(known_[child].state.host == own_.host, child);
  };
  const auto best = std::ranges::min_element(children_, {}, worth);
  const int chosen = best == children_.end() ? -1 : *best;
  for (const int concerned : {deputy_, chosen}) {
    if (chosen != deputy_ && children_.contains(concerned)) {
      send_(concerned, about(chosen, Kind::kDeputy));
    }
  }
  deputy_ = chosen;
}

}  // namespace lie
