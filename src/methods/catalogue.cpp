// The catalogue of integrators.
#include "methods/catalogue.hpp"

#include <fmt/format.h>

#include <cmath>
#include <exception>

#include "recipe/describe.hpp"

namespace bathline {

const Catalogue<Method>& methods() {
  static const Catalogue<Method> all = [] {
    Catalogue<Method> list = {gamma_method(), stoermer_verlet_method(), gjf_method(), baoab_method()};
    for (Method& method : composition_methods()) list.add(std::move(method));
    for (const Method& method : {gauss_method(), lobatto_method(), explicit_euler_method(), implicit_euler_method(),
                                 rk4_method(), time_centred_method(), herglotz_method(), exact_method()}) {
      list.add(method);
    }
    return list;
  }();
  return all;
}

namespace {

const char* const defaults_note = " (With default options.)";

std::string describe_langevin(const Method& method) {
  return fmt::format(" {} {}.", method.langevin.takes_noise ? "With noise it" : "It", method.langevin.statement);
}

}  // namespace

std::string describe_properties(const Method& method) {
  MethodProperties p;
  try {
    p = method.properties(default_section(method.entry));
  } catch (const std::exception&) {  // it needs an option without a default
    return "Order, structure and stability depend on the options." + describe_langevin(method);
  }
  std::string text = p.order > 0 ? fmt::format("Order {}", p.order) : "Exact to the accuracy of the reference";
  if (method.domain == Method::Domain::contact) {
    return text +
           ", conformally contact: a step scales the contact form dz - p dq, and with it the momenta of "
           "symmetries, by the same factor everywhere." +
           (method.entry.parameters.empty() ? "" : defaults_note) + describe_langevin(method);
  }
  if (p.order_damped > 0) text += fmt::format(", {} on damped systems", p.order_damped);
  text += p.symplectic ? ", symplectic" : ", not symplectic";
  text += p.time_reversible ? ", time-reversible." : ", not time-reversible.";
  text += " Conserves linear invariants";
  if (p.quadratic_invariants) text += " and quadratic ones";
  if (p.angular_momentum && !p.quadratic_invariants) text += " and angular momentum";
  if (p.imaginary_axis_limit == 0.0) {
    text += ". Unstable for undamped oscillations at any step.";
  } else if (std::isinf(p.imaginary_axis_limit)) {
    text += ". Stable for oscillations at any step.";
  } else {
    text += fmt::format(". Stable for oscillations up to h omega = {:.4g}.", p.imaginary_axis_limit);
  }
  if (!method.entry.parameters.empty()) text += defaults_note;
  return text + describe_langevin(method);
}

}  // namespace bathline
