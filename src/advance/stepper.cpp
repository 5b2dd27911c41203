// From a scheme to the stepper that runs it.
#include "advance/stepper.hpp"

namespace bathline {

namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;  // clang 14 needs to be told

/// A collocation method with one stage is a one-stage scheme.
std::unique_ptr<Stepper> make_stages_stepper(const CollocationScheme& scheme, Problem& problem, double h) {
  if (scheme.stages() > 1) return make_collocation_stepper(scheme, problem, h);
  const double a = scheme.a_hat(0, 0), b = scheme.a(0, 0), end = scheme.b[0];
  return make_one_stage_stepper({.a = a, .b = b, .a_end = end - a, .b_end = end - b}, problem, h);
}

}  // namespace

std::unique_ptr<Stepper> make_stepper(const Scheme& scheme, Problem& problem, double h) {
  return std::visit(
      Overloaded{
          [&](const ExplicitScheme& explicit_scheme) { return make_explicit_stepper(explicit_scheme, problem, h); },
          [&](const OneStageScheme& one_stage) { return make_one_stage_stepper(one_stage, problem, h); },
          [&](const CollocationScheme& stages) { return make_stages_stepper(stages, problem, h); },
          [&](const ExactFlow&) {
            return problem.system().contact ? make_exact_contact_stepper(problem, h) : make_exact_stepper(problem, h);
          },
          [&](const HerglotzScheme& herglotz) { return make_herglotz_stepper(herglotz, problem, h); },
      },
      scheme);
}

}  // namespace bathline
