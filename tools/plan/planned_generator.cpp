#include "tools/plan/planned_generator.h"

#include <algorithm>

namespace lie::planning {

void PlannedGenerator::add(Ticket ticket, const GroupLengths& lengths) {
  const auto [first, count] = ticket.asked();
  const auto begin = lengths.responses.begin() + first;
  to_begin_ += count;
  tickets_.push_back(
      {.ticket = std::move(ticket), .lengths = {begin, begin + count}, .prompt = lengths.prompt});
}

std::int64_t PlannedGenerator::room() const {
  return std::max<std::int64_t>(sizes_.slots - std::ssize(running_) - to_begin_, 0);
}

double PlannedGenerator::begin() {
  prefill_seconds_ = 0;
  begin_responses();
  stretch_ = running_.top().last_pass - pass_;
  const double computed = costs_.pass_seconds(std::ssize(running_));
  pass_seconds_ = std::max(computed, sizes_.least_pass_seconds);
  computing_ = computed / pass_seconds_;
  return prefill_seconds_ + static_cast<double>(stretch_) * pass_seconds_;
}

double PlannedGenerator::cut(double done) {
  const double passes = std::max((done - prefill_seconds_) / pass_seconds_, 0.0);
  stretch_ = std::min(stretch_, static_cast<std::int64_t>(std::min(passes, 1e15)) + 1);
  return prefill_seconds_ + static_cast<double>(stretch_) * pass_seconds_;
}

std::vector<Ticket> PlannedGenerator::end() {
  pass_ += stretch_;
  while (!running_.empty() && running_.top().last_pass <= pass_) {
    ++running_.top().work->ended;
    running_.pop();
  }
  std::vector<Ticket> done;
  for (auto work = tickets_.begin(); work != tickets_.end() && work->begun > 0;) {
    if (work->ended < std::ssize(work->lengths)) {
      ++work;
      continue;
    }
    for (const std::int64_t length : work->lengths) tokens_ += length;
    done.push_back(std::move(work->ticket));
    work = tickets_.erase(work);
  }
  return done;
}

// In the order of tickets. What preemption or new weights between passes would change is which
// responses run in a pass: it belongs here, and how many may, into GeneratorSizes.
void PlannedGenerator::begin_responses() {
  for (Work& work : tickets_) {
    const std::int64_t samples = std::ssize(work.lengths);
    while (work.begun < samples && std::ssize(running_) < sizes_.in_flight) {
      if (work.begun == 0) {
        prefill_seconds_ += costs_.prompt_token * static_cast<double>(work.prompt);
      }
      const std::int64_t length = work.lengths[static_cast<std::size_t>(work.begun++)];
      running_.push({.last_pass = pass_ + length, .number = begun_++, .work = &work});
      --to_begin_;
    }
  }
}

}  // namespace lie::planning
