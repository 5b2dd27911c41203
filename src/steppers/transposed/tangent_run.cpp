// Runs of the linear problem along a path.
// Tested by tests/costates/costates_test.cpp.
#include "steppers/transposed/tangent_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/variation/control.hpp"
#include "steppers/stability.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// f(q, v) = f' + df/dq (q - q0) + df/dv (v - v0), with the derivatives at the current point of a path and without the
/// damping C; q0 and v0 are that point, or zero.
class LinearForce final : public Force {
 public:
  /// The current point is the one after the last of `own`.
  LinearForce(const FinishedRun& run, PathForces forces, bool is_about_path, const RecordedPath& own)
      : run_(run),
        constant_(std::move(forces)),
        is_about_path_(is_about_path),
        own_(own),
        points_(run),
        forces_(run.problem),
        depends_on_velocity_(run.problem.drag_force() != nullptr ||
                             (run.problem.system().applied && run.problem.system().applied->depends_on_velocity())) {
    if (const auto* pair = std::get_if<PartitionedRungeKutta>(&run.scheme)) nodes_ = pair->nodes();
  }

  void value(const VectorXd& q, const VectorXd& v, double t, VectorXd& force) const override {
    const Index column = evaluate(t);
    force = constants_.col(column);
    if (is_about_path_) {
      force += by_q_ * (q - here_->q.col(column));
      if (depends_on_velocity_) force += by_v_ * (v - here_->v.col(column));
    } else {
      force += by_q_ * q;
      if (depends_on_velocity_) force += by_v_ * v;
    }
  }
  void jacobians(const VectorXd&, const VectorXd&, double t, MatrixXd& by_q, MatrixXd& by_v) const override {
    evaluate(t);
    by_q = by_q_;
    by_v = by_v_;
  }
  bool depends_on_velocity() const override { return depends_on_velocity_; }

 private:
  /// Returns the column of the current point.
  Index evaluate(double t) const {
    std::size_t point = own_.points();
    if (nodes_.size() > 1) {
      const double step = static_cast<double>((point - 1) / static_cast<std::size_t>(nodes_.size()));
      Index stage = 0;
      (nodes_.array() - (t / run_.h - step)).abs().minCoeff(&stage);
      point += static_cast<std::size_t>(stage);
    }
    const auto index = static_cast<Index>(point) - 1;
    if (point == point_) return index - first_;
    point_ = point;
    if (index < first_ || index >= first_ + count_) {
      const std::int64_t step = index / points_.count();
      const std::int64_t steps = std::min(points_.steps_at_once(), run_.steps - step);
      first_ = step * points_.count();
      count_ = steps * points_.count();
      here_ = &points_.of_steps(step, steps);
      forces_.begin(*here_);
      constant_(*here_, constants_);
    }
    forces_.go_to(index - first_);
    by_q_ = forces_.by_q<MatrixXd>().transpose();
    by_v_ = forces_.by_v<MatrixXd>().transpose();
    by_v_ += run_.problem.damping();
    return index - first_;
  }

  FinishedRun run_;
  PathForces constant_;
  bool is_about_path_;
  const RecordedPath& own_;
  VectorXd nodes_;  // of stages
  mutable PathPoints points_;
  mutable TransposedForces forces_;
  bool depends_on_velocity_;
  mutable std::size_t point_ = 0;
  mutable Index first_ = 0, count_ = 0;  // the points of the path, without that of the start, that are evaluated
  mutable const ForcePoints* here_ = nullptr;
  mutable MatrixXd constants_, by_q_, by_v_;
};

/// The unchanged number comes last.
struct Difference {
  double place;
  double weight;
};
constexpr std::array<Difference, 5> central = {
    {{-2, 1.0 / 12.0}, {-1, -8.0 / 12.0}, {1, 8.0 / 12.0}, {2, -1.0 / 12.0}, {0, 0.0}}};
constexpr std::array<Difference, 5> one_sided = {
    {{1, 4.0}, {2, -3.0}, {3, 4.0 / 3.0}, {4, -1.0 / 4.0}, {0, -25.0 / 12.0}}};

/// A problem with another value of a number, and the weight of that.
struct Changed {
  double weight;
  Preparation preparation;
  std::shared_ptr<Problem> problem;
};

/// The weighted sum of the forces on the particles, but for those of environments.
PathForces forces_of(std::vector<Changed> all) {
  return [all = std::move(all)](const ForcePoints& points, MatrixXd& forces) {
    forces.setZero(points.q.rows(), points.q.cols());
    for (Index i = 0; i < forces.cols(); ++i) {
      const VectorXd q = points.q.col(i), v = points.v.col(i);
      for (const Changed& other : all) {
        forces.col(i) += other.weight * forces_of_particles(*other.problem, q, v, points.t[i]);
      }
    }
  };
}

/// With these particles alone, without the damping C.
Problem particles_of(ParticleSystem system, const Scheme& scheme, const Communicator& communicator) {
  if (const auto controls = controls_of(system)) system.drive = controls->with(side_of(scheme));
  return Problem(system, MatrixXd::Zero(system.size(), system.size()), {}, communicator);
}

}  // namespace

/// A run of a linear problem, of motions about the path or of deviations from it.
class LinearRun {
 public:
  LinearRun(const FinishedRun& run, const Preparation& start, PathForces forces, bool is_about_path)
      : run_(run), path_(run.problem.q.size()), points_of_step_(points_of_step(run.scheme).size()) {
    const Index n = run.problem.q.size();
    ParticleSystem system = start.system;
    system.potential = std::make_shared<QuadraticPotential>(MatrixXd::Zero(n, n));
    system.force = nullptr;
    system.applied = std::make_shared<LinearForce>(run, std::move(forces), is_about_path, path_);
    system.drive = nullptr;
    problem_.emplace(start.prepared(system));
    stepper_ = make_recording_stepper(run.scheme, *problem_, run.h, path_);
  }

  std::optional<Failure> advance(std::int64_t steps) {
    path_.begin_at(static_cast<std::size_t>(problem_->clock.steps) * points_of_step_,
                   static_cast<std::size_t>(steps) * points_of_step_ + 1);
    path_.add(problem_->q, problem_->velocity());
    return stepper_->advance(steps);
  }
  const Problem& problem() const { return *problem_; }
  PathPoints points() const { return PathPoints({run_.scheme, *problem_, path_, run_.steps, run_.h}); }

 private:
  FinishedRun run_;
  RecordedPath path_;  // its own, whose length tells the linear force where the stepper is
  std::size_t points_of_step_;
  std::optional<Problem> problem_;
  std::unique_ptr<Stepper> stepper_;
};

TangentRun::TangentRun(TangentRun&&) noexcept = default;
TangentRun::~TangentRun() = default;

TangentRun::TangentRun(const FinishedRun& run, const Preparation& start, PathForces forces) {
  parts_.emplace_back(1.0, std::make_unique<LinearRun>(run, start, std::move(forces), false));
}

std::optional<TangentRun> TangentRun::by(const FinishedRun& run, const ChangedNumber& number,
                                         const ChangedPreparation& make) {
  const double scale = std::max(std::abs(number.value), number.size);
  const std::optional<Preparation> unchanged = make(number.value);
  if (!unchanged) return std::nullopt;
  const auto has_same_masses = [&] {
    const auto other = make(number.value + (number.value + 1e-3 * scale < number.upper ? 1e-3 : -1e-3) * scale);
    return other && other->system.mass == unchanged->system.mass;
  };
  const bool is_one_run = number.environment.empty() && has_same_masses();
  // The error of the differences is about (s e)^4/30 + noise/e, s the number of radians in which the phases change.
  double frequency = is_one_run ? 0.0 : particle_frequency(run.problem.system()), noise = 1e-16;
  for (const Environment* environment : run.problem.stepped_environments()) {
    if (environment->name() != number.environment) continue;
    const EnvironmentProperties& properties = environment->properties();
    frequency += properties.highest_frequency;
    // Exponentials that represent a kernel have an error that changes with it.
    if (properties.sites == 0) noise = 1e-13;
  }
  const double radians = 1.0 + 0.5 * frequency * run.h * static_cast<double>(run.steps);
  double size = scale * std::pow(30.0 * noise / std::pow(radians, 4), 0.2);
  const bool is_central = number.value + 2.0 * size <= number.upper && number.value - 2.0 * size >= number.lower;
  if (!is_central && number.value + 4.0 * size > number.upper) size = -size;
  std::vector<Changed> all;
  for (const auto& [place, weight] : is_central ? central : one_sided) {
    if (weight == 0.0) continue;
    std::optional<Preparation> other = make(number.value + place * size);
    if (!other) return std::nullopt;
    auto problem =
        std::make_shared<Problem>(is_one_run ? other->prepared(other->system)
                                             : particles_of(other->system, run.scheme, run.problem.communicator()));
    all.push_back({weight / size, std::move(*other), std::move(problem)});
  }
  if (is_one_run) {
    Preparation start = *unchanged;
    start.system.q0.setZero();
    start.system.v0.setZero();
    for (const Changed& other : all) {
      start.system.q0 += other.weight * other.preparation.system.q0;
      start.system.v0 += other.weight * other.preparation.system.v0;
    }
    return TangentRun(run, start, forces_of(std::move(all)));
  }
  TangentRun tangent;
  for (const auto& [weight, preparation, problem] : all) {
    tangent.parts_.emplace_back(
        weight, std::make_unique<LinearRun>(run, preparation, forces_of({{1.0, preparation, problem}}), true));
  }
  return tangent;
}

std::optional<Failure> TangentRun::advance(std::int64_t steps) {
  for (const auto& [weight, part] : parts_) {
    if (std::optional<Failure> failure = part->advance(steps)) return failure;
  }
  return std::nullopt;
}

VectorXd TangentRun::q() const {
  VectorXd q = VectorXd::Zero(parts_.front().second->problem().q.size());
  for (const auto& [weight, part] : parts_) q += weight * part->problem().q;
  return q;
}

VectorXd TangentRun::v() const {
  VectorXd v = VectorXd::Zero(parts_.front().second->problem().q.size());
  for (const auto& [weight, part] : parts_) v += weight * part->problem().velocity();
  return v;
}

std::pair<MatrixXd, MatrixXd> TangentRun::at_points(std::int64_t first, std::int64_t steps) const {
  std::pair<MatrixXd, MatrixXd> sum;
  for (const auto& [weight, part] : parts_) {
    PathPoints path = part->points();
    const ForcePoints& points = path.of_steps(first, steps);
    if (sum.first.size() == 0) sum.first = sum.second = MatrixXd::Zero(points.q.rows(), points.q.cols());
    sum.first += weight * points.q;
    sum.second += weight * points.v;
  }
  return sum;
}

}  // namespace bathline
