// The sites of a line and their equations of motion. All other code uses the expressions of this file.
//
//   p_j' = F_{j+1}(w_{j+1} - w_j) - F_j(w_j - w_{j-1}),   w_j' = p_j / M_j,   F_j(s) = lambda_j s
//
// Spring j lies before site j: spring 0 connects the first site to the head, and one more spring behind the last site
// leads to the far end. Everything that advances a line or sums its energy takes its `Sites` as a template parameter,
// which is chosen once outside of all loops. Other force laws are in nonlinear_sites.hpp.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <variant>

#include "model/line/nonlinear_sites.hpp"
#include "simd/simd_double.hpp"

namespace bathline {

/// `joined`: lines of two axes are the strands of one folded chain, whose far ends are neighbours.
enum class FarEnd { fixed, free, matched, joined };

/// Number of sites behind a joined end whose rows are known.
inline constexpr std::int64_t joined_rows = 32;

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
  /// Of joined ends: 1 where the last site of both strands is the same, which both compute, else 0.
  int shared = 0;

  /// The displacement behind a last site that is at `here`: there is no spring beyond a free or matched end.
  double behind_last(double here) const { return far_end == FarEnd::fixed ? 0.0 : here; }
};

/// Consecutive sites of a line, with `stiffness` and `mass` as units: the force of spring j is stiffness pull(j,
/// stretch), and x over the mass of site j is per_mass(j, x) / mass, so that constant factors are multiplied once a
/// loop. The expressions are templates for numbers and registers.
///
/// held(w, force) is the force of both springs of a site, in units of the stiffness, less that of its position w.
///
/// Values that differ from site to site are in `rows` rows, the first `spring_rows` of springs, which may be anything
/// with an index operator: `mapped` returns the same sites with converted rows, for instance rows in registers. A sweep
/// does up to `levels` kicks and drifts at once. Where `is_odd` the force of a spring changes its sign with its
/// stretch.
template <class S>
concept Sites = requires(const S& sites, std::int64_t j, double x) {
  { S::rows } -> std::convertible_to<int>;
  { S::spring_rows } -> std::convertible_to<int>;
  { S::levels } -> std::convertible_to<int>;
  { S::is_odd } -> std::convertible_to<bool>;
  { sites.stiffness } -> std::convertible_to<double>;
  { sites.mass } -> std::convertible_to<double>;
  { sites.pull(j, x) } -> std::same_as<double>;
  { sites.held(x, x) } -> std::same_as<double>;
  { sites.per_mass(j, x) } -> std::same_as<double>;
  /// Energy of spring j, J.
  { sites.energy(j, x) } -> std::same_as<double>;
  /// Energy of site j with momentum x, of the spring behind it with stretch x and of its place x, in units of
  /// 1/(2 mass).
  { sites.energy(j, x, x, x) } -> std::same_as<double>;
};

struct UniformSites {
  static constexpr int rows = 0, spring_rows = 0, levels = 4;
  static constexpr bool is_odd = true;
  double stiffness = 1.0;
  double mass = 1.0;

  template <class Number>
  Number pull(std::int64_t, Number stretch) const {
    return stretch;
  }
  template <class Number>
  Number held(Number, Number force) const {
    return force;
  }
  template <class Number>
  Number per_mass(std::int64_t, Number x) const {
    return x;
  }
  double energy(std::int64_t, double stretch) const { return 0.5 * stiffness * stretch * stretch; }
  template <class Number>
  Number energy(std::int64_t, Number momentum, Number stretch, Number) const {
    return multiply_add(splat<Number>(stiffness * mass), stretch * stretch, momentum * momentum);
  }
  template <class Convert>
  UniformSites mapped(Convert) const {
    return *this;
  }
};

template <class Row = const double*>
struct NonuniformSites {
  static constexpr int rows = 2, spring_rows = 1, levels = 4;
  static constexpr bool is_odd = true;
  static constexpr double stiffness = 1.0, mass = 1.0;
  Row spring{};        ///< stiffness before every site, and behind the last
  Row inverse_mass{};  ///< of every site

  template <class Number>
  Number pull(std::int64_t j, Number stretch) const {
    return spring[j] * stretch;
  }
  template <class Number>
  Number held(Number, Number force) const {
    return force;
  }
  template <class Number>
  Number per_mass(std::int64_t j, Number x) const {
    return x * inverse_mass[j];
  }
  double energy(std::int64_t j, double stretch) const { return 0.5 * spring[j] * stretch * stretch; }
  template <class Number>
  Number energy(std::int64_t j, Number momentum, Number stretch, Number) const {
    return multiply_add(Number(spring[j + 1]), stretch * stretch, inverse_mass[j] * (momentum * momentum));
  }
  template <class Convert>
  auto mapped(Convert convert) const {
    return NonuniformSites<decltype(convert(spring))>{convert(spring), convert(inverse_mass)};
  }
};

static_assert(Sites<UniformSites> && Sites<NonuniformSites<>>);
/// Every kind of sites.
using AnySites =
    std::variant<UniformSites, NonuniformSites<>, CubicSpringSites<>, CubicSpringSites<const double*>, CubicHeldSites<>,
                 CubicHeldSites<const double*>, PolynomialSites<>, ExponentialSites<>, ContactSites<>, BatchSites<>>;
/// `Instantiate(type);` for every kind of sites.
#define BATHLINE_FOR_ALL_SITES(Instantiate)     \
  Instantiate(UniformSites);                    \
  Instantiate(NonuniformSites<>);               \
  Instantiate(CubicSpringSites<>);              \
  Instantiate(CubicSpringSites<const double*>); \
  Instantiate(CubicHeldSites<>);                \
  Instantiate(CubicHeldSites<const double*>);   \
  Instantiate(PolynomialSites<>);               \
  Instantiate(ExponentialSites<>);              \
  Instantiate(ContactSites<>);                  \
  Instantiate(BatchSites<>)

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

/// Momentum after a kick of `strength` = weight h stiffness by the pulls `before` and `behind`.
template <class Number>
Number kicked(Number p, Number strength, Number before, Number behind) {
  return multiply_add(strength, behind - before, p);
}
/// The same of a site at w. All explicit steps use this expression, so that they agree to the bit.
template <class S, class Number>
[[gnu::always_inline]] inline Number kicked(const S& sites, Number w, Number p, Number strength, Number before,
                                            Number behind) {
  return multiply_add(strength, sites.held(w, behind - before), p);
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
    p[j] = kicked(sites, w[j], p[j], strength, sites.pull(j, w[j] - w[j - 1]), sites.pull(j + 1, w[j + 1] - w[j]));
  }
}

/// w += weighted_step velocity for the sites [begin, end).
template <Sites S>
void drift_sites(S sites, double weighted_step, std::int64_t begin, std::int64_t end, double* w, const double* p) {
  const double step = weighted_step / sites.mass;
  for (std::int64_t j = begin; j < end; ++j) w[j] = drifted(w[j], sites.per_mass(j, step), p[j]);
}

}  // namespace bathline
