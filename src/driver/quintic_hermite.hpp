// Quintic Hermite interpolation between two states.
//
// Hermite's polynomial of degree 5 through positions, velocities and accelerations of both nodes: for nodes on the
// exact motion at a distance dt, its error is O(dt^6) in the positions and O(dt^5) in the velocities. Source:
// hairer2006, section II.1.2, for the polynomial as a collocation of the nodes.
#pragma once

#include "model/problem.hpp"

namespace bathline {

/// A state with its accelerations. All vectors have an entry per degree of freedom.
struct HermiteNode {
  double time = 0.0;  ///< s
  Eigen::VectorXd q, v, a;
};

/// The node for the state of the problem at `time`. On rank 0.
HermiteNode hermite_node(const Problem& problem, double time);

struct PathPoint {
  Eigen::VectorXd q, v;
};

/// The state at the time from.time + s (to.time - from.time), s from 0 to 1.
PathPoint hermite_interpolate(const HermiteNode& from, const HermiteNode& to, double s);

}  // namespace bathline
