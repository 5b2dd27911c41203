// A network of masses, springs and dashpots.
#pragma once  // Public: programs of others may include this header.

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace bathline {

/// One axis of an environment's sites, for reference solutions and stability limits on one rank. With f_j the sum of
/// the spring forces on site j,
///
///   w_j' = p_j/m_j + mobility_j f_j,   p_j' = f_j - dashpot_j p_j/m_j,   force on the head sum_j k_j (w_j - x)
///
/// A mobility s is a dashpot 1/s between the mass and the massless node w that the springs are attached to. The network
/// of a nonlinear environment is its linearisation at the start.
struct LumpedNetwork {
  struct Spring {
    int first;
    int second;
    double stiffness;
  };
  /// The limit of Environment::assemble that asks for all sites.
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

  std::vector<double> mass = {};                        ///< infinity: the mass is fixed, and only the node w moves
  std::vector<Spring> springs = {};                     ///< between sites
  std::vector<std::pair<int, double>> to_head = {};     ///< springs from a site to the head
  std::vector<std::pair<int, double>> to_ground = {};   ///< springs from a site to a fixed point
  std::vector<std::pair<int, double>> dashpots = {};    ///< from a site's mass to a fixed point
  std::vector<std::pair<int, double>> mobilities = {};  ///< of a site's node, s/kg
};

}  // namespace bathline
