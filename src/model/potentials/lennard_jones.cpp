// The Lennard-Jones potential V(s) = 4 epsilon ((sigma/s)^12 - (sigma/s)^6). Source: lennardjones1931.
// Tested by tests/properties/potentials_test.cpp.
#include "model/potentials/catalogue.hpp"

namespace bathline {

namespace {

class LennardJonesPotential final : public SimdPotential<LennardJonesPotential> {
 public:
  LennardJonesPotential(double epsilon, double sigma) : epsilon_(epsilon), sigma_(sigma) {}
  double value(double s) const override {
    const double x6 = sixth_power(s);
    return 4.0 * epsilon_ * (x6 * (x6 - 1.0));
  }
  template <class Number>
  Number derivative_at(Number s) const {
    const Number x6 = sixth_power(s);
    return 24.0 * epsilon_ / s * (x6 * (1.0 - 2.0 * x6));
  }
  double second_derivative(double s) const override {
    const double x6 = sixth_power(s);
    return 24.0 * epsilon_ / (s * s) * (x6 * (26.0 * x6 - 7.0));
  }

 private:
  template <class Number>
  Number sixth_power(Number s) const {
    const Number x = sigma_ / s;
    return (x * x) * (x * x) * (x * x);
  }
  double epsilon_, sigma_;
};

}  // namespace

PotentialKind lennard_jones_potential_kind() {
  return {
      {.name = "lennard-jones",
       .summary = "Lennard-Jones potential between neutral atoms",
       .equation = "V(s) = 4 epsilon ((sigma / s)^12 - (sigma / s)^6)",
       .source = "lennardjones1931",
       .parameters = {required("epsilon", ValueType::number, "J", "depth of the minimum", Bound::positive),
                      required("sigma", ValueType::number, "m", "separation at which V changes sign", Bound::positive)},
       .notes = "Its minimum is at s = 2^(1/6) sigma; it is singular at s = 0."},
      [](const Section& section, Mistakes&) -> std::shared_ptr<const PairPotential> {
        return std::make_shared<LennardJonesPotential>(section.number("epsilon"), section.number("sigma"));
      }};
}

}  // namespace bathline
