// A pair potential given by a formula.
// Tested by tests/model/systems/pair_potential_test.cpp.
#include <fmt/format.h>

#include <cmath>

#include "formula/batch.hpp"
#include "formula/program.hpp"
#include "model/formula/potential.hpp"
#include "model/formula/scope.hpp"
#include "model/potentials/catalogue.hpp"
#include "model/potentials/closed_form.hpp"
#include "model/potentials/line_potentials.hpp"

namespace bathline {

namespace {

class FormulaPairPotential final : public PairPotential, public HasClosedForm {
 public:
  FormulaPairPotential(ExpressionGraph& graph, Expression value)
      : FormulaPairPotential(graph, value, FormulaOutput(value).differentiated(graph, 0)) {}
  double value(double s) const override { return value_.run(&s); }
  double derivative(double s) const override { return derivative_.run(&s); }
  void derivatives(std::span<const double> s, std::span<double> values) const override { batch_.run(s, values); }
  double second_derivative(double s) const override { return second_derivative_.run(&s); }
  ClosedForm closed_form() const override { return closed_form_; }
  bool is_quadratic() const override { return is_quadratic_; }

 private:
  FormulaPairPotential(ExpressionGraph& graph, Expression value, const FormulaOutput& derivative)
      : FormulaPairPotential(graph, value, derivative, derivative.differentiated(graph, 0)) {}
  FormulaPairPotential(ExpressionGraph& graph, Expression value, const FormulaOutput& derivative,
                       const FormulaOutput& second_derivative)
      : value_(graph, {&value, 1}, 1),
        derivative_(graph, {&derivative, 1}, 1),
        second_derivative_(graph, {&second_derivative, 1}, 1),
        batch_(graph, derivative),
        closed_form_(polynomial_form(graph, value)),
        is_quadratic_(is_quadratic_form(graph, value, 1)) {}

  /// The Taylor series of V' where it ends at the fifth power.
  static ClosedForm polynomial_form(ExpressionGraph& graph, Expression value) {
    if (graph.is_piecewise(value)) return {};
    PolynomialLaw<5> law;
    const double origin = 0.0;
    double factorial = 1.0;
    Expression derivative = graph.derivative(value, 0);
    for (std::size_t k = 0; k < law.c.size(); ++k) {
      law.c[k] = FormulaProgram(graph, {&derivative, 1}, 1).run(&origin) / factorial;
      if (!std::isfinite(law.c[k])) return {};
      factorial *= static_cast<double>(k + 1);
      derivative = graph.derivative(derivative, 0);
    }
    if (!graph.is_constant(derivative, 0.0)) return {};
    return law;
  }

  FormulaProgram value_, derivative_, second_derivative_;
  FormulaBatch batch_;  // of the derivative
  ClosedForm closed_form_;
  bool is_quadratic_;
};

void add_own_numbers(const Section& section, FormulaScope& scope, Mistakes& mistakes) {
  const std::string own[] = {"kind", "V"};
  add_numbers(section, own, scope, mistakes);
  // An unused key is a mistake, as it may be a misspelt option.
  for (const std::string& key : section.keys()) {
    if (key == "kind" || key == "V" || find_name(section.text("V"), key) != std::string_view::npos) continue;
    mistakes.add(section.where(key), fmt::format("V does not use `{}`", key));
  }
}

/// Applies `make` to the formula of a table.
template <class Make>
auto make_from_formula(const Section& section, FormulaScope& scope, Mistakes& mistakes, Make make) {
  const std::optional<Expression> value = read_formula(section, "V", scope, mistakes);
  if (!value) throw InvalidValue();
  try {
    return make(*value);
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where("V"), fmt::format("V: {}", error.what()));
    throw InvalidValue();
  }
}

std::shared_ptr<const PairPotential> build(const Section& section, Mistakes& mistakes) {
  FormulaScope scope;
  scope.add_variable("r");
  add_own_numbers(section, scope, mistakes);
  return make_from_formula(section, scope, mistakes, [&](Expression value) {
    return std::make_shared<FormulaPairPotential>(scope.graph, value);
  });
}

constexpr const char* axis_names[] = {"x", "y", "z"};

}  // namespace

std::shared_ptr<const PairPotential> build_site_potential(const Section& section, Mistakes& mistakes) {
  if (section.text("kind") != "formula") return build_potential(potentials(), section, mistakes);
  FormulaScope scope;
  scope.add_variable("x");
  scope.names["r"] = scope.names["x"];
  add_own_numbers(section, scope, mistakes);
  return make_from_formula(section, scope, mistakes, [&](Expression value) {
    return std::make_shared<FormulaPairPotential>(scope.graph, value);
  });
}

bool is_position_formula(const Section& section) {
  if (section.text("kind") != "formula") return false;
  FormulaScope scope;
  for (const char* name : axis_names) scope.add_variable(name);
  scope.add_variable("r");
  Mistakes ignored;
  add_own_numbers(section, scope, ignored);
  const std::optional<Expression> value = read_formula(section, "V", scope, ignored);
  if (!value) return false;
  for (int axis = 0; axis < 3; ++axis) {
    if (scope.graph.depends(*value, axis)) return true;
  }
  return false;
}

std::shared_ptr<const Potential> build_position_formula(const Section& section, int axes, Mistakes& mistakes) {
  FormulaScope scope;
  Expression squares = scope.graph.constant(0.0);
  for (int axis = 0; axis < axes; ++axis) {
    scope.add_variable(axis_names[axis]);
    const Expression x = scope.names[axis_names[axis]];
    squares = scope.graph.apply(Operation::add, squares, scope.graph.apply(Operation::multiply, x, x));
  }
  // With one axis r has a sign, as a separation has.
  scope.names["r"] = axes == 1 ? scope.names["x"] : scope.graph.apply(Operation::square_root, squares);
  add_own_numbers(section, scope, mistakes);
  return make_from_formula(section, scope, mistakes, [&](Expression value) -> std::shared_ptr<const Potential> {
    return std::make_shared<FormulaPotential>(scope.graph, value, axes);
  });
}

PotentialKind formula_potential_kind() {
  return {{.name = "formula",
           .summary = "a potential given by a formula",
           .equation = "V(r) = the formula",
           .source = "your formula",
           .parameters = {required("V", ValueType::text, "J", "a formula in r, such as \"D*(1 - exp(-a*(r - r0)))^2\""),
                          optional(wildcard_key, ValueType::number, "", "a number with this name in the formula")},
           .notes = "With one axis r is the signed separation, with several the distance. As an external potential the "
                    "formula may also use the particle's coordinates x, y and z. Derivatives are exact."},
          build};
}

}  // namespace bathline
