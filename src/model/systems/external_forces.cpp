// External forces that every system can have: drives, uniform fields and magnetic fields.
#include "model/systems/external_forces.hpp"

#include <fmt/format.h>

#include <utility>

#include "model/formula/force.hpp"
#include "model/formula/scope.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

/// A potential with an additional constant force F: V(q) - F.q.
class UniformFieldPotential final : public Potential {
 public:
  UniformFieldPotential(std::shared_ptr<const Potential> potential, Eigen::VectorXd force)
      : potential_(std::move(potential)), force_(std::move(force)) {}
  double value(const Eigen::VectorXd& q) const override { return potential_->value(q) - force_.dot(q); }
  void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const override {
    potential_->gradient(q, gradient);
    gradient -= force_;
  }
  void hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const override { potential_->hessian(q, hessian); }
  void sparse_hessian(const Eigen::VectorXd& q, Eigen::SparseMatrix<double>& hessian) const override {
    potential_->sparse_hessian(q, hessian);
  }

 private:
  std::shared_ptr<const Potential> potential_;
  Eigen::VectorXd force_;
};

void read_drive(const Section& section, ParticleSystem& system, Mistakes& mistakes) {
  const std::vector<std::string>& texts = section.texts("drive");
  if (static_cast<int>(texts.size()) != system.size()) {
    mistakes.add(section.where("drive"),
                 fmt::format("`drive` has {} formula(s): this system needs {}, one for each particle and axis",
                             texts.size(), system.size()));
    return;
  }
  FormulaScope scope;
  scope.add_variable("t");
  if (section.has("parameters")) add_numbers(section.table("parameters"), {}, scope, mistakes);
  const double start = 0.0;
  std::vector<Expression> values;
  std::vector<FormulaOutput> rates;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::optional<Expression> value = read_formula(section, "drive", scope, mistakes, i);
    if (!value) continue;
    values.push_back(*value);
    rates.push_back(FormulaOutput(*value).differentiated(scope.graph, 0));
    if (!check_finite(section, "drive", "the formula", scope, {*value}, {&start, 1}, mistakes, i)) continue;
    system.formulas += fmt::format("{}drive[{}] = {}", system.formulas.empty() ? "" : "; ", i, printable(texts[i]));
  }
  if (values.size() < texts.size()) return;
  try {
    system.drive = std::make_shared<FormulaDrive>(scope.graph, values, rates, 0);
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where("drive"), fmt::format("drive: {}", error.what()));
  }
}

void read_uniform_field(const Section& section, ParticleSystem& system, Mistakes& mistakes) {
  const std::vector<double>& field = section.numbers("uniform_field");
  if (static_cast<int>(field.size()) != system.axes) {
    mistakes.add(section.where("uniform_field"),
                 fmt::format("`uniform_field` has {} numbers: this system has {} axes", field.size(), system.axes));
    return;
  }
  if (!system.potential) return;  // the potential could not be read
  Eigen::VectorXd force(system.size());
  for (int i = 0; i < system.size(); ++i) force[i] = system.mass[i] * field[static_cast<std::size_t>(i % system.axes)];
  system.potential = std::make_shared<UniformFieldPotential>(system.potential, std::move(force));
}

void read_magnetic_field(const Section& section, ParticleSystem& system, Mistakes& mistakes) {
  const bool is_in_plane = system.axes == 2 || (system.axes == 1 && !system.coordinates.empty());
  if (!is_in_plane || system.size() % 2 != 0) {
    const std::string actual = system.coordinates.empty()
                                   ? fmt::format("{} {} per particle", system.axes, system.axes == 1 ? "axis" : "axes")
                                   : fmt::format("{} coordinate{}", system.size(), system.size() == 1 ? "" : "s");
    mistakes.add(
        section.where("magnetic_field"),
        fmt::format("magnetic_field: the motion must be planar, with two axes per particle, or coordinates in pairs "
                    "x, y; this system has {}",
                    actual));
    return;
  }
  system.magnetic_field = section.number("magnetic_field");
}

}  // namespace

Parameter magnetic_field_parameter() {
  return {.name = "magnetic_field",
          .type = ValueType::number,
          .units = "kg/s",
          .doc =
              "a uniform field B perpendicular to the plane, multiplied by the charge: the force on each particle, or "
              "on each pair of coordinates in their order, is B (v_y, -v_x), clockwise for B > 0; the recorded p is M "
              "v"};
}

std::string magnetic_field_notes() {
  return "In a `magnetic_field` the drifts of splittings are free gyrations, which rotate the velocities exactly; "
         "every splitting is then symplectic in q and M v + B (-y, x)/2 and keeps its order. Implicit methods weight B "
         "(y', -x') with the mean of their coefficients for positions and momenta, as follows from the Lagrangian. The "
         "field does no work.";
}

Parameter drive_parameter() {
  return {.name = "drive",
          .type = ValueType::texts,
          .units = "N",
          .doc =
              "a force on each particle and axis that depends on the time alone: formulas in `t` such as "
              "[\"0.3*cos(1.2*t)\", \"0\"]; it acts in closed and open runs, and its work is recorded as energy_work"};
}

std::vector<Parameter> external_force_parameters() {
  return {drive_parameter(), formula_parameters(),
          optional("uniform_field", ValueType::numbers, "m/s^2",
                   "acceleration of all particles by a uniform field such as gravity, one number per axis: [0.0, "
                   "-9.81]")};
}

void read_external_forces(const Section& section, ParticleSystem& system, Mistakes& mistakes) {
  if (section.has("drive")) where_readable([&] { read_drive(section, system, mistakes); });
  if (section.has("magnetic_field")) where_readable([&] { read_magnetic_field(section, system, mistakes); });
  if (section.has("uniform_field")) where_readable([&] { read_uniform_field(section, system, mistakes); });
}

}  // namespace bathline
