// The binary tree over the members of a group. Broadcasts, gathers and the end of a job travel
// along it. A member has at most three connections. A message needs at most as many hops as the
// group's size has binary digits.
#pragma once

#include <vector>

namespace lie {

/// A member's place in the tree with root `root`: node i has children 2i+1 and 2i+2.
struct TreePlace {
  int parent = -1;  // member number; -1 at the root
  std::vector<int> children;
};

inline TreePlace tree_place(int rank, int size, int root = 0) {
  const auto member = [&](int node) { return (node + root) % size; };
  const int node = (rank - root + size) % size;
  TreePlace place;
  if (node > 0) place.parent = member((node - 1) / 2);
  for (int child = 2 * node + 1; child <= 2 * node + 2 && child < size; ++child) {
    place.children.push_back(member(child));
  }
  return place;
}

}  // namespace lie
