// Implicit schemes on lines and heat baths: the condensed environment and the step of its sites against one dense
// linear system of all sites and stages.
#include <gtest/gtest.h>

#include <Eigen/SparseLU>
#include <cmath>
#include <unsupported/Eigen/KroneckerProduct>

#include "method_cases.hpp"
#include "model/line/line.hpp"
#include "model/discrete_spectrum.hpp"
#include "model/modes/oscillator_bath.hpp"
#include "on_rank_zero.hpp"
#include "petsc_options.hpp"
#include "petsc_world.hpp"
#include "random_numbers.hpp"
#include "nonuniform_sites.hpp"
#include "rank_subset.hpp"

namespace bathline::stages_test {
namespace {

/// M w'' = -K w + g x - C w', force on the head sum g_j w_j - x sum g_j.
struct Dense {
  Eigen::VectorXd mass;
  Eigen::MatrixXd stiffness, damping;
  Eigen::VectorXd to_head;

  explicit Dense(const LumpedNetwork& chain) : mass(static_cast<Eigen::Index>(chain.mass.size())) {
    const auto n = mass.size();
    for (Eigen::Index j = 0; j < n; ++j) mass[j] = chain.mass[static_cast<std::size_t>(j)];
    stiffness = damping = Eigen::MatrixXd::Zero(n, n);
    to_head = Eigen::VectorXd::Zero(n);
    for (const auto& [i, j, k] : chain.springs) {
      stiffness(i, i) += k;
      stiffness(j, j) += k;
      stiffness(i, j) -= k;
      stiffness(j, i) -= k;
    }
    for (const auto& [j, k] : chain.to_head) {
      stiffness(j, j) += k;
      to_head[j] += k;
    }
    for (const auto& [j, k] : chain.to_ground) stiffness(j, j) += k;
    for (const auto& [j, d] : chain.dashpots) damping(j, j) += d;
  }
};

/// One column per axis.
struct DenseStep {
  Eigen::MatrixXd w, p;
  Eigen::MatrixXd forces;  // on the head, one row per stage
  double work = 0.0;       // energy dissipated by the dashpots
};

DenseStep dense_step(const Dense& d, const PartitionedRungeKutta& s, double h, const Eigen::MatrixXd& w,
                     const Eigen::MatrixXd& p, const Eigen::RowVectorXd& head, const Eigen::MatrixXd& velocities) {
  const auto n = w.rows(), axes = w.cols();
  const Eigen::Index stages = s.stages();
  const Eigen::MatrixXd heads = head.replicate(stages, 1) + h * s.a * velocities;
  const Eigen::DiagonalMatrix<double, Eigen::Dynamic> drift(d.mass.cwiseInverse());
  // Stage momenta, site by site within a stage: P = 1 p + h a^ (g x - K W - C P/M),  W = 1 w + h a P/M.
  const Eigen::MatrixXd system =
      Eigen::MatrixXd::Identity(n * stages, n * stages) +
      h * h * Eigen::kroneckerProduct(s.a_hat * s.a, Eigen::MatrixXd(d.stiffness * drift)).eval() +
      h * Eigen::kroneckerProduct(s.a_hat, Eigen::MatrixXd(d.damping * drift)).eval();
  Eigen::MatrixXd right(n * stages, axes);
  for (Eigen::Index i = 0; i < stages; ++i) {
    Eigen::MatrixXd force = Eigen::MatrixXd::Zero(n, axes);
    for (Eigen::Index j = 0; j < stages; ++j) force += s.a_hat(i, j) * (d.to_head * heads.row(j) - d.stiffness * w);
    right.middleRows(i * n, n) = p + h * force;
  }
  // A sparse decomposition, as most entries are zero.
  const Eigen::SparseLU<Eigen::SparseMatrix<double>> factors(system.sparseView());
  const Eigen::MatrixXd momenta = factors.solve(right);
  DenseStep end{w, p, Eigen::MatrixXd(stages, axes)};
  for (Eigen::Index i = 0; i < stages; ++i) {
    Eigen::MatrixXd displacement = w;
    for (Eigen::Index j = 0; j < stages; ++j) displacement += h * s.a(i, j) * drift * momenta.middleRows(j * n, n);
    const Eigen::MatrixXd velocity = drift * momenta.middleRows(i * n, n);
    end.forces.row(i) = d.to_head.transpose() * displacement - d.to_head.sum() * heads.row(i);
    end.w += h * s.b[i] * velocity;
    end.p += h * s.b[i] * (d.to_head * heads.row(i) - d.stiffness * displacement - d.damping * velocity);
    end.work += h * s.b[i] * velocity.cwiseProduct(d.damping * velocity).sum();
  }
  return end;
}

void expect_dense_step(Environment& environment, const PartitionedRungeKutta& scheme, double h) {
  constexpr int axes = 2;
  const auto sites = static_cast<int>(environment.properties().sites);
  const auto environment_stepper = environment.implicit_stepper(scheme, h);  // needs no storage
  environment.prepare({});
  RandomNumbers random(17);
  const std::vector<double> w = random.list(static_cast<std::size_t>(sites * axes));
  const std::vector<double> p = random.list(static_cast<std::size_t>(sites * axes));
  environment.scatter_state(w, p);
  const std::vector<double> head = {0.4, -0.9};
  Eigen::MatrixXd velocities(scheme.stages(), axes);
  for (double& v : velocities.reshaped()) v = random.uniform();
  StageResponse response;
  ASSERT_TRUE(environment_stepper->condense(head, response)) << environment_stepper->failure();
  environment_stepper->back_substitute(velocities);
  std::vector<double> end_w, end_p;
  environment.gather_state(end_w, end_p);
  const double dissipated = environment.energy(head).dissipated;
  on_rank_zero([&] {
    const Dense dense(environment.assemble(sites));
    // Rows are sites here and in the lists.
    using Sites = Eigen::Matrix<double, Eigen::Dynamic, axes, Eigen::RowMajor>;
    const auto matrix = [&](const std::vector<double>& list) {
      return Eigen::Map<const Sites>(list.data(), sites, axes);
    };
    const DenseStep expected = dense_step(dense, scheme, h, matrix(w), matrix(p),
                                          Eigen::Map<const Eigen::RowVector2d>(head.data()), velocities);
    for (int axis = 0; axis < axes; ++axis) {
      const Eigen::VectorXd forces = response.constant.col(axis) - response.damping * velocities.col(axis);
      const double scale = 1.0 + expected.forces.col(axis).norm() + dense.to_head.sum() * (1.0 + h);
      EXPECT_LT((forces - expected.forces.col(axis)).norm(), 2e-14 * scale * (1.0 + h));
      const double scale_w = 1.0 + expected.w.col(axis).cwiseAbs().maxCoeff();
      const double scale_p = 1.0 + expected.p.col(axis).cwiseAbs().maxCoeff();
      for (int j = 0; j < sites; ++j) {
        ASSERT_NEAR(matrix(end_w)(j, axis), expected.w(j, axis), 1e-13 * scale_w * (1.0 + h)) << "site " << j;
        ASSERT_NEAR(matrix(end_p)(j, axis), expected.p(j, axis), 1e-13 * scale_p * (1.0 + h) * (1.0 + h))
            << "site " << j;
      }
    }
    EXPECT_NEAR(dissipated, expected.work, 1e-12 * (1.0 + expected.work));
  });
}

/// The collocation methods of the catalogue, and a pair without any structure.
std::vector<std::pair<std::string, PartitionedRungeKutta>> schemes() {
  std::vector<std::pair<std::string, PartitionedRungeKutta>> all;
  for (const MethodCase& method : method_cases()) {
    if (const auto* scheme = std::get_if<PartitionedRungeKutta>(&method.scheme)) all.emplace_back(method.name, *scheme);
  }
  all.emplace_back("lopsided", PartitionedRungeKutta{.a = Eigen::MatrixXd{{0.3, 0.1}, {0.5, 0.4}},
                                                     .a_hat = Eigen::MatrixXd{{0.2, 0.0}, {0.7, 0.1}},
                                                     .b = Eigen::VectorXd{{0.4, 0.6}}});
  return all;
}

/// Tests every scheme, every far end and several lengths.
void expect_dense_steps_of_lines(const std::vector<double>& steps, const LineOptions& options) {
  RankSubset subset(7);
  for (const auto& [name, scheme] : schemes()) {
    for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
      for (const int sites : {1, 2, 41, 127, 200}) {
        if (sites == 200 && scheme.stages() > 3) continue;
        for (const double h : steps) {
          if (!subset.takes_next()) continue;
          SCOPED_TRACE(testing::Message()
                       << name << ", far end " << static_cast<int>(far_end) << ", " << sites << " sites, h = " << h);
          Line line("line", Attachment({{0, 1.0}}, 2),
                    {.mass = 1.3, .stiffness = 2.9, .far_end = far_end, .dashpot = 0.0}, sites, test_world(), options);
          expect_dense_step(line, scheme, h);
        }
      }
    }
  }
}

TEST(MpiStages, OfALineEqualADenseSolution) { expect_dense_steps_of_lines({0.01, 0.7, 6.0}, {}); }

TEST(MpiStages, OfALineOfUnequalSitesEqualADenseSolution) {
  expect_dense_steps_of_lines({0.01, 0.7}, {.table = site_table(nonuniform_site)});
}

TEST(MpiStages, OfALineOfUnequalSitesEqualADenseSolutionThroughPetsc) {
  const PetscOptionsScope options({{"-ksp_type", "gmres"}, {"-pc_type", "jacobi"}});
  const auto scheme = std::get<PartitionedRungeKutta>(method_case("lobatto(stages=3)").scheme);
  Line line("line", Attachment({{0, 1.0}}, 2), {.far_end = FarEnd::matched}, 90, test_world(),
            {.table = site_table(nonuniform_site)});
  expect_dense_step(line, scheme, 0.3);
}

TEST(MpiStages, OfAHeatBathEqualADenseSolution) {
  for (const auto& [name, scheme] : schemes()) {
    for (const int oscillators : {1, 7, 60}) {
      for (const double h : {0.01, 0.3}) {
        SCOPED_TRACE(testing::Message() << name << ", " << oscillators << " oscillators, h = " << h);
        OscillatorBath bath("bath", Attachment({{0, 1.0}}, 2), ohmic_spectrum(oscillators, 0.7, 5.0), 0.0, test_world(),
                            4);
        expect_dense_step(bath, scheme, h);
      }
    }
  }
}

}  // namespace
}  // namespace bathline::stages_test
