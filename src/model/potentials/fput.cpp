// Anharmonic springs: V(s) = k s^2/2 + alpha s^3/3 + beta s^4/4. Source: fermi1955.
// Tested by tests/model/systems/pair_potential_test.cpp.
#include "model/potentials/catalogue.hpp"
#include "model/potentials/closed_form.hpp"

namespace bathline {

namespace {

class FputPotential final : public SimdPotential<FputPotential>, public HasClosedForm {
 public:
  FputPotential(double k, double alpha, double beta) : k_(k), alpha_(alpha), beta_(beta) {}
  double value(double s) const override { return s * s * (k_ / 2.0 + s * (alpha_ / 3.0 + s * (beta_ / 4.0))); }
  template <class Number>
  Number derivative_at(Number s) const {
    return s * (k_ + s * (alpha_ + s * beta_));
  }
  double second_derivative(double s) const override { return k_ + s * (2.0 * alpha_ + s * (3.0 * beta_)); }
  ClosedForm closed_form() const override { return PolynomialLaw<5>{{0.0, k_, alpha_, beta_}}; }
  bool is_quadratic() const override { return alpha_ == 0.0 && beta_ == 0.0; }

 private:
  double k_, alpha_, beta_;
};

}  // namespace

PotentialKind fput_potential_kind() {
  return {
      {.name = "fput",
       .summary = "anharmonic springs of the chain of Fermi, Pasta, Ulam and Tsingou",
       .equation = "V(s) = k s^2 / 2 + alpha s^3 / 3 + beta s^4 / 4",
       .source = "fermi1955",
       .parameters = {required("k", ValueType::number, "N/m", "stiffness", Bound::positive),
                      defaulted("alpha", ValueType::number, "N/m^2", "0.0", "cubic coefficient"),
                      defaulted("beta", ValueType::number, "N/m^3", "0.0", "quartic coefficient", Bound::nonnegative)},
       .notes = "For chains on one axis: pairs = \"neighbours\" with ends = \"free\" or \"fixed\", or \"ring\"; "
                "positions are displacements from the equilibrium."},
      [](const Section& section, Mistakes&) -> std::shared_ptr<const PairPotential> {
        return std::make_shared<FputPotential>(section.number("k"), section.number("alpha"), section.number("beta"));
      }};
}

}  // namespace bathline
