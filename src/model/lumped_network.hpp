// An environment as plain numbers: masses, springs and dashpots.
#pragma once  // Public: programs of others may include this header.

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace bathline {

/// An environment's sites for references and stability limits on one rank, one axis. With f the pull of all springs on
/// a site,
///
///   w_j' = p_j/m_j + slip_j f_j,   p_j' = f_j - dashpot_j p_j/m_j,   force on the head sum_j k_j (w_j - x)
/// Of a nonlinear environment it is what is linear at the start.
///
/// A slip s is a dashpot 1/s between the mass and the place w that the springs pull at: a node without mass.
struct LumpedNetwork {
  struct Spring {
    int first;
    int second;
    double stiffness;
  };
  /// All sites there are.
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

  std::vector<double> mass = {};                        ///< infinity: the mass never moves, only w does
  std::vector<Spring> springs = {};                     ///< between sites
  std::vector<std::pair<int, double>> to_head = {};     ///< springs from a site to the head
  std::vector<std::pair<int, double>> to_ground = {};   ///< springs from a site to a fixed point
  std::vector<std::pair<int, double>> dashpots = {};    ///< from a site's mass to a fixed point
  std::vector<std::pair<int, double>> mobilities = {};  ///< of a site, s/kg
};

}  // namespace bathline
