// External forces that every system can have: drives, uniform fields and magnetic fields.
#include "model/systems/external_forces.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "formula/table.hpp"
#include "model/formula/force.hpp"
#include "model/formula/scope.hpp"
#include "model/table_file.hpp"
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

/// The columns of `drive_file` after the first as functions of the first, the time.
std::vector<Expression> read_drive_file(const Section& section, const ParticleSystem& system, ExpressionGraph& graph,
                                        Mistakes& mistakes) {
  const std::string& name = section.text("drive_file");
  const TableForm form{.row = "rows",
                       .first = {"time", "s", Bound::any},
                       .second = {"force", "N", Bound::any},
                       .rising = true,
                       .columns = static_cast<std::size_t>(system.size()) + 1,
                       .least = 2};
  std::vector<Expression> values;
  try {
    const std::vector<std::vector<double>> columns = read_columns(section, name, form);
    for (std::size_t i = 1; i < columns.size(); ++i) {
      values.push_back(graph.interpolant(table_number(name, columns[0], columns[i], false), graph.variable(0)));
    }
  } catch (const std::runtime_error& error) {
    mistakes.add(section.where("drive_file"), fmt::format("drive_file = \"{}\": {}", printable(name), error.what()));
  }
  return values;
}

void read_drive(const Section& section, double end, ParticleSystem& system, Mistakes& mistakes) {
  const std::string key = section.has("drive") ? "drive" : "drive_file";
  const bool is_file = key == "drive_file";
  if (!is_file && section.has("drive_file")) {
    mistakes.add(section.where("drive_file"),
                 "`drive_file` takes the place of `drive`; for a sum write table(\"force.dat\", t) in `drive`");
    return;
  }
  const auto size = static_cast<std::size_t>(system.size());
  if (!is_file && section.texts(key).size() != size) {
    mistakes.add(section.where(key),
                 fmt::format("`drive` has {} formula(s): this system needs {}, one for each particle and axis",
                             section.texts(key).size(), size));
    return;
  }
  FormulaScope scope;
  scope.add_variable("t");
  if (section.has("parameters")) add_numbers(section.table("parameters"), {}, scope, mistakes);
  const double start = 0.0;
  std::vector<Expression> values;
  std::vector<FormulaOutput> rates;
  const std::vector<Expression> of_file =
      is_file ? read_drive_file(section, system, scope.graph, mistakes) : std::vector<Expression>();
  if (is_file && of_file.empty()) return;
  for (std::size_t i = 0; i < size; ++i) {
    const std::optional<Expression> value = is_file ? of_file[i] : read_formula(section, key, scope, mistakes, i);
    if (!value) continue;
    values.push_back(*value);
    rates.push_back(FormulaOutput(*value).differentiated(scope.graph, 0));
    if (!check_finite(section, key, "the formula", scope, {*value}, {&start, 1}, mistakes, i)) continue;
    if (!check_finite(section, key, "the formula", scope, {*value}, {&end, 1}, mistakes, i, "end")) continue;
    system.formulas += fmt::format("{}drive[{}] = {}", system.formulas.empty() ? "" : "; ", i,
                                   printable(is_file ? section.text(key) : section.texts(key)[i]));
  }
  if (values.size() < size) return;
  try {
    system.drive = std::make_shared<FormulaDrive>(scope.graph, values, rates, 0);
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where(key), fmt::format("{}: {}", key, error.what()));
  }
}

void read_uniform_field(const Section& section, ParticleSystem& system, Mistakes& mistakes) {
  const std::vector<double>& field = section.numbers("uniform_field");
  if (static_cast<int>(field.size()) != system.axes) {
    mistakes.add(section.where("uniform_field"),
                 fmt::format("`uniform_field` has {} numbers: this system has {} axes", field.size(), system.axes));
    return;
  }
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
  return {
      drive_parameter(),
      {.name = "drive_file",
       .type = ValueType::text,
       .doc = "a text file with a drive instead of `drive`, relative to the recipe's folder: the time (s), "
              "increasing, and one force (N) for each particle and axis; # begins a comment. Between the rows it is "
              "a cubic spline (not-a-knot), which goes on for one interval at both ends and has no value beyond: all "
              "times of the run must be in the table"},
      formula_parameters(),
      optional("uniform_field", ValueType::numbers, "m/s^2",
               "acceleration of all particles by a uniform field such as gravity, one number per axis: [0.0, "
               "-9.81]")};
}

void read_external_forces(const Section& section, double end, ParticleSystem& system, Mistakes& mistakes) {
  if (section.has("drive") || section.has("drive_file")) {
    read_drive(section, end, system, mistakes);
  }
  if (section.has("magnetic_field")) read_magnetic_field(section, system, mistakes);
  if (section.has("uniform_field")) read_uniform_field(section, system, mistakes);
}

}  // namespace bathline
