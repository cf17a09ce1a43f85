// Tickets for a random policy, and comparison of the groups that generators made from them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/generator.h"
#include "tests/actors/letters.h"

namespace lie::test {

using Groups = std::map<std::int64_t, RolloutGroup>;

inline std::vector<Ticket> some_tickets() {
  return {ticket_for(0, "abcdefghij", 5),
          ticket_for(1, "q", 3),
          ticket_for(2, "thequickbrownfoxjumps", 4),  // 21 tokens: more than a page
          ticket_for(3, "sixteenletterswww", 2),
          ticket_for(4, "abcdefghijklmnop", 6),  // 16 tokens: exactly a page
          ticket_for(5, std::string(50, 'k') + "x", 3)};
}

inline Groups generate(LetterPolicy& policy, const RolloutOptions& options,
                       std::vector<Ticket> tickets, bool one_at_a_time = false) {
  Generator generator = policy.generator(options);
  Groups groups;
  std::size_t next = 0;
  while (next < tickets.size() || !generator.idle()) {
    while (next < tickets.size() && (one_at_a_time ? generator.idle() : true)) {
      generator.add(tickets[next++]);
    }
    for (RolloutGroup& group : generator.step()) groups[group.ticket.group] = std::move(group);
  }
  return groups;
}

inline void expect_same(const Groups& some, const Groups& others) {
  ASSERT_EQ(some.size(), others.size());
  for (const auto& [number, group] : some) {
    const RolloutGroup& other = others.at(number);
    ASSERT_EQ(group.responses.size(), other.responses.size());
    EXPECT_EQ(group.prompt_ids, other.prompt_ids);
    for (std::size_t i = 0; i < group.responses.size(); ++i) {
      EXPECT_EQ(group.responses[i].ids, other.responses[i].ids) << number << " " << i;
      EXPECT_EQ(group.responses[i].behavior_log_probs, other.responses[i].behavior_log_probs);
      EXPECT_EQ(group.responses[i].finish, other.responses[i].finish);
    }
  }
}

}  // namespace lie::test
