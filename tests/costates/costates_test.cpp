// Costates: for every environment of the catalogue, in every form, and every method that has costates, the co-run is
// the transpose of the run; on nonlinear systems it has the derivatives of central differences.
#include <gtest/gtest.h>

#include <cmath>

#include "environment_forms.hpp"
#include "method_cases.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "steppers/transposed/co_stepper.hpp"
#include "system_forms.hpp"

namespace bathline::costates_test {
namespace {

constexpr std::int64_t steps = 24;
constexpr double step = forms_step;

struct NoCost final : PathFunctional {
  bool slopes(const ForcePoint&, Eigen::VectorXd&, Eigen::VectorXd&) override { return false; }
  void collect(const ForcePoint&, const Eigen::VectorXd&, double) override {}
};

/// q and p at the end of the run of a problem that has been prepared.
Eigen::VectorXd end_of(Problem problem, const Scheme& scheme, const Eigen::VectorXd& start, RecordedPath* path,
                       double h = step) {
  const Eigen::Index n = problem.q.size();
  problem.q = start.head(n);
  problem.p = start.tail(n);
  for (Environment* environment : problem.stepped_environments()) environment->begin_at(problem.q);
  if (path != nullptr && problem.communicator().is_root()) path->add(problem.q, problem.velocity());
  RecordedPath own(n);
  const auto stepper = make_recording_stepper(scheme, problem, h, path != nullptr ? *path : own);
  EXPECT_FALSE(stepper->advance(steps));
  problem.broadcast_particles();
  Eigen::VectorXd end(2 * n);
  end << problem.q, problem.p;
  return end;
}

/// The rows of the step matrix of all steps, times `weights`.
Eigen::VectorXd pulled_back(const Problem& problem, Problem& environments, const Scheme& scheme,
                            const RecordedPath& path, const Eigen::VectorXd& weights, double h = step) {
  const Eigen::Index n = problem.q.size();
  NoCost none;
  const FinishedRun run{scheme, problem, path, steps, h};
  Costate costate;
  if (problem.communicator().is_root()) costate = {weights.head(n), weights.tail(n)};
  const auto co_stepper = make_co_stepper(run, environments, none);
  // In two parts, as between records.
  EXPECT_FALSE(co_stepper->pull_back(steps / 3, costate));
  EXPECT_FALSE(co_stepper->pull_back(steps - steps / 3, costate));
  Eigen::VectorXd start(2 * n);
  if (problem.communicator().is_root()) start << costate.alpha + co_stepper->slopes().origin, costate.beta;
  problem.communicator().broadcast(std::span<double>(start.data(), static_cast<std::size_t>(2 * n)));
  return start;
}

Eigen::VectorXd random_vector(Eigen::Index size, std::uint64_t seed) {
  RandomNumbers random(seed);
  Eigen::VectorXd x(size);
  for (double& value : x) value = random.uniform();
  return x;
}

/// Whether positions and momenta have the same matrix of stages.
bool is_same_pair(const Scheme& scheme) {
  const auto* pair = std::get_if<PartitionedRungeKutta>(&scheme);
  return pair != nullptr && pair->a.isApprox(pair->a_hat);
}

bool has_co_run(const Environment& environment, const Scheme& scheme) {
  return environment.properties().is_linear && environment.properties().temperature == 0.0 &&
         !environment.unsupported_reason(scheme) && !environment.unsupported_reason(reversed(scheme)) &&
         !(environment.properties().loses_energy && environment.properties().sites > 0 && !is_same_pair(scheme));
}

// The differences of linear runs have no error but round-off.
TEST(MpiCostates, AreTheTransposeOfEveryLinearRun) {
  for (const Form& form : all_forms()) {
    for (const MethodCase& method : method_cases()) {
      if (why_no_pull_back(method.scheme)) continue;
      SCOPED_TRACE(form.name + ", " + method.name);
      Problem problem = problem_with(form, test_world()), environments = problem_with(form, test_world());
      if (!has_co_run(*problem.environments()[0], method.scheme)) continue;
      const Eigen::VectorXd start = random_vector(8, 3), change = random_vector(8, 4), weights = random_vector(8, 5);
      RecordedPath path(4);
      const Eigen::VectorXd first = end_of(problem_with(form, test_world()), method.scheme, start, &path);
      const Eigen::VectorXd second = end_of(problem_with(form, test_world()), method.scheme, start + change, nullptr);
      const Eigen::VectorXd costate = pulled_back(problem, environments, method.scheme, path, weights);
      const double expected = weights.dot(second - first);
      EXPECT_NEAR(costate.dot(change), expected, 2e-13 * (1.0 + costate.norm() + second.norm()));
      EXPECT_GT(std::abs(expected), 1e-3);
    }
  }
}

/// Checks the costate of weights.(q, p) at the end against differences of order 6; `make` makes the problem.
template <class Make>
void expect_derivatives(const Make& make, const MethodCase& method, const Eigen::VectorXd& start, double h = step) {
  const Eigen::Index size = start.size();
  const Eigen::VectorXd weights = random_vector(size, 5), change = random_vector(size, 4);
  RecordedPath path(size / 2);
  const Eigen::VectorXd end = end_of(make(), method.scheme, start, &path, h);
  ASSERT_TRUE(end.allFinite());
  Problem problem = make(), environments = make();
  const Eigen::VectorXd costate = pulled_back(problem, environments, method.scheme, path, weights, h);
  const auto odd = [&](double by) {
    const auto value = [&](double x) {
      return weights.dot(end_of(make(), method.scheme, start + x * change, nullptr, h));
    };
    return value(by) - value(-by);
  };
  constexpr double d = 1e-3;
  const double expected = (0.75 * odd(d) - 0.15 * odd(2.0 * d) + odd(3.0 * d) / 60.0) / d;
  EXPECT_NEAR(costate.dot(change), expected, 1e-9 * (1.0 + costate.norm() + end.norm()));
}

TEST(MpiCostates, AreDerivativesOnEverySystem) {
  int count = 0;
  for (const SystemKind& kind : systems()) {
    const ParticleSystem system = build(kind);
    if (system.lagrangian || system.contact) continue;
    Eigen::VectorXd start(2 * system.size());
    start << system.q0 + 0.2 * random_vector(system.size(), 1),
        system.mass.cwiseProduct(0.3 * random_vector(system.size(), 2));
    const auto make = [&] {
      Problem problem(system, *system.damping, {}, test_world());
      problem.prepare(5);
      return problem;
    };
    for (const MethodCase& method : method_cases()) {
      if (why_no_pull_back(method.scheme)) continue;
      SCOPED_TRACE(kind.entry.name + ", " + method.name);
      expect_derivatives(make, method, start, 0.01);  // before masses meet
      ++count;
    }
  }
  EXPECT_GT(count, 100);
}

TEST(MpiCostates, AreDerivativesOfNonlinearMotionInEveryEnvironment) {
  for (const Form& form : all_forms()) {
    const auto make = [&] {
      RandomNumbers random(81);
      ParticleSystem system = random_particles(2, 2, random);
      system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Identity(4, 4), 0.5);
      std::vector<std::unique_ptr<Environment>> all;
      all.push_back(build(form, test_world()));
      Problem problem(system, Eigen::MatrixXd::Zero(4, 4), std::move(all), test_world());
      problem.prepare(5);
      return problem;
    };
    // Semi-infinite lines compute their exponentials for every problem, which takes long.
    std::size_t index = 0;
    const std::size_t stride = make().environments()[0]->properties().sites == 0 ? 7 : 2;
    for (const MethodCase& method : method_cases()) {
      if (why_no_pull_back(method.scheme) || !has_co_run(*make().environments()[0], method.scheme)) continue;
      if (++index % stride != 0) continue;
      SCOPED_TRACE(form.name + ", " + method.name);
      expect_derivatives(make, method, 0.7 * random_vector(8, 3));
    }
  }
}

}  // namespace
}  // namespace bathline::costates_test
