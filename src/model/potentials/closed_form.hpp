// The force laws that lines of springs evaluate in registers.
#pragma once

#include <array>
#include <variant>

namespace bathline {

/// V'(s) = sum_k c[k] s^k.
struct PolynomialForce {
  std::array<double, 6> c{};
};
/// V'(s) = -a (exp(-b s) - 1), of Toda's chain.
struct ExponentialForce {
  double a, b;
};
/// V'(s) = -k (contact - s)^{3/2} where s < contact, else 0, of spheres in contact.
struct ContactForce {
  double k, contact;
};
/// V' where it is one of these.
using ClosedForm = std::variant<std::monostate, PolynomialForce, ExponentialForce, ContactForce>;

/// Implemented by pair potentials whose derivative may have a closed form.
class HasClosedForm {
 public:
  virtual ~HasClosedForm() = default;
  virtual ClosedForm closed_form() const = 0;
};

/// That of a potential; empty where it has another.
template <class Potential>
ClosedForm closed_form_of(const Potential& potential) {
  const auto* form = dynamic_cast<const HasClosedForm*>(&potential);
  return form != nullptr ? form->closed_form() : ClosedForm{};
}

}  // namespace bathline
