// Splines in time as forces and in their formulas, and the reading of [[controls]].
// Tested by tests/costates/control_test.cpp.
#include "model/variation/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formula/program.hpp"
#include "model/formula/force.hpp"
#include "model/formula/observables.hpp"
#include "model/formula/phase_function.hpp"
#include "solve/banded_lu.hpp"
#include "text/printable_text.hpp"
#include "text/spelling.hpp"

namespace bathline {

namespace {

/// Round-off in times, in pieces.
constexpr double roundoff = 1e-9;

double sum_of(const SplineBasis::Values& values, const Eigen::VectorXd& numbers) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < values.weights.size(); ++i) sum += values.weights[i] * numbers[values.first + i];
  return sum;
}

}  // namespace

Side side_of(const Scheme& scheme) {
  std::vector<double> nodes;
  if (const auto* splitting = std::get_if<ExplicitScheme>(&scheme)) {
    const std::vector<double> all = splitting->nodes();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (splitting->substeps[i].kind != Substep::Kind::drift) nodes.push_back(all[i]);
    }
  } else if (const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme)) {
    const Eigen::VectorXd all = stages->nodes();
    nodes.assign(all.begin(), all.end());
  }
  const auto has = [&](double node) {
    return std::any_of(nodes.begin(), nodes.end(), [&](double each) { return std::abs(each - node) < 1e-12; });
  };
  if (has(0.0) == has(1.0)) return Side::mean;
  return has(1.0) ? Side::before : Side::after;
}

double SplineBasis::knot(int index) const { return std::clamp<double>(index - degree_, 0.0, pieces_); }

int SplineBasis::piece_at(double place) const {
  return static_cast<int>(std::clamp(std::floor(place), 0.0, pieces_ - 1.0));
}

SplineBasis::Weights SplineBasis::values(int piece, double place, int degree) const {
  // The knots before and after the piece are those of the index `piece + degree_`.
  Weights values = Weights::Zero(degree + 1);
  values[0] = 1.0;
  const int here = piece + degree_;
  for (int d = 1; d <= degree; ++d) {
    double carried = 0.0;
    for (int i = 0; i < d; ++i) {
      const double before = knot(here + 1 + i - d), after = knot(here + 1 + i);
      const double part = values[i] / (after - before);
      values[i] = carried + (after - place) * part;
      carried = (place - before) * part;
    }
    values[d] = carried;
  }
  return values;
}

SplineBasis::Values SplineBasis::at(double t, Side side) const {
  const double place = t / end_ * pieces_, nearest = std::round(place);
  const bool is_between = std::abs(place - nearest) < roundoff && nearest > 0.0 && nearest < pieces_;
  if (degree_ > 0 || !is_between) {
    const int piece = piece_at(place);
    return {piece, values(piece, place, degree_)};
  }
  const int after = static_cast<int>(nearest);
  if (side == Side::mean) return {after - 1, Weights::Constant(2, 0.5)};
  return {side == Side::before ? after - 1 : after, Weights::Ones(1)};
}

SplineBasis::Values SplineBasis::rates_at(double t) const {
  const double place = t / end_ * pieces_;
  const int piece = piece_at(place + roundoff), here = piece + degree_;
  Values rates{piece, Weights::Zero(degree_ + 1)};
  if (degree_ == 0) return rates;
  const Weights lower = values(piece, place, degree_ - 1);
  for (int i = 0; i < degree_; ++i) {
    const int number = i + 1;
    const double slope = degree_ * lower[i] / (knot(here + number) - knot(here + number - degree_)) * (pieces_ / end_);
    rates.weights[i] -= slope;
    rates.weights[i + 1] += slope;
  }
  return rates;
}

double SplineBasis::node(int index) const {
  double sum = degree_ == 0 ? knot(index) + 0.5 : 0.0;
  for (int i = 1; i <= degree_; ++i) sum += knot(index + i) / degree_;
  return sum / pieces_ * end_;
}

Eigen::VectorXd SplineBasis::interpolate(const Eigen::VectorXd& values) const {
  if (degree_ < 2) return values;
  std::vector<Eigen::Triplet<double>> entries;
  for (int row = 0; row < size(); ++row) {
    const Values here = at(node(row), Side::mean);
    for (int i = 0; i <= degree_; ++i) entries.emplace_back(row, here.first + i, here.weights[i]);
  }
  Eigen::SparseMatrix<double> matrix(size(), size());
  matrix.setFromTriplets(entries.begin(), entries.end());
  Eigen::VectorXd solution = values;
  BandedLu(matrix).solve(solution.data());
  return solution;
}

double Control::value(double t, Side side) const { return sum_of(basis.at(t, side), numbers); }

void ControlledDrive::value(double t, Side side, Eigen::VectorXd& force) const {
  if (drive_) {
    drive_->value(t, force);
  } else {
    force.setZero(size_);
  }
  for (const Control& control : controls_) {
    if (control.coordinate >= 0) force[control.coordinate] += control.value(t, side);
  }
}

void ControlledDrive::rate(double t, Eigen::VectorXd& rate) const {
  if (drive_) {
    drive_->rate(t, rate);
  } else {
    rate.setZero(size_);
  }
  for (const Control& control : controls_) {
    if (control.coordinate >= 0) rate[control.coordinate] += sum_of(control.basis.rates_at(t), control.numbers);
  }
}

std::vector<double> ControlledDrive::kinks(double from, double to) const {
  std::vector<double> all = kinks_of(drive_.get(), from, to);
  for (const Control& control : controls_) {
    const double length = control.basis.end() / control.basis.pieces();
    for (double i = std::max(1.0, std::floor(from / length)); i < control.basis.pieces() && (i - 1.0) * length <= to;
         ++i) {
      // Near a jump the value is the mean.
      const double width = control.basis.degree() == 0 ? roundoff : 0.0;
      for (const double kink : {(i - width) * length, (i + width) * length}) {
        if (kink > from && kink <= to) all.push_back(kink);
      }
    }
  }
  return all;
}

Eigen::VectorXd ControlledDrive::numbers() const {
  Eigen::Index size = 0;
  for (const Control& control : controls_) size += control.numbers.size();
  Eigen::VectorXd all(size);
  Eigen::Index first = 0;
  for (const Control& control : controls_) {
    all.segment(first, control.numbers.size()) = control.numbers;
    first += control.numbers.size();
  }
  return all;
}

std::shared_ptr<const ControlledDrive> ControlledDrive::with(const Eigen::VectorXd& numbers) const {
  std::vector<Control> controls = controls_;
  Eigen::Index first = 0;
  for (Control& control : controls) {
    control.numbers = numbers.segment(first, control.numbers.size());
    first += control.numbers.size();
  }
  return std::make_shared<ControlledDrive>(size_, drive_, std::move(controls), side_);
}

std::shared_ptr<const ControlledDrive> ControlledDrive::with(Side side) const {
  return std::make_shared<ControlledDrive>(size_, drive_, controls_, side);
}

std::shared_ptr<const ControlledDrive> ControlledDrive::lasting(double end) const {
  std::vector<Control> controls = controls_;
  for (Control& control : controls) control.basis = SplineBasis(control.basis.degree(), control.basis.pieces(), end);
  return std::make_shared<ControlledDrive>(size_, drive_, std::move(controls), side_);
}

Eigen::VectorXd ControlledDrive::values(double t) const {
  Eigen::VectorXd all(static_cast<Eigen::Index>(controls_.size()));
  for (Eigen::Index i = 0; i < all.size(); ++i) all[i] = controls_[static_cast<std::size_t>(i)].value(t, side_);
  return all;
}

void ControlledDrive::pull_back(double t, const Eigen::VectorXd& slopes, Eigen::Ref<Eigen::VectorXd> gradient) const {
  Eigen::Index first = 0;
  for (std::size_t c = 0; c < controls_.size(); ++c) {
    const SplineBasis::Values here = controls_[c].basis.at(t, side_);
    gradient.segment(first + here.first, here.weights.size()) += slopes[static_cast<Eigen::Index>(c)] * here.weights;
    first += controls_[c].numbers.size();
  }
}

std::shared_ptr<const ControlledDrive> controls_of(const ParticleSystem& system) {
  return std::dynamic_pointer_cast<const ControlledDrive>(system.drive);
}

namespace {

/// The force of a system where its formulas contain controls, else nullptr.
std::shared_ptr<const FormulaForce> controlled_force_of(const ParticleSystem& system) {
  const auto force = std::dynamic_pointer_cast<const FormulaForce>(system.applied);
  return force && force->depends_on_controls() ? force : nullptr;
}

}  // namespace

void set_controls(ParticleSystem& system, std::shared_ptr<const ControlledDrive> controls) {
  if (const auto force = controlled_force_of(system)) {
    system.applied = force->with([controls](double t) { return controls->values(t); });
  }
  system.drive = std::move(controls);
}

void pull_back_to_controls(const ParticleSystem& system, const ControlledDrive& controls, const Eigen::VectorXd& q,
                           const Eigen::VectorXd& v, double t, const Eigen::VectorXd& u,
                           const Eigen::Ref<const Eigen::VectorXd>& by_force, Eigen::VectorXd& slopes) {
  for (std::size_t c = 0; c < controls.controls().size(); ++c) {
    const int coordinate = controls.controls()[c].coordinate;
    if (coordinate >= 0) slopes[static_cast<Eigen::Index>(c)] += by_force[coordinate];
  }
  const auto force = controlled_force_of(system);
  if (!force) return;
  Eigen::MatrixXd by_controls;
  force->by_controls(q, v, t, u, by_controls);
  slopes += by_controls.transpose() * by_force;
}

namespace {

/// The numbers of a control: as listed, or of the spline through the values of a formula in t.
std::optional<Eigen::VectorXd> read_initial(const Section& section, const SplineBasis& basis, Mistakes& mistakes) {
  if (section.holds<std::vector<double>>("initial")) {
    const std::vector<double>& list = section.numbers("initial");
    if (static_cast<int>(list.size()) == basis.size()) {
      return Eigen::Map<const Eigen::VectorXd>(list.data(), static_cast<Eigen::Index>(list.size()));
    }
    mistakes.add(section.where("initial"), fmt::format("initial has {} numbers: {} pieces of degree {} need {}",
                                                       list.size(), basis.pieces(), basis.degree(), basis.size()));
    return std::nullopt;
  }
  const auto formula = read_function_of(section, "initial", "t", 0.0, mistakes);
  if (!formula) return std::nullopt;
  Eigen::VectorXd values(basis.size());
  for (int i = 0; i < basis.size(); ++i) values[i] = (*formula)(basis.node(i));
  if (values.allFinite()) return basis.interpolate(values);
  mistakes.add(section.where("initial"), "initial: the formula has no finite value at some time of the run");
  return std::nullopt;
}

std::optional<Control> read_control(const Section& section, std::size_t index, double end, const ParticleSystem& system,
                                    Mistakes& mistakes) {
  const std::vector<std::string> coordinates = system.coordinate_names();
  const std::string& name = section.text("name");
  const std::string on = section.has("on") ? section.text("on") : "";
  const std::size_t before = mistakes.count();
  const auto coordinate = std::find(coordinates.begin(), coordinates.end(), on);
  const auto force = controlled_force_of(system);
  if (!section.has("on") && !(force && force->depends_on_control(index))) {
    mistakes.add(section.where("name"), fmt::format("`{}` acts on nothing: state its coordinate as `on`, or use its "
                                                    "name in the formulas of `force`",
                                                    printable(name)));
  } else if (section.has("on") && coordinate == coordinates.end()) {
    mistakes.add(section.where("on"), fmt::format("on = \"{}\": no coordinate has this name{}", printable(on),
                                                  spelling_advice(on, coordinates, '"')));
  }
  const auto is_observable = [&](const Observable& observable) { return observable.name == name; };
  if (!is_name(name)) {
    mistakes.add(section.where("name"),
                 fmt::format("name = \"{}\": use letters, digits and `_`, a letter first", printable(name)));
  } else if (is_reserved_name(name) || std::ranges::any_of(system.observables, is_observable)) {
    mistakes.add(section.where("name"), fmt::format("`{}` is recorded already; choose another name", name));
  } else {
    check_formula_name(section, "name", name, phase_scope(system), mistakes);
  }
  constexpr long max_degree = SplineBasis::max_degree, max_pieces = 10'000'000;
  const long degree = section.integer("degree"), pieces = section.integer("pieces");
  if (degree > max_degree || pieces > max_pieces) {
    mistakes.add(section.where(degree > max_degree ? "degree" : "pieces"),
                 fmt::format("a control has at most degree {} and {} pieces", max_degree, max_pieces));
  }
  if (mistakes.count() > before) return std::nullopt;
  const SplineBasis basis(static_cast<int>(degree), static_cast<int>(pieces), end);
  std::optional<Eigen::VectorXd> numbers = read_initial(section, basis, mistakes);
  if (!numbers) return std::nullopt;
  const int on_coordinate = section.has("on") ? static_cast<int>(coordinate - coordinates.begin()) : -1;
  Control control{name, on_coordinate, basis, std::move(*numbers)};
  if (section.has("bounds")) {
    control.lower = section.numbers("bounds").front();
    control.upper = section.numbers("bounds").back();
  }
  return control;
}

}  // namespace

void read_controls(const Section& system_section, double end, ParticleSystem& system, Mistakes& mistakes) {
  const std::vector<Section>& sections = system_section.tables("controls");
  std::vector<Control> controls;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    std::optional<Control> control = read_control(sections[i], i, end, system, mistakes);
    if (control) controls.push_back(std::move(*control));
  }
  if (controls.size() < sections.size() || controls.empty()) return;
  for (const Control& control : controls) {
    system.observables.push_back(
        {.name = control.name,
         .units = control.units(),
         .long_name = "control",
         .value = [control](const Eigen::VectorXd&, const Eigen::VectorXd&,
                            double t) { return Eigen::VectorXd::Constant(1, control.value(t)).eval(); },
         .integrand = {}});
  }
  set_controls(system, std::make_shared<ControlledDrive>(system.size(), system.drive, std::move(controls)));
  Eigen::VectorXd force = Eigen::VectorXd::Zero(system.size());
  if (system.applied) system.applied->value(system.q0, system.v0, 0.0, force);
  if (force.allFinite()) return;
  mistakes.add(system_section.where("force"), "force: has no finite value at the start with the controls of the start");
}

void check_pieces(const Section& control, double end, double step, const Scheme& scheme, const std::string& name,
                  Mistakes& mistakes) {
  const auto pieces = static_cast<double>(control.integer("pieces"));
  const double steps = end / step, in_piece = steps / pieces;
  if (std::abs(in_piece - std::round(in_piece)) * pieces > 1e-6 || in_piece < 0.5) {
    mistakes.add(control.where("pieces"),
                 fmt::format("pieces = {}: each piece must be whole steps, but {} has {:.10g} steps: take a divisor of "
                             "their number",
                             pieces, name, steps));
  }
  if (control.integer("degree") > 0 || !std::holds_alternative<ExactFlow>(scheme)) return;
  mistakes.add(control.where("degree"),
               fmt::format("degree = 0: `{}` is the exact flow, which needs continuous forces: take degree 1", name));
}

}  // namespace bathline
