// The binary tree over a group's members, along which broadcasts, gathers and the job's end travel:
// three connections a member, and as many hops as the group's size has binary digits.
#pragma once

#include <vector>

namespace lie {

/// A member's place in the tree whose root is member `root`: node i has children 2i+1 and 2i+2.
struct TreePlace {
  int parent = -1;  // members; -1: none
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
