// Costates: for every environment of the catalogue, in every form, and every method that has costates, the co-run is
// the transpose of the run; on nonlinear systems it has the derivatives of central differences, and the same product
// with tangents at all times.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "environment_forms.hpp"
#include "method_cases.hpp"
#include "model/lumped/lumped.hpp"
#include "model/thermal/thermal_start.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "rank_subset.hpp"
#include "steppers/transposed/tangent_run.hpp"
#include "system_forms.hpp"

namespace bathline::costates_test {
namespace {

constexpr std::int64_t steps = 24;
constexpr double step = forms_step;

struct NoCost final : PathFunctional {
  bool slopes(const ForcePoints&, Eigen::MatrixXd&, Eigen::MatrixXd&) override { return false; }
  void collect(const ForcePoints&, const Eigen::MatrixXd&) override {}
};

/// Positions and momenta that are given.
class GivenStart final : public ThermalStart {
 public:
  explicit GivenStart(Eigen::VectorXd start) : start_(std::move(start)) {}
  void draw(std::uint64_t, std::uint32_t, const Eigen::VectorXd&, Eigen::VectorXd& q,
            Eigen::VectorXd& p) const override {
    q = start_.head(q.size());
    p = start_.tail(p.size());
  }
  bool is_warm() const override { return false; }
  std::string description() const override { return "given"; }

 private:
  Eigen::VectorXd start_;
};

/// q and p at the end of the run of a problem.
Eigen::VectorXd end_of(Problem problem, const Scheme& scheme, const Eigen::VectorXd& start, RecordedPath* path,
                       double h = step) {
  const Eigen::Index n = problem.q.size();
  problem.set_thermal_start(std::make_shared<GivenStart>(start));
  problem.prepare(5);
  if (path != nullptr && problem.communicator().is_root()) path->add(problem.q, problem.velocity());
  RecordedPath own(n, problem.system().magnetic_field != 0.0);
  const auto stepper = make_recording_stepper(scheme, problem, h, path != nullptr ? *path : own);
  EXPECT_FALSE(stepper->advance(steps));
  problem.broadcast_particles();
  Eigen::VectorXd end(2 * n);
  end << problem.q, problem.p;
  return end;
}

/// The rows of the step matrix of all steps, times `weights`.
Eigen::VectorXd pulled_back(const Problem& problem, Problem& environments, const Scheme& scheme,
                            const RecordedPath& path, const Eigen::VectorXd& weights, double h = step,
                            double* by_step = nullptr) {
  const Eigen::Index n = problem.q.size();
  NoCost none;
  const FinishedRun run{scheme, problem, path, steps, h, by_step != nullptr};
  Costate costate;
  if (problem.communicator().is_root()) costate = {weights.head(n), weights.tail(n)};
  const auto co_stepper = make_co_stepper(run, environments, none);
  // In two parts, as between records.
  EXPECT_FALSE(co_stepper->pull_back(steps / 3, costate));
  EXPECT_FALSE(co_stepper->pull_back(steps - steps / 3, costate));
  if (by_step != nullptr) *by_step = co_stepper->slopes().step;
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

bool has_co_run(const Environment& environment, const Scheme& scheme) {
  return environment.properties().is_linear && environment.properties().temperature == 0.0 &&
         !environment.unsupported_reason(scheme) && !environment.unsupported_reason(reversed(scheme)) &&
         !(environment.properties().loses_energy && environment.properties().sites > 0 &&
           dynamic_cast<const LumpedEnvironment*>(&environment) == nullptr);
}

// The differences of linear runs have no error but round-off.
TEST(MpiCostates, AreTheTransposeOfEveryLinearRun) {
  RankSubset subset(5);
  for (const Form& form : all_forms()) {
    for (const MethodCase& method : method_cases()) {
      if (why_no_pull_back(method.scheme) || !subset.takes_next()) continue;
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

/// Checks the costate of weights.(q, p) at the end, and its derivative by the step where that is known, against
/// differences of order 6; `make` makes the problem.
template <class Make>
void expect_derivatives(const Make& make, const MethodCase& method, const Eigen::VectorXd& start, double h = step) {
  const Eigen::Index size = start.size();
  const Eigen::VectorXd weights = random_vector(size, 5), change = random_vector(size, 4);
  RecordedPath path(size / 2, make().system().magnetic_field != 0.0);
  const Eigen::VectorXd end = end_of(make(), method.scheme, start, &path, h);
  ASSERT_TRUE(end.allFinite());
  Problem problem = make(), environments = make();
  double by_step = 0.0;
  const Eigen::VectorXd costate = pulled_back(problem, environments, method.scheme, path, weights, h, &by_step);
  constexpr double d = 1e-3;
  const auto slope = [&](const auto& value) {
    const auto odd = [&](double by) { return value(by) - value(-by); };
    return (0.75 * odd(d) - 0.15 * odd(2.0 * d) + odd(3.0 * d) / 60.0) / d;
  };
  const double expected =
      slope([&](double x) { return weights.dot(end_of(make(), method.scheme, start + x * change, nullptr, h)); });
  EXPECT_NEAR(costate.dot(change), expected, 1e-9 * (1.0 + costate.norm() + end.norm()));
  if (!problem.stepped_environments().empty() || problem.system().is_driven()) return;
  const double by_relative_step =
      slope([&](double x) { return weights.dot(end_of(make(), method.scheme, start, nullptr, h * (1.0 + x))); });
  if (!problem.communicator().is_root()) return;
  EXPECT_NEAR(h * by_step, by_relative_step, 1e-9 * (1.0 + end.norm()));
}

TEST(MpiCostates, AreDerivativesOnEverySystem) {
  int count = 0;
  for (const SystemKind& kind : systems()) {
    const ParticleSystem system = build(kind);
    if (system.lagrangian || system.contact) continue;
    Eigen::VectorXd start(2 * system.size());
    start << system.q0 + 0.2 * random_vector(system.size(), 1),
        system.mass.cwiseProduct(0.3 * random_vector(system.size(), 2));
    for (const double field : {0.0, 0.7}) {
      if (field != 0.0 && system.size() != 2) continue;
      const auto make = [&] {
        ParticleSystem in_field = system;
        in_field.magnetic_field = field;
        Problem problem(in_field, *system.damping, {}, test_world());
        problem.prepare(5);
        return problem;
      };
      for (const MethodCase& method : method_cases()) {
        if (why_no_pull_back(method.scheme)) continue;
        SCOPED_TRACE(fmt::format("{} in the field {}, {}", kind.entry.name, field, method.name));
        expect_derivatives(make, method, start, 0.01);  // before masses meet
        ++count;
      }
    }
  }
  EXPECT_GT(count, 100);
}

TEST(MpiCostates, AreDerivativesOfNonlinearMotionInEveryEnvironment) {
  RankSubset subset(3);
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
      if (++index % stride != 0 || !subset.takes_next()) continue;
      SCOPED_TRACE(form.name + ", " + method.name);
      expect_derivatives(make, method, 0.7 * random_vector(8, 3));
    }
  }
}

/// The largest difference between the products of a costate and a tangent after a third of the steps, where the
/// environments are at the particles' sides alone, and at the ends; over the size of their factors.
template <class Make>
double product_error(const Make& make, const ParticleSystem& system, const MethodCase& method,
                     const Eigen::VectorXd& start, double h, bool is_open) {
  const Eigen::Index n = start.size() / 2;
  const Eigen::VectorXd weights = random_vector(2 * n, 5), change = random_vector(2 * n, 4);
  Problem problem = make(nullptr), environments = make(nullptr);
  RecordedPath path(n);
  EXPECT_TRUE(end_of(make(nullptr), method.scheme, start, &path, h).allFinite());
  const FinishedRun run{method.scheme, problem, path, steps, h};
  const bool is_root = problem.communicator().is_root();
  const Preparation given{system, [&](const ParticleSystem& linear) { return make(&linear); }};
  const PathChange start_alone{change.head(n), change.tail(n).cwiseQuotient(system.mass),
                               Eigen::MatrixXd::Zero(n, is_root ? static_cast<Eigen::Index>(path.points()) - 1 : 0)};
  TangentRun tangent(run, start_alone, given);
  NoCost none;
  const auto co_stepper = make_co_stepper(run, environments, none);
  Costate costate;
  if (is_root) costate = {weights.head(n), weights.tail(n)};
  const auto product = [&] {
    return costate.alpha.dot(tangent.q()) + costate.beta.dot(problem.system().mass.cwiseProduct(tangent.v()));
  };
  EXPECT_FALSE(tangent.advance(steps / 3));
  const Eigen::VectorXd q = tangent.q(), v = tangent.v();
  EXPECT_FALSE(tangent.advance(steps - steps / 3));
  const double at_end = is_root ? product() : 0.0;
  EXPECT_FALSE(co_stepper->pull_back(steps - steps / 3, costate));
  const double within = !is_root ? 0.0 : costate.alpha.dot(q) + costate.beta.dot(problem.system().mass.cwiseProduct(v));
  EXPECT_FALSE(co_stepper->pull_back(steps / 3, costate));
  if (!is_root) return 0.0;
  const double at_start =
      (costate.alpha + co_stepper->slopes().origin).dot(change.head(n)) + costate.beta.dot(change.tail(n));
  const double size = 1.0 + costate.alpha.norm() + costate.beta.norm() + tangent.q().norm() + tangent.v().norm();
  return std::max(std::abs(at_start - at_end), is_open ? std::abs(at_start - within) : 0.0) / size;
}

// Neither has an error but round-off.
TEST(MpiCostates, HaveTheSameProductWithTangentsAtAllTimes) {
  RankSubset subset(4);
  for (const SystemKind& kind : systems()) {
    const ParticleSystem system = build(kind);
    if (system.lagrangian || system.contact || system.magnetic_field != 0.0) continue;
    Eigen::VectorXd start(2 * system.size());
    start << system.q0 + 0.2 * random_vector(system.size(), 1),
        system.mass.cwiseProduct(0.3 * random_vector(system.size(), 2));
    const auto make = [&](const ParticleSystem* other) {
      Problem problem(other != nullptr ? *other : system, *system.damping, {}, test_world());
      problem.prepare(5);
      return problem;
    };
    for (const MethodCase& method : method_cases()) {
      if (why_no_pull_back(method.scheme) || !subset.takes_next()) continue;
      SCOPED_TRACE(kind.entry.name + ", " + method.name);
      EXPECT_LT(product_error(make, system, method, start, 0.01, true), 1e-13);
    }
  }
  for (const Form& form : all_forms()) {
    RandomNumbers random(81);
    ParticleSystem system = random_particles(2, 2, random);
    system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Identity(4, 4), 0.5);
    const auto make = [&](const ParticleSystem* other) {
      std::vector<std::unique_ptr<Environment>> all;
      all.push_back(build(form, test_world()));
      Problem problem(other != nullptr ? *other : system, Eigen::MatrixXd::Zero(4, 4), std::move(all), test_world());
      problem.prepare(5);
      return problem;
    };
    std::size_t index = 0;
    const std::size_t stride = make(nullptr).environments()[0]->properties().sites == 0 ? 7 : 2;
    for (const MethodCase& method : method_cases()) {
      if (why_no_pull_back(method.scheme) || !has_co_run(*make(nullptr).environments()[0], method.scheme)) continue;
      if (++index % stride != 0 || !subset.takes_next()) continue;
      SCOPED_TRACE(form.name + ", " + method.name);
      EXPECT_LT(product_error(make, system, method, 0.7 * random_vector(8, 3), step, false), 1e-13);
    }
  }
}

}  // namespace
}  // namespace bathline::costates_test
