// Implicit schemes on nonuniform lines: a step against dense linear algebra, a nonlinear particle with its line against
// the stage equations of both together, and invariants and orders of runs.
#include <gtest/gtest.h>

#include <Eigen/SparseLU>

#include "rank_subset.hpp"
#include "steppers/stepper.hpp"
#include "method_cases.hpp"
#include "on_rank_zero.hpp"
#include "petsc_options.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "random_numbers.hpp"
#include "scene.hpp"
#include "nonuniform_sites.hpp"

namespace bathline::nonuniform_test {
namespace {

using Site = std::function<LineSite(std::int64_t)>;

const std::vector<OneStage>& schemes() {
  static const std::vector<OneStage> all = {
      {0.5, 0.5, 0.5, 0.5}, {0.25, 0.75, 0.75, 0.25}, {0.75, 0.25, 0.25, 0.75}, {1.0, 1.0, 0.0, 0.0}};
  return all;
}

Line make_line(const Site& site, FarEnd far_end, int sites, int axes) {
  return Line("line", Attachment({{0, 1.0}}, axes), {.mass = 1.3, .stiffness = 2.9, .far_end = far_end}, sites,
              test_world(), {.table = site_table(site)});
}

struct StepCase {
  FarEnd far_end;
  int sites;
  OneStage scheme;
  double h;
};

/// One step of two axes. @note Collective.
void expect_a_step_to_equal_the_dense_one(const StepCase& c) {
  SCOPED_TRACE(testing::Message() << "far end " << static_cast<int>(c.far_end) << ", " << c.sites
                                  << " sites, a = " << c.scheme.a << ", h = " << c.h);
  constexpr int axes = 2;
  Line line = make_line(nonuniform_site, c.far_end, c.sites, axes);
  // Before there is a state, as in a check of a recipe.
  const auto environment_stepper = line.implicit_stepper(one_stage(c.scheme.b, c.scheme.a), c.h);
  EXPECT_EQ(environment_stepper->max_block_steps(), 0);
  line.prepare({});
  RandomNumbers random(17);
  const std::vector<double> w = random.list(static_cast<std::size_t>(c.sites * axes));
  const std::vector<double> p = random.list(static_cast<std::size_t>(c.sites * axes));
  line.scatter_state(w, p);
  const std::vector<double> head = {0.4, -0.9}, velocity = {-0.3, 0.6};
  StageResponse response;
  ASSERT_TRUE(environment_stepper->condense(head, response));
  EXPECT_GT(response.damping(0, 0), 0.0);
  environment_stepper->back_substitute(Eigen::RowVectorXd{{-0.3, 0.6}});
  std::vector<double> end_w, end_p;
  line.gather_state(end_w, end_p);
  const double dissipated = line.energy(head).dissipated;

  double work = 0.0;
  on_rank_zero([&] {
    const DenseLine dense(nonuniform_site, c.far_end, c.sites);
    for (int axis = 0; axis < axes; ++axis) {
      using Strided = Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<axes>>;
      const DenseLineStep expected(dense, c.scheme, c.h, Strided(w.data() + axis, c.sites),
                                   Strided(p.data() + axis, c.sites), head[axis], velocity[axis]);
      work += expected.work;
      // The force is a small difference of terms that grow with h and with the length of the line.
      EXPECT_NEAR(response.constant(0, axis) - response.damping(0, 0) * velocity[axis], expected.force,
                  1e-13 + 2e-14 * c.h * (1.0 + c.sites));
      const double scale_w = 1.0 + expected.w.cwiseAbs().maxCoeff(), scale_p = 1.0 + expected.p.cwiseAbs().maxCoeff();
      // Round-off of the stage momenta is multiplied by h.
      for (int j = 0; j < c.sites; ++j) {
        EXPECT_NEAR(end_w[j * axes + axis], expected.w[j], 4e-13 * scale_w * (1.0 + c.h)) << "site " << j;
        EXPECT_NEAR(end_p[j * axes + axis], expected.p[j], 4e-13 * scale_p * (1.0 + c.h)) << "site " << j;
      }
    }
  });
  test_world().broadcast(std::span<double>(&work, 1));
  EXPECT_NEAR(dissipated, work, 1e-11 * (1.0 + work));
}

TEST(MpiNonuniformLine, EqualsADenseSolution) {
  RankSubset subset(7);
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    for (const int sites : {1, 2, 41, 127, 200}) {
      for (const OneStage& scheme : schemes()) {
        for (const double h : {0.01, 0.7, 12.0, 1000.0}) {
          if (!subset.takes_next()) continue;
          expect_a_step_to_equal_the_dense_one({far_end, sites, scheme, h});
        }
      }
    }
  }
}

TEST(MpiNonuniformLine, EqualsADenseSolutionThroughPetsc) {
  const PetscOptionsScope options({{"-ksp_type", "cg"}, {"-pc_type", "jacobi"}});
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    for (const int sites : {1, 127}) expect_a_step_to_equal_the_dense_one({far_end, sites, schemes()[1], 0.7});
  }
}

/// A particle with a hardening spring in the plane, attached to the given line.
Problem make_problem(const Site& site, FarEnd far_end, std::int64_t sites, double quartic) {
  RandomNumbers random(5);
  ParticleSystem system = random_particles(1, 2, random);
  system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd{{1.1, 0.2}, {0.2, 0.7}}, quartic);
  std::vector<std::unique_ptr<Environment>> environments;
  environments.push_back(std::make_unique<Line>("line", Attachment({{0, 1.0}}, 2),
                                                LineConstants{.mass = 1.3, .stiffness = 2.9, .far_end = far_end}, sites,
                                                test_world(), LineOptions{.table = site_table(site)}));
  Problem problem(system, Eigen::MatrixXd::Zero(2, 2), std::move(environments), test_world());
  problem.prepare();
  return problem;
}

/// The final state of a run. @note Collective.
PhasePoint run(Problem& problem, const Scheme& scheme, double h, int steps) {
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, h);
  EXPECT_FALSE(stepper->advance(steps).has_value());
  return get_state(problem);
}

/// M u'' = f(u) - C u' for the particle and all sites, site by site and axis by axis.
struct WholeSystem {
  WholeSystem(const Problem& problem, FarEnd far_end, int sites)
      : system(problem.system()),
        particle(system.size()),
        mass(particle + 2 * sites),
        damping(Eigen::VectorXd::Zero(mass.size())),
        springs(Eigen::MatrixXd::Zero(mass.size(), mass.size())) {
    const DenseLine line(nonuniform_site, far_end, sites);
    mass.head(particle) = system.mass;
    for (int axis = 0; axis < 2; ++axis) {
      const auto index = [&](int j) { return particle + 2 * j + axis; };
      springs(axis, axis) += line.first_spring;
      springs(axis, index(0)) = springs(index(0), axis) = -line.first_spring;
      for (int i = 0; i < sites; ++i) {
        mass[index(i)] = line.mass[i];
        for (int j = 0; j < sites; ++j) springs(index(i), index(j)) = line.stiffness(i, j);
      }
      damping[index(sites - 1)] = line.dashpot;
    }
  }
  Eigen::VectorXd force(const Eigen::VectorXd& u) const {
    Eigen::VectorXd gradient(particle), all = -springs * u;
    system.potential->gradient(system.q0 + u.head(particle), gradient);
    all.head(particle) -= gradient;
    return all;
  }
  Eigen::MatrixXd stiffness(const Eigen::VectorXd& u) const {
    Eigen::MatrixXd hessian(particle, particle), all = springs;
    system.potential->hessian(system.q0 + u.head(particle), hessian);
    all.topLeftCorner(particle, particle) += hessian;
    return all;
  }

  /// One step, with Newton's method for all stage velocities at once:
  /// M V_i = p + h sum_j a^_ij (f(U_j) - C V_j),  U_i = u + h sum_j a_ij V_j.
  void step(const PartitionedRungeKutta& s, double h, PhasePoint& point) const {
    const Eigen::Index n = mass.size(), stages = s.stages();
    Eigen::MatrixXd velocity(n, stages), position(n, stages), forces(n, stages);
    velocity.colwise() = point.p.cwiseQuotient(mass);
    for (int iteration = 0; iteration < 8; ++iteration) {
      Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(n * stages, n * stages);
      for (Eigen::Index j = 0; j < stages; ++j) {
        position.col(j) = point.u + h * velocity * s.a.row(j).transpose();
        forces.col(j) = force(position.col(j)) - damping.cwiseProduct(velocity.col(j));
        const Eigen::MatrixXd hessian = stiffness(position.col(j));
        for (Eigen::Index i = 0; i < stages; ++i) {
          for (Eigen::Index k = 0; k < stages; ++k) {
            jacobian.block(i * n, k * n, n, n) += h * h * s.a_hat(i, j) * s.a(j, k) * hessian;
          }
          jacobian.block(i * n, j * n, n, n).diagonal() += h * s.a_hat(i, j) * damping;
        }
        jacobian.block(j * n, j * n, n, n).diagonal() += mass;
      }
      Eigen::MatrixXd residual = mass.asDiagonal() * velocity - h * forces * s.a_hat.transpose();
      residual.colwise() -= point.p;
      // The matrix is sparse.
      const Eigen::SparseLU<Eigen::SparseMatrix<double>> factors(jacobian.sparseView());
      velocity -= factors.solve(residual.reshaped()).reshaped(n, stages);
    }
    for (Eigen::Index j = 0; j < stages; ++j) position.col(j) = point.u + h * velocity * s.a.row(j).transpose();
    for (Eigen::Index j = 0; j < stages; ++j) {
      point.p += h * s.b[j] * (force(position.col(j)) - damping.cwiseProduct(velocity.col(j)));
    }
    point.u += h * velocity * s.b;
  }

  ParticleSystem system;
  Eigen::Index particle;
  Eigen::VectorXd mass, damping;
  Eigen::MatrixXd springs;
};

TEST(MpiNonuniformLine, ANonlinearParticleOnItSolvesTheStageEquationsOfTheWhole) {
  constexpr double h = 0.4;
  constexpr int steps = 5;
  RankSubset subset(5);
  for (const char* name : {"gauss(stages=1)", "gauss(stages=2)", "gauss(stages=3)", "gauss(stages=4)",
                           "lobatto(stages=3)", "lobatto(stages=4)"}) {
    for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
      for (const int sites : {1, 85}) {
        if (!subset.takes_next()) continue;
        SCOPED_TRACE(testing::Message() << name << ", far end " << static_cast<int>(far_end) << ", " << sites);
        const auto scheme = std::get<PartitionedRungeKutta>(method_case(name).scheme);
        Problem problem = make_problem(nonuniform_site, far_end, sites, 0.8);
        const WholeSystem whole(problem, far_end, sites);
        RandomNumbers random(29);
        PhasePoint expected = random_point(static_cast<int>(whole.mass.size()), 1.0, random);
        set_state(problem, expected);
        const PhasePoint actual = run(problem, scheme, h, steps);
        on_rank_zero([&] {
          for (int k = 0; k < steps; ++k) whole.step(scheme, h, expected);
          EXPECT_LT((actual.u - expected.u).cwiseAbs().maxCoeff(), 1e-12);
          EXPECT_LT((actual.p - expected.p).cwiseAbs().maxCoeff(), 1e-12);
        });
      }
    }
  }
}

TEST(MpiNonuniformLine, UniformSitesAgreeWithTheUniformLine) {
  RankSubset subset(4);
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    for (const std::int64_t sites : {1, 90, 300}) {
      SCOPED_TRACE(testing::Message() << "far end " << static_cast<int>(far_end) << ", " << sites << " sites");
      for (const Scheme& scheme : {Scheme(one_stage(schemes()[1].b, schemes()[1].a)),
                                   method_case("gauss(stages=3)").scheme, method_case("lobatto(stages=4)").scheme}) {
        if (!subset.takes_next()) continue;
        Problem uniform = make_problem({}, far_end, sites, 0.8);
        Problem nonuniform = make_problem([](std::int64_t) { return LineSite{1.3, 2.9}; }, far_end, sites, 0.8);
        const PhasePoint expected = run(uniform, scheme, 0.3, 50), actual = run(nonuniform, scheme, 0.3, 50);
        EXPECT_LT((actual.u - expected.u).cwiseAbs().maxCoeff(), 1e-13);
        EXPECT_LT((actual.p - expected.p).cwiseAbs().maxCoeff(), 1e-13);
        EXPECT_NEAR(nonuniform.energies().dissipated, uniform.energies().dissipated, 1e-13);
      }
    }
  }
}

TEST(MpiNonuniformLine, GaussConservesTheEnergyOfALinearSystem) {
  RankSubset subset(4);
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free}) {
    for (const char* name : {"gauss(stages=1)", "gauss(stages=2)", "gauss(stages=4)"}) {
      if (!subset.takes_next()) continue;
      Problem problem = make_problem(nonuniform_site, far_end, 150, 0.0);
      const double before = problem.energies().total();
      run(problem, method_case(name).scheme, 0.4, 1000);
      EXPECT_NEAR(problem.energies().total(), before, 1e-12 * before) << name;
      EXPECT_GT(problem.environments().front()->energy(std::vector<double>{0.0, 0.0}).environment, 0.1 * before);
    }
  }
}

TEST(MpiNonuniformLine, SchemesHaveTheirOrder) {
  struct Case {
    const char* name;
    int steps, order;
  };
  for (const auto& [name, steps, order] :
       {Case{"gauss(stages=1)", 100, 2}, {"gauss(stages=2)", 20, 4}, {"lobatto(stages=3)", 20, 4}}) {
    for (const FarEnd far_end : {FarEnd::fixed, FarEnd::matched}) {
      const auto end = [&](const Scheme& scheme, int count) {
        Problem problem = make_problem(nonuniform_site, far_end, 45, 0.6);
        return run(problem, scheme, 3.0 / count, count);
      };
      const PhasePoint exact = end(ExactFlow{}, 1);
      const auto error = [&, &name = name](int count) {
        const PhasePoint actual = end(method_case(name).scheme, count);
        return (actual.u - exact.u).norm() + (actual.p - exact.p).norm();
      };
      const double coarse = error(steps), fine = error(2 * steps);
      EXPECT_NEAR(std::log2(coarse / fine), order, 0.1) << name;
      EXPECT_LT(fine, 1e-3);
    }
  }
}

}  // namespace
}  // namespace bathline::nonuniform_test
