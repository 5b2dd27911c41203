// The potential of the integrable Toda chain: V(s) = (a/b) (exp(-b s) + b s - 1). Source: toda1967.
// Tested by tests/model/systems/pair_potential_test.cpp.
#include <cmath>

#include "model/potentials/catalogue.hpp"
#include "model/potentials/closed_form.hpp"

namespace bathline {

namespace {

class TodaPotential final : public PairPotential, public HasClosedForm {
 public:
  TodaPotential(double a, double b) : a_(a), b_(b) {}
  // expm1 avoids cancellation near s = 0.
  double value(double s) const override { return a_ / b_ * (std::expm1(-b_ * s) + b_ * s); }
  double derivative(double s) const override { return -a_ * std::expm1(-b_ * s); }
  double second_derivative(double s) const override { return a_ * b_ * std::exp(-b_ * s); }
  ClosedForm closed_form() const override { return ExponentialLaw{-a_, -b_}; }

 private:
  double a_, b_;
};

}  // namespace

PotentialKind toda_potential_kind() {
  return {{.name = "toda",
           .summary = "springs of the integrable Toda chain",
           .equation = "V(s) = (a / b) (exp(-b s) + b s - 1)",
           .source = "toda1967",
           .parameters = {required("a", ValueType::number, "N", "strength", Bound::positive),
                          required("b", ValueType::number, "1/m", "steepness", Bound::positive)},
           .notes = "Its minimum is at s = 0, of stiffness a b. For chains on one axis: pairs = \"neighbours\" or "
                    "\"ring\"; positions are displacements from the equilibrium."},
          [](const Section& section, Mistakes&) -> std::shared_ptr<const PairPotential> {
            return std::make_shared<TodaPotential>(section.number("a"), section.number("b"));
          }};
}

}  // namespace bathline
