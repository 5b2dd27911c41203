// Controls: splines in time that are forces on single coordinates or are in the formulas of forces.
#pragma once

#include <Eigen/Core>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "methods/scheme.hpp"
#include "model/force.hpp"
#include "model/kinks_in_time.hpp"
#include "model/particle_system.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// Which limit a discontinuous function has where it jumps.
enum class Side { before, after, mean };

/// The side of a jump between two steps that belongs to the same step as the forces of a scheme: that before where it
/// evaluates forces at the end of a step and not at its start, after in the opposite case, and else the mean.
Side side_of(const Scheme& scheme);

/// Splines of a degree on equal pieces of [0, end], with knots of multiplicity degree + 1 at both ends: pieces + degree
/// B-splines, by their recursion. Source: deboor1978, eq. (X.5).
class SplineBasis {
 public:
  SplineBasis(int degree, int pieces, double end) : degree_(degree), pieces_(pieces), end_(end) {}

  int degree() const { return degree_; }
  int pieces() const { return pieces_; }
  double end() const { return end_; }  ///< s
  int size() const { return pieces_ + degree_; }
  static constexpr int max_degree = 9;
  /// Up to max_degree + 1 numbers, without memory of their own: splines are evaluated with every force.
  using Weights = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, max_degree + 1, 1>;
  /// The B-splines that are not zero at time t, s: their values, and the index of the first. Beyond both ends the
  /// polynomials of the outermost pieces. At a jump, between pieces of degree 0, half of both for the mean.
  struct Values {
    int first;
    Weights weights;
  };
  Values at(double t, Side side) const;
  /// Their derivatives, 1/s; between pieces of degree 1 those after.
  Values rates_at(double t) const;
  /// The times at which the numbers of degree 0 and 1 are values of the spline, s: means of `degree` knots.
  double node(int index) const;
  /// The spline's numbers that interpolate values at the nodes.
  Eigen::VectorXd interpolate(const Eigen::VectorXd& values) const;

 private:
  int piece_at(double place) const;
  double knot(int index) const;  // in pieces, from 0 to pieces + 2 degree
  Weights values(int piece, double place, int degree) const;

  int degree_, pieces_;
  double end_;
};

/// A control u(t) of the recipe, a force on one coordinate.
struct Control {
  std::string name;
  int coordinate = 0;  ///< -1 where it acts through the formulas of forces alone
  SplineBasis basis;
  Eigen::VectorXd numbers;  ///< coefficients, N or what the formulas of forces make of them
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();

  double value(double t, Side side = Side::mean) const;
  const char* units() const { return coordinate >= 0 ? "N" : "1"; }
};

/// The drive of a system, if it has one, and the controls.
class ControlledDrive final : public Drive, public KinksInTime {
 public:
  /// Of a system with `size` degrees of freedom.
  ControlledDrive(int size, std::shared_ptr<const Drive> drive, std::vector<Control> controls, Side side = Side::mean)
      : size_(size), drive_(std::move(drive)), controls_(std::move(controls)), side_(side) {}

  void value(double t, Eigen::VectorXd& force) const override { value(t, side_, force); }
  void rate(double t, Eigen::VectorXd& rate) const override;
  std::vector<double> kinks(double from, double to) const override;
  /// The force with the values that belong to this side of jumps.
  void value(double t, Side side, Eigen::VectorXd& force) const;

  const std::vector<Control>& controls() const { return controls_; }
  /// The numbers of all controls, one control after the other.
  Eigen::VectorXd numbers() const;
  /// The same with other numbers, and with the jumps of a scheme.
  std::shared_ptr<const ControlledDrive> with(const Eigen::VectorXd& numbers) const;
  std::shared_ptr<const ControlledDrive> with(Side side) const;
  /// The same with all controls stretched to another end, s.
  std::shared_ptr<const ControlledDrive> lasting(double end) const;
  /// The values of all controls at time t, N.
  Eigen::VectorXd values(double t) const;
  /// gradient += (d values/d numbers)^T slopes, at time t.
  void pull_back(double t, const Eigen::VectorXd& slopes, Eigen::Ref<Eigen::VectorXd> gradient) const;

 private:
  int size_;
  std::shared_ptr<const Drive> drive_;
  std::vector<Control> controls_;
  Side side_;
};

/// The drive of a system where it has controls, else nullptr.
std::shared_ptr<const ControlledDrive> controls_of(const ParticleSystem& system);
/// Makes these the drive of a system, and those in the formulas of its forces.
void set_controls(ParticleSystem& system, std::shared_ptr<const ControlledDrive> controls);
/// slopes += (df/du)^T by_force of the forces f(q, v, t, u) of a system with these controls, by their values u;
/// `by_force` are derivatives by the forces.
void pull_back_to_controls(const ParticleSystem& system, const ControlledDrive& controls, const Eigen::VectorXd& q,
                           const Eigen::VectorXd& v, double t, const Eigen::VectorXd& u,
                           const Eigen::Ref<const Eigen::VectorXd>& by_force, Eigen::VectorXd& slopes);

/// Reads [[controls]], which the section of the system contains, of a run that ends at `end` s and sets them in a
/// system whose start and forces have been read, together with its drive; with an observable for each.
void read_controls(const Section& system_section, double end, ParticleSystem& system, Mistakes& mistakes);

/// Adds a mistake where the pieces of a control are not whole steps, at the scheme of the run called `name`.
void check_pieces(const Section& control, double end, double step, const Scheme& scheme, const std::string& name,
                  Mistakes& mistakes);

}  // namespace bathline
