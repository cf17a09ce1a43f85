#include "common/comm/liveness/rank_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace lie {

namespace {

using Kind = RankNews::Kind;

RankNews news_of(int rank, Kind kind) { return {kind, {.rank = rank}}; }

Kind over(Loss loss) { return loss == Loss::kDied ? Kind::kOver : Kind::kOverUnresponsive; }

}  // namespace

RankWatch::RankWatch(RankState own, Send send) : own_(std::move(own)), send_(std::move(send)) {}

void RankWatch::add_parent(const RankState& parent) {
  for (const auto& [rank, known] : known_) send_(parent.rank, {Kind::kRunning, known.state});
  parent_ = parent.rank;
  known_[parent.rank] = {parent, parent.rank};
  if (ignores_losses_) send_(parent.rank, news_of(own_.rank, Kind::kFailing));
}

void RankWatch::add_child(const RankState& child) {
  children_.insert(child.rank);
  send_(child.rank, {Kind::kRunning, own_});
  if (ignores_losses_) send_(child.rank, news_of(own_.rank, Kind::kFailing));
  receive(child.rank, {Kind::kRunning, child});
  choose_deputy();
}

void RankWatch::update(const RankState& own) {
  own_ = own;
  send_to_all({Kind::kRunning, own_});
}

void RankWatch::announce_failure() {
  if (std::exchange(ignores_losses_, true)) return;
  send_to_all(news_of(own_.rank, Kind::kFailing));
}

std::optional<LossEnding> RankWatch::receive(int neighbor, const RankNews& news) {
  switch (news.kind) {
    case Kind::kRunning:
    case Kind::kEnded: store(neighbor, news); return std::nullopt;
    case Kind::kFailing:
      if (!std::exchange(ignores_losses_, true)) send_to_all(news, neighbor);
      return std::nullopt;
    case Kind::kDeputy: deputy_ = news.rank.rank; return std::nullopt;
    case Kind::kDied:
      known_[news.rank.rank].state = news.rank;
      return ignores_losses_ ? std::nullopt : child_lost(news.rank.rank, Loss::kDied);
    case Kind::kOver:
    case Kind::kOverUnresponsive:
      send_to_children(news);
      return LossEnding{.loss = news.kind == Kind::kOver ? Loss::kDied : Loss::kUnresponsive};
  }
  return std::nullopt;
}

/// Stores the news and passes it up. When the parent has ended, losses are ignored from then on,
/// because no rank is left to report them to.
void RankWatch::store(int neighbor, const RankNews& news) {
  const bool ended = news.kind == Kind::kEnded;
  known_[news.rank.rank] = {news.rank, neighbor, ended};
  if (neighbor == parent_) {
    ignores_losses_ = ignores_losses_ || ended;
  } else if (parent_) {
    send_(*parent_, news);
  }
}

std::optional<LossEnding> RankWatch::lose(int neighbor, Loss loss) {
  const bool is_parent = neighbor == parent_;
  children_.erase(neighbor);
  if (is_parent) parent_.reset();
  choose_deputy();
  if (ignores_losses_ || known_[neighbor].ended) return std::nullopt;
  return is_parent ? parent_lost(neighbor, loss) : child_lost(neighbor, loss);
}

LossEnding RankWatch::parent_lost(int parent, Loss loss) {
  if (deputy_ == own_.rank) return report(parent, loss);
  send_to_children(news_of(own_.rank, over(loss)));
  return {.loss = loss, .waits_for_reporter = true};
}

/// Reports the loss on rank 0, and on a rank without a parent. Other ranks pass it up.
std::optional<LossEnding> RankWatch::child_lost(int child, Loss loss) {
  if (!parent_) return report(child, loss);
  send_(*parent_, {Kind::kDied, known_[child].state});
  return std::nullopt;
}

LossEnding RankWatch::report(int rank, Loss loss) {
  send_to_children(news_of(own_.rank, over(loss)));
  const RankState& state = known_[rank].state;
  if (loss == Loss::kDied) return {state, "the process has died without a report of its own"};
  const auto ranks =
      std::ranges::count(known_, rank, [](const auto& e) { return e.second.sender; });
  return {state,
          fmt::format("the host no longer responds: it or its network is lost (ranks on it: {})",
                      ranks),
          loss};
}

void RankWatch::send_to_all(const RankNews& news, int except) {
  if (parent_ && parent_ != except) send_(*parent_, news);
  for (const int child : children_) {
    if (child != except) send_(child, news);
  }
}

void RankWatch::send_to_children(const RankNews& news) {
  for (const int child : children_) send_(child, news);
}

/// Chooses the deputy. The previous deputy is notified too, so that two of them never report.
void RankWatch::choose_deputy() {
  if (own_.rank != 0) return;
  const auto preference = [&](int child) {
    return std::tuple(known_[child].state.host == own_.host, child);
  };
  const auto best = std::ranges::min_element(children_, {}, preference);
  const int chosen = best == children_.end() ? -1 : *best;
  for (const int concerned : {deputy_, chosen}) {
    if (chosen != deputy_ && children_.contains(concerned)) {
      send_(concerned, news_of(chosen, Kind::kDeputy));
    }
  }
  deputy_ = chosen;
}

}  // namespace lie
