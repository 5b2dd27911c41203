// The way between two states as a polynomial.
//
// Hermite's polynomial of degree 5 through positions, velocities and accelerations of both ends: for ends on the exact
// motion, and dt seconds between them, it errs by O(dt^6) in the positions and O(dt^5) in the velocities. Source:
// hairer2006, section II.1.2, for the polynomial as a collocation of the ends.
#pragma once

#include "model/problem.hpp"

namespace bathline {

/// A state with its accelerations. All vectors have an entry per degree of freedom.
struct HermiteNode {
  double time = 0.0;  ///< s
  Eigen::VectorXd q, v, a;
};

/// The state of the problem at `time`. On rank 0.
HermiteNode path_end(const Problem& problem, double time);

struct PathPoint {
  Eigen::VectorXd q, v;
};

/// At the time from.time + s (to.time - from.time), s from 0 to 1.
PathPoint hermite_interpolate(const HermiteNode& from, const HermiteNode& to, double s);

}  // namespace bathline
