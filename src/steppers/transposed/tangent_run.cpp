// Runs of the linear problem along a path.
// Tested by tests/costates/costates_test.cpp.
#include "steppers/transposed/tangent_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "steppers/transposed/forces_on_path.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// f(q, v) = f' + df/dq q + df/dv v, with the derivatives at the current point of a path and without the damping C.
class LinearForce final : public Force {
 public:
  /// The current point is the one after the last of `own`.
  LinearForce(const FinishedRun& run, const Eigen::MatrixXd& constant, const RecordedPath& own)
      : run_(run),
        constant_(constant),
        own_(own),
        points_(run),
        forces_(run.problem),
        depends_on_velocity_(run.problem.drag_force() != nullptr ||
                             (run.problem.system().applied && run.problem.system().applied->depends_on_velocity())) {
    if (const auto* pair = std::get_if<PartitionedRungeKutta>(&run.scheme)) nodes_ = pair->nodes();
  }

  void value(const VectorXd& q, const VectorXd& v, double t, VectorXd& force) const override {
    evaluate(t);
    force = constant_.col(static_cast<Index>(point_) - 1);
    force.noalias() += by_q_.lazyProduct(q);
    if (depends_on_velocity_) force.noalias() += by_v_.lazyProduct(v);
  }
  void jacobians(const VectorXd&, const VectorXd&, double t, MatrixXd& by_q, MatrixXd& by_v) const override {
    evaluate(t);
    by_q = by_q_;
    by_v = by_v_;
  }
  bool depends_on_velocity() const override { return depends_on_velocity_; }

 private:
  void evaluate(double t) const {
    std::size_t point = own_.points();
    if (nodes_.size() > 1) {
      const double step = static_cast<double>((point - 1) / static_cast<std::size_t>(nodes_.size()));
      Index stage = 0;
      (nodes_.array() - (t / run_.h - step)).abs().minCoeff(&stage);
      point += static_cast<std::size_t>(stage);
    }
    if (point == point_) return;
    point_ = point;
    const auto index = static_cast<Index>(point) - 1;
    if (index < first_ || index >= first_ + count_) {
      const std::int64_t step = index / points_.count();
      const std::int64_t steps = std::min(points_.steps_at_once(), run_.steps - step);
      first_ = step * points_.count();
      count_ = steps * points_.count();
      forces_.begin(points_.of_steps(step, steps));
    }
    forces_.go_to(index - first_);
    by_q_ = forces_.by_q<MatrixXd>().transpose();
    by_v_ = forces_.by_v<MatrixXd>().transpose();
    by_v_ += run_.problem.damping();
  }

  FinishedRun run_;
  const MatrixXd& constant_;
  const RecordedPath& own_;
  VectorXd nodes_;  // of stages
  mutable PathPoints points_;
  mutable TransposedForces forces_;
  bool depends_on_velocity_;
  mutable std::size_t point_ = 0;
  mutable Index first_ = 0, count_ = 0;  // the points of the path, without that of the start, that are evaluated
  mutable MatrixXd by_q_, by_v_;
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

/// forces += weights * the force on the particles, but for those of environments, at the points of the path of a run.
void add_forces_of_particles(const FinishedRun& run, const Problem& problem, const VectorXd& weights,
                             MatrixXd& forces) {
  PathPoints path(run);
  ForceOfParticles force;
  for (std::int64_t step = 0; step < run.steps; step += path.steps_at_once()) {
    const ForcePoints& points = path.of_steps(step, std::min(path.steps_at_once(), run.steps - step));
    for (Index i = 0; i < points.t.size(); ++i) {
      forces.col(step * path.count() + i) += weights.cwiseProduct(force.at(problem, points, i));
    }
  }
}

}  // namespace

std::optional<PathChange> change_on_path(const FinishedRun& run, const ChangedNumber& number,
                                         const ChangedPreparation& make) {
  // The error of the differences is about (s e)^4/30 + noise/e, s the number of radians in which the phases change.
  double radians = 1.0, noise = 1e-16;
  for (const Environment* environment : run.problem.stepped_environments()) {
    if (environment->name() != number.environment) continue;
    const EnvironmentProperties& properties = environment->properties();
    radians += 0.5 * properties.highest_frequency * run.h * static_cast<double>(run.steps);
    // Exponentials that represent a kernel have an error that changes with it.
    if (properties.sites == 0) noise = 1e-13;
  }
  double size = std::max(std::abs(number.value), number.size) * std::pow(30.0 * noise / std::pow(radians, 4), 0.2);
  const bool is_central = number.value + 2.0 * size <= number.upper && number.value - 2.0 * size >= number.lower;
  if (!is_central && number.value + 4.0 * size > number.upper) size = -size;
  const Index n = run.problem.q.size();
  const bool is_root = run.problem.communicator().is_root();
  PathChange change{VectorXd::Zero(n), VectorXd::Zero(n),
                    MatrixXd::Zero(n, is_root ? static_cast<Index>(run.path.points()) - 1 : 0)};
  const VectorXd& mass = run.problem.system().mass;
  for (const auto& [place, weight] : is_central ? central : one_sided) {
    if (weight == 0.0) continue;
    const std::optional<Preparation> other = make(number.value + place * size);
    if (!other) return std::nullopt;
    Problem problem = other->prepared(other->system);
    change.q0 += weight / size * other->system.q0;
    change.v0 += weight / size * other->system.v0;
    const VectorXd weights = weight / size * mass.cwiseQuotient(problem.system().mass);
    const bool has_other_masses = problem.system().mass != mass;
    const bool moves_particles = number.is_of_system || has_other_masses || problem.damping() != run.problem.damping();
    if (is_root && moves_particles) add_forces_of_particles(run, problem, weights, change.forces);
    if (!number.environment.empty() || has_other_masses) add_forces_on_path(run, problem, weights, change.forces);
  }
  return change;
}

TangentRun::TangentRun(const FinishedRun& run, const PathChange& change, const Preparation& start)
    : path_(run.problem.q.size()), points_of_step_(points_of_step(run.scheme).size()) {
  const Index n = run.problem.q.size();
  ParticleSystem system = start.system;
  system.potential = std::make_shared<QuadraticPotential>(MatrixXd::Zero(n, n));
  system.force = nullptr;
  system.applied = std::make_shared<LinearForce>(run, change.forces, path_);
  system.drive = nullptr;
  system.q0 = change.q0;
  system.v0 = change.v0;
  problem_.emplace(start.prepared(system));
  stepper_ = make_recording_stepper(run.scheme, *problem_, run.h, path_);
}

std::optional<Failure> TangentRun::advance(std::int64_t steps) {
  path_.begin_at(static_cast<std::size_t>(problem_->clock.steps) * points_of_step_,
                 static_cast<std::size_t>(steps) * points_of_step_ + 1);
  path_.add(problem_->q, problem_->velocity());
  return stepper_->advance(steps);
}

}  // namespace bathline
