// Symmetric compositions of the Stoermer-Verlet method and symmetric splittings into drifts and kicks, as tables.
//
//   composition: S(c_s h) ... S(c_2 h) S(c_1 h),  S the Stoermer-Verlet step drift, kick, drift;  c_i = c_{s+1-i}
//   splitting:   alternating drifts a_i h and kicks b_i h, each with palindromic weights
//
// Source: hairer2006, sections II.4 and V.3, for compositions; blanes2002 for splittings. Symplectic and symmetric;
// explicit. The tables hold the first weights; those in the middle follow from the sum, which is 1. The digits are
// those printed in the sources, more than a double holds for compositions and 15 for splittings; the tests verify every
// order condition to round-off.
//
// On damped systems a kick consists of two halves that are adjoint to each other, so that S stays symmetric and
// compositions keep their order. Splittings assume that a kick is an exact flow, which these are to order 2 only.
#include <cmath>
#include <memory>
#include <optional>

#include "methods/catalogue.hpp"
#include "methods/splitting.hpp"

namespace bathline {

namespace {

using Weights = std::vector<double>;

MethodProperties properties_of(const ExplicitScheme& scheme, int order, int order_damped) {
  MethodProperties result;
  result.order = order;
  result.order_damped = order_damped;
  result.symplectic = true;
  result.time_reversible = true;
  result.angular_momentum = true;
  result.imaginary_axis_limit = imaginary_axis_limit(scheme);
  result.real_axis_limit = real_axis_limit(scheme);
  return result;
}

Method method_of(CatalogueEntry entry, const ExplicitScheme& scheme, int order, int order_damped = 0) {
  return {std::move(entry),
          [=](const Section&) { return Scheme(scheme); },
          // The limits are computed on the first request: computing them takes tens of milliseconds.
          [=, known = std::make_shared<std::optional<MethodProperties>>()](const Section&) {
            if (!*known) *known = properties_of(scheme, order, order_damped);
            return **known;
          },
          Method::Domain::mechanical,
          {},
          {.takes_noise = true,
           .statement =
               "applies damping and noise by the exact flow of p' = -C v + noise over h/2 before and after the step, "
               "which is then undamped: the Gibbs distribution has an error of the order of the undamped step",
           .scheme = [with_ou = scheme.with_ou_outside()](const Section&) { return Scheme(with_ou); }}};
}

Method composition_method(const char* name, int order, const char* source, int stages, const Weights& half) {
  CatalogueEntry entry{
      .name = name,
      .summary = "composition of " + std::to_string(stages) + " Stoermer-Verlet steps: explicit, symplectic, " +
                 "symmetric, order " + std::to_string(order),
      .equation = "x+ = S(c_s h) ... S(c_1 h) x,  S(h): q_ = q + h/2 v,  p+ = p + h f(q_),  q+ = q_ + h/2 v+",
      .source = source,
      .notes =
          "Some of its steps are negative; the limits above are those of the whole composition. Keeps its order on "
          "damped systems, as every Stoermer-Verlet step is symmetric there as well."};
  return method_of(std::move(entry), composition(palindrome(half, stages)), order);
}

Method splitting_method(const char* name, int order, const char* source, Substep::Kind outer_kind, int stages,
                        const Weights& outer, const Weights& inner, const char* notes) {
  CatalogueEntry entry{.name = name,
                       .summary = "splitting with " + std::to_string(stages) +
                                  " kicks: explicit, symplectic, symmetric, order " + std::to_string(order),
                       .equation = "alternating drifts q += a_i h v and kicks p += b_i h f(q)",
                       .source = source,
                       .notes = std::string(notes) +
                                "Of order 2 only on damped systems, where a kick approximates a flow to that order."};
  const bool kick_outside = outer_kind == Substep::Kind::kick;
  const int outer_count = kick_outside ? stages : stages + 1, inner_count = kick_outside ? stages - 1 : stages;
  return method_of(std::move(entry),
                   alternating_splitting(outer_kind, palindrome(outer, outer_count), palindrome(inner, inner_count)),
                   order, 2);
}

}  // namespace

std::vector<Method> composition_methods() {
  using Kind = Substep::Kind;
  const double triple = 1.0 / (2.0 - std::cbrt(2.0)), quintuple = 1.0 / (4.0 - std::cbrt(4.0));
  return {
      composition_method("yoshida4", 4, "yoshida1990; hairer2006, section II.4: c_1 = 1/(2 - 2^(1/3))", 3, {triple}),
      composition_method("suzuki4", 4, "suzuki1990; hairer2006, section II.4: c_1 = c_2 = 1/(4 - 4^(1/3))", 5,
                         {quintuple, quintuple}),
      composition_method("yoshida6", 6, "yoshida1990, solution A of order 6; hairer2006, section V.3.2", 7,
                         {0.784513610477557263819497633866351, 0.235573213359358133684793182978535,
                          -1.17767998417887100694641568096432}),
      composition_method("kahan-li6", 6, "kahan1997; hairer2006, section V.3.2", 9,
                         {0.39216144400731413927925056, 0.33259913678935943859974864, -0.70624617255763935980996482,
                          0.08221359629355080023149045}),
      composition_method("kahan-li8", 8, "kahan1997; hairer2006, section V.3.2", 17,
                         {0.13020248308889008087881763, 0.56116298177510838456196441, -0.38947496264484728640807860,
                          0.15884190655515560089621075, -0.39590389413323757733623154, 0.18453964097831570709183254,
                          0.25837438768632204729397911, 0.29501172360931029887096624}),
      composition_method("sofroniou-spaletta10", 10, "sofroniou2005; hairer2006, section V.3.2", 35,
                         {0.07879572252168641926390768, 0.31309610341510852776481247, 0.02791838323507806610952027,
                          -0.22959284159390709415121340, 0.13096206107716486317465686, -0.26973340565451071434460973,
                          0.07497334315589143566613711, 0.11199342399981020488957508, 0.36613344954622675119314812,
                          -0.39910563013603589787862981, 0.10308739852747107731580277, 0.41143087395589023782070412,
                          -0.00486636058313526176219566, -0.39203335370863990644808194, 0.05194250296244964703718290,
                          0.05066509075992449633587434, 0.04967437063972987905456880}),
      splitting_method("blanes-moan4", 4, "blanes2002, method S_6", Kind::drift, 6,
                       {0.0792036964311957, 0.353172906049774, -0.0420650803577195},
                       {0.209515106613362, -0.143851773179818}, ""),
      splitting_method(
          "blanes-moan6", 6, "blanes2002, method S_10", Kind::drift, 10,
          {0.0502627644003922, 0.413514300428344, 0.0450798897943977, -0.188054853819569, 0.541960678450780},
          {0.148816447901042, -0.132385865767784, 0.067307604692185, 0.432666402578175}, ""),
      splitting_method(
          "blanes-moan-rkn6", 6, "blanes2002, method SRKN_11^b", Kind::kick, 12,
          {0.0414649985182624, 0.198128671918067, -0.0400061921041533, 0.0752539843015807, -0.0115113874206879},
          {0.123229775946271, 0.290553797799558, -0.127049212625417, -0.246331761062075, 0.357208872795928},
          "A Runge-Kutta-Nystroem method: it assumes a kinetic energy that is quadratic in the momenta. "),
  };
}

}  // namespace bathline
