// The sites of a line and their equations of motion. All other code uses the expressions of this file.
//
//   p_j' = F_{j+1}(w_{j+1} - w_j) - F_j(w_j - w_{j-1}),   w_j' = p_j / M_j,   F_j(s) = lambda_j s
//
// Spring j lies before site j: spring 0 connects the first site to the head, and one more spring behind the last site
// leads to the far end. Everything that advances a line or sums its energy takes its `Sites` as a template parameter,
// which is chosen once outside of all loops. Another force law, such as nonlinear springs, is one more type here.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <variant>

#include "simd/simd_double.hpp"

namespace bathline {

enum class FarEnd { fixed, free, matched };

/// Mass and spring of one site.
struct LineSite {
  double mass = 1.0;
  double stiffness = 1.0;  ///< of the spring before it; the spring of a fixed end has the last site's

  bool operator==(const LineSite&) const = default;
};

/// The constants of a uniform line; on a nonuniform one, mass and stiffness are those at the far end.
struct LineConstants {
  double mass = 1.0;
  double stiffness = 1.0;
  FarEnd far_end = FarEnd::fixed;
  double dashpot = 0.0;  ///< on the last site; zero unless the far end is matched

  /// The displacement behind a last site that is at `here`: there is no spring beyond a free or matched end.
  double behind_last(double here) const { return far_end == FarEnd::fixed ? 0.0 : here; }
};

/// Consecutive sites of a line, with `stiffness` and `mass` as units: the force of spring j is stiffness pull(j,
/// stretch), and x over the mass of site j is per_mass(j, x) / mass, so that constant factors are multiplied once a
/// loop. The expressions are templates for numbers and registers.
///
/// Values that differ from site to site are in `rows` rows, which may be anything with an index operator: `mapped`
/// returns the same sites with converted rows, for instance rows in registers.
template <class S>
concept Sites = requires(const S& sites, std::int64_t j, double x) {
  { S::rows } -> std::convertible_to<int>;
  { sites.stiffness } -> std::convertible_to<double>;
  { sites.mass } -> std::convertible_to<double>;
  { sites.pull(j, x) } -> std::same_as<double>;
  { sites.per_mass(j, x) } -> std::same_as<double>;
  /// Energy of spring j, J.
  { sites.energy(j, x) } -> std::same_as<double>;
  /// Energy of site j with momentum x and of the spring behind it with stretch x, in units of 1/(2 mass).
  { sites.energy(j, x, x) } -> std::same_as<double>;
};

struct UniformSites {
  static constexpr int rows = 0;
  double stiffness = 1.0;
  double mass = 1.0;

  template <class Number>
  Number pull(std::int64_t, Number stretch) const {
    return stretch;
  }
  template <class Number>
  Number per_mass(std::int64_t, Number x) const {
    return x;
  }
  double energy(std::int64_t, double stretch) const { return 0.5 * stiffness * stretch * stretch; }
  template <class Number>
  Number energy(std::int64_t, Number momentum, Number stretch) const {
    return multiply_add(splat<Number>(stiffness * mass), stretch * stretch, momentum * momentum);
  }
  template <class Convert>
  UniformSites mapped(Convert) const {
    return *this;
  }
};

template <class Row = const double*>
struct NonuniformSites {
  static constexpr int rows = 2;
  static constexpr double stiffness = 1.0, mass = 1.0;
  Row spring{};        ///< stiffness before every site, and behind the last
  Row inverse_mass{};  ///< of every site

  template <class Number>
  Number pull(std::int64_t j, Number stretch) const {
    return spring[j] * stretch;
  }
  template <class Number>
  Number per_mass(std::int64_t j, Number x) const {
    return x * inverse_mass[j];
  }
  double energy(std::int64_t j, double stretch) const { return 0.5 * spring[j] * stretch * stretch; }
  template <class Number>
  Number energy(std::int64_t j, Number momentum, Number stretch) const {
    return multiply_add(Number(spring[j + 1]), stretch * stretch, inverse_mass[j] * (momentum * momentum));
  }
  template <class Convert>
  auto mapped(Convert convert) const {
    return NonuniformSites<decltype(convert(spring))>{convert(spring), convert(inverse_mass)};
  }
};

static_assert(Sites<UniformSites> && Sites<NonuniformSites<>>);
/// Every kind of sites.
using AnySites = std::variant<UniformSites, NonuniformSites<>>;

/// The sites beginning with `site`.
template <Sites S>
S sites_from(const S& sites, std::int64_t site) {
  return sites.mapped([=](const double* row) { return row + site; });
}
/// Calls use(row) for every row.
template <Sites S, class Use>
void for_each_row(const S& sites, Use use) {
  sites.mapped([&](const double* row) {
    use(row);
    return row;
  });
}

/// Force of spring j, N.
template <Sites S>
double force_of_spring(const S& sites, std::int64_t j, double stretch) {
  return sites.stiffness * sites.pull(j, stretch);
}

/// 1/kg.
template <Sites S>
double inverse_mass(const S& sites, std::int64_t j) {
  return sites.per_mass(j, 1.0 / sites.mass);
}

/// Momentum after a kick of `strength` = weight h stiffness by the pulls `before` and `behind`. All code paths use this
/// expression, so that they agree to the bit.
template <class Number>
Number kicked(Number p, Number strength, Number before, Number behind) {
  return multiply_add(strength, behind - before, p);
}
/// Displacement after a drift of `rate` = weight h / mass.
template <class Number>
Number drifted(Number w, Number rate, Number p) {
  return multiply_add(rate, p, w);
}

/// p += weighted_step force for the sites [begin, end); reads w of one more site on either side.
template <Sites S>
void kick_sites(S sites, double weighted_step, std::int64_t begin, std::int64_t end, const double* w, double* p) {
  const double strength = weighted_step * sites.stiffness;
  for (std::int64_t j = begin; j < end; ++j) {
    p[j] = kicked(p[j], strength, sites.pull(j, w[j] - w[j - 1]), sites.pull(j + 1, w[j + 1] - w[j]));
  }
}

/// w += weighted_step velocity for the sites [begin, end).
template <Sites S>
void drift_sites(S sites, double weighted_step, std::int64_t begin, std::int64_t end, double* w, const double* p) {
  const double step = weighted_step / sites.mass;
  for (std::int64_t j = begin; j < end; ++j) w[j] = drifted(w[j], sites.per_mass(j, step), p[j]);
}

}  // namespace bathline
