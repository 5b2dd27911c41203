// The springs and masses of consecutive sites of a line, and one kick or drift of them in plain loops.
#pragma once

#include <cstdint>

namespace bathline {

struct LineSprings {
  double stiffness = 1.0;  ///< of all springs
  double mass = 1.0;       ///< of all sites
  // Where the sites differ, instead:
  const double* spring = nullptr;        ///< stiffness before every site, and behind the last
  const double* inverse_mass = nullptr;  ///< of every site

  bool uniform() const { return spring == nullptr; }
  /// Those of the sites from `site` on.
  LineSprings from(std::int64_t site) const {
    return uniform() ? *this : LineSprings{stiffness, mass, spring + site, inverse_mass + site};
  }
  /// Force of the spring before `site` when it is stretched.
  double pull(std::int64_t site, double stretch) const { return (uniform() ? stiffness : spring[site]) * stretch; }
  double velocity(std::int64_t site, double p) const { return uniform() ? p / mass : p * inverse_mass[site]; }
};

/// p += weighted step times force, for the sites from `begin` to before `end`; reads w one site further on both sides.
void kick_sites(const LineSprings& line, double weighted_step, std::int64_t begin, std::int64_t end, const double* w,
                double* p);
/// w += weighted step times velocity.
void drift_sites(const LineSprings& line, double weighted_step, std::int64_t begin, std::int64_t end, double* w,
                 const double* p);

}  // namespace bathline
