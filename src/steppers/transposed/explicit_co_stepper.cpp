// Splittings: their substeps in reverse order, transposed.
//
//   drift                    beta += w h M^-1 alpha
//   kick, velocity before    mu = beta,  alpha += w h (f_q^T mu + l_q),  beta += w h M^-1 (f_v^T mu + l_v)
//   kick, velocity after     mu = (1 - w h f_v M^-1)^-T (beta + w h M^-1 l_v),  beta = mu,  alpha likewise
//
// In a magnetic field drifts are gyrations, with the transposes of their matrices.
// Tested by tests/costates/costates_test.cpp.
#include <Eigen/LU>

#include "model/gyration.hpp"
#include "model/lumped/lumped.hpp"
#include "steppers/transposed/co_stepper.hpp"
#include "steppers/time_blocking.hpp"

namespace bathline {

namespace {

using Eigen::VectorXd;

class ExplicitCoStepper final : public CoStepper {
 public:
  ExplicitCoStepper(const ExplicitScheme& scheme, const FinishedRun& run, Problem& environments,
                    PathFunctional& functional)
      : scheme_(scheme),
        reversed_(reversed(scheme_)),
        nodes_(scheme_.nodes()),
        problem_(run.problem),
        path_(run.path),
        h_(run.h),
        is_end_free_(run.is_end_free),
        step_(run.steps),
        environments_(environments),
        functional_(functional),
        forces_(run.problem),
        inverse_mass_(run.problem.system().mass.cwiseInverse()) {
    const Eigen::Index size = problem_.q.size();
    slopes_.mass = slopes_.origin = VectorXd::Zero(size);
    undamped_.resize(scheme_.substeps.size());
    for (const Substep& substep : scheme_.substeps) {
      kicks_before_.push_back(kicks_);
      if (substep.kind == Substep::Kind::kick) ++kicks_;
      const double field = problem_.system().magnetic_field;
      if (field != 0.0) gyrations_.emplace_back(field, problem_.system().mass, substep.weight * h_);
    }
    for (Environment* environment : environments.stepped_environments()) {
      const auto axes = static_cast<std::size_t>(environment->attachment().axes());
      steppers_.push_back(environment->explicit_stepper(reversed_, h_));
      heads_.push_back({std::vector<double>(axes), std::vector<double>(axes)});
      auto* lumped = dynamic_cast<LumpedEnvironment*>(environment);
      if (lumped != nullptr && lumped->properties().loses_energy) decaying_.push_back(lumped);
    }
  }

  std::optional<Failure> pull_back(std::int64_t steps, Costate& costate) override {
    const bool is_root = problem_.communicator().is_root();
    advance_in_blocks(steppers_, steps, {}, [&](int block) {
      for (int step = 0; step < block && is_root; ++step) {
        --step_;
        decay(costate);
        for (std::size_t i = scheme_.substeps.size(); i-- > 0;) {
          const Substep& substep = scheme_.substeps[i];
          if (substep.kind == Substep::Kind::drift) {
            drift(i, costate);
          } else {
            kick(i, costate);
          }
        }
        decay(costate);
      }
    });
    return std::nullopt;
  }

 private:
  struct Head {
    std::vector<double> x, v;
    operator HeadMotion() const { return {x, v}; }
  };

  /// Index in the path of the last kick before substep `index` of the current step.
  std::size_t point_before(std::size_t index) const {
    return static_cast<std::size_t>(step_) * kicks_ + kicks_before_[index];
  }

  void set_heads(const VectorXd& beta, const VectorXd& velocity) {
    for (std::size_t e = 0; e < heads_.size(); ++e) {
      const Attachment& attachment = environments_.stepped_environments()[e]->attachment();
      attachment.project(beta, heads_[e].x);
      attachment.project(velocity, heads_[e].v);
    }
  }

  void advance_environments(std::size_t index) {
    const Substep& backwards = reversed_.substeps[reversed_.substeps.size() - 1 - index];
    for (std::size_t e = 0; e < heads_.size(); ++e) steppers_[e]->substep(backwards, heads_[e]);
  }

  /// The exact flow of lumped environments that decay, half of which is before and half after each step.
  void decay(Costate& costate) {
    for (LumpedEnvironment* environment : decaying_) {
      force_on_head_.clear();
      for (LumpedEnvironment::Axis& axis : environment->axes()) {
        force_on_head_.push_back(environment->apply_transposed_flow(0.5 * h_, axis));
      }
      force_.setZero(costate.alpha.size());
      environment->attachment().distribute(force_on_head_, force_);
      costate.alpha += force_;
      slopes_.origin -= force_;
    }
  }

  void drift(std::size_t index, Costate& costate) {
    const double weight = scheme_.substeps[index].weight, seconds = weight * h_;
    const RecordedPath::Vector v = path_.v(point_before(index));
    slopes_.mass -= seconds * costate.alpha.cwiseProduct(v).cwiseProduct(inverse_mass_);
    if (gyrations_.empty() && is_end_free_) slopes_.step += weight * costate.alpha.dot(v);
    if (gyrations_.empty() && heads_.empty()) {
      costate.beta += seconds * inverse_mass_.cwiseProduct(costate.alpha);
      return;
    }
    VectorXd velocity = inverse_mass_.cwiseProduct(costate.alpha);
    VectorXd after = costate.beta;
    if (gyrations_.empty()) {
      after += seconds * velocity;
    } else {
      // alpha.v + beta.(B J v) is the same at both ends, of which one is at a kick.
      const auto rate = [&](const VectorXd& beta, const VectorXd& velocity_there) {
        return costate.alpha.dot(velocity_there) +
               beta.dot(magnetic_force(problem_.system().magnetic_field, velocity_there));
      };
      const bool is_after_kick = kicks_before_[index] > 0;
      if (is_end_free_ && !is_after_kick) slopes_.step += weight * rate(after, path_.v_before(point_before(index) + 1));
      gyrations_[index].pull_back(costate.alpha, after);
      if (is_end_free_ && is_after_kick) slopes_.step += weight * rate(after, v);
      if (seconds != 0.0) velocity = (after - costate.beta) / seconds;
    }
    set_heads(costate.beta, velocity);
    costate.beta = after;
    advance_environments(index);
  }

  void kick(std::size_t index, Costate& costate) {
    const Substep& substep = scheme_.substeps[index];
    const double seconds = substep.weight * h_;
    const std::size_t before = point_before(index);
    q_ = path_.q(before + 1);
    v_ = substep.velocity_after ? path_.v(before + 1) : path_.v_before(before + 1);
    const ForcePoint point{(static_cast<double>(step_) + nodes_[index]) * h_, q_, v_};
    forces_.evaluate(point);
    const bool has_cost = functional_.slopes(point, cost_by_q_, cost_by_v_);
    const bool depends_on_velocity = problem_.depends_on_velocity();
    if (substep.velocity_after) {
      if (has_cost) costate.beta += seconds * inverse_mass_.cwiseProduct(cost_by_v_);
      if (depends_on_velocity) {
        if (!forces_.is_by_v_constant() || undamped_[index].size() == 0) find_undamped(seconds, undamped_[index]);
        mu_.noalias() = undamped_[index].lazyProduct(costate.beta);
        costate.beta.swap(mu_);
      }
    }
    mu_ = costate.beta;
    impulse_ = seconds * mu_;
    functional_.collect(point, impulse_, seconds);
    if (is_end_free_)
      slopes_.step +=
          1.0 / h_ * mu_.dot(problem_.system().mass.cwiseProduct(path_.v(before + 1) - path_.v_before(before + 1)));
    if (!heads_.empty()) set_heads(mu_, inverse_mass_.cwiseProduct(costate.alpha));
    force_.setZero(mu_.size());
    for (std::size_t e = 0; e < heads_.size(); ++e) {
      force_on_head_.resize(heads_[e].x.size());
      steppers_[e]->force(heads_[e], force_on_head_);
      environments_.stepped_environments()[e]->attachment().distribute(force_on_head_, force_);
    }
    slopes_.origin -= seconds * force_;
    forces_.add_by_q(mu_, force_);
    if (has_cost) force_ += cost_by_q_;
    costate.alpha += seconds * force_;
    if (depends_on_velocity || has_cost) {
      change_.setZero(mu_.size());
      if (depends_on_velocity) change_.noalias() = forces_.by_v().transpose().lazyProduct(mu_);
      if (has_cost) change_ += cost_by_v_;
      change_.array() *= seconds * inverse_mass_.array();
      slopes_.mass -= change_.cwiseProduct(v_);
      if (!substep.velocity_after) costate.beta += change_;
    }
    advance_environments(index);
  }

  /// (1 - seconds f_v M^-1)^-T.
  void find_undamped(double seconds, Eigen::MatrixXd& inverse) const {
    inverse = -seconds * inverse_mass_.asDiagonal() * forces_.by_v().transpose();
    inverse.diagonal().array() += 1.0;
    inverse = inverse.size() == 1 ? inverse.cwiseInverse().eval() : inverse.partialPivLu().inverse().eval();
  }

  ExplicitScheme scheme_, reversed_;
  std::vector<double> nodes_;
  const Problem& problem_;
  const RecordedPath& path_;
  double h_;
  bool is_end_free_;
  std::int64_t step_;
  std::size_t kicks_ = 0;                  // in a step
  std::vector<std::size_t> kicks_before_;  // by substep
  Problem& environments_;
  PathFunctional& functional_;
  TransposedForces forces_;
  VectorXd inverse_mass_;
  ExplicitEnvironmentSteppers steppers_;
  std::vector<Head> heads_;
  std::vector<LumpedEnvironment*> decaying_;
  std::vector<Gyration> gyrations_;  // by substep
  std::vector<double> force_on_head_;
  std::vector<Eigen::MatrixXd> undamped_;  // likewise, of kicks with the velocity after them
  VectorXd q_, v_, mu_, impulse_, force_, change_, cost_by_q_, cost_by_v_;
};

}  // namespace

std::unique_ptr<CoStepper> make_explicit_co_stepper(const ExplicitScheme& scheme, const FinishedRun& run,
                                                    Problem& environments, PathFunctional& functional) {
  return std::make_unique<ExplicitCoStepper>(scheme, run, environments, functional);
}

}  // namespace bathline
