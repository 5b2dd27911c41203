// Implicit one-stage schemes on a line: the eliminated line and the completed step against dense linear algebra.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "dense_system.hpp"
#include "model/line/line.hpp"
#include "one_stage.hpp"
#include "petsc_world.hpp"
#include "rank_subset.hpp"

namespace bathline::implicit_stepper_test {
namespace {

/// Stage and end values of one step with the head at `head`, moving with `velocity`, by one dense system.
struct DenseStep {
  Eigen::VectorXd w, p;  // at the end
  double force = 0.0;    // on the head, at the stage
  double work = 0.0;     // of the dashpot
};

DenseStep dense_step(const LineConstants& line, double dashpot, const OneStage& s, double h, const Eigen::VectorXd& w,
                     const Eigen::VectorXd& p, double head, double velocity) {
  const auto n = w.size();
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    k(j, j) = j + 1 == n && line.far_end != FarEnd::fixed ? line.stiffness : 2.0 * line.stiffness;
    if (j > 0) k(j, j - 1) = k(j - 1, j) = -line.stiffness;
  }
  Eigen::MatrixXd c = Eigen::MatrixXd::Zero(n, n);
  c(n - 1, n - 1) = dashpot;
  // P = p + a h (-K Q + lambda x_stage e_1 - C P/M),  Q = w + b h P/M.
  const double stage_head = head + s.b * h * velocity;
  const Eigen::VectorXd drive = line.stiffness * stage_head * Eigen::VectorXd::Unit(n, 0);
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(n, n);
  const Eigen::MatrixXd matrix = identity + s.a * h / line.mass * (s.b * h * k + c);
  const Eigen::VectorXd stage_p = matrix.partialPivLu().solve(p + s.a * h * (drive - k * w));
  const Eigen::VectorXd stage_w = w + s.b * h / line.mass * stage_p;
  const Eigen::VectorXd force = drive - k * stage_w - c * stage_p / line.mass;
  return {stage_w + s.b_end * h / line.mass * stage_p, stage_p + s.a_end * h * force,
          line.stiffness * (stage_w[0] - stage_head), h * dashpot * std::pow(stage_p[n - 1] / line.mass, 2)};
}

const std::vector<OneStage>& schemes() {
  static const std::vector<OneStage> all = {
      {0.5, 0.5, 0.5, 0.5}, {0.25, 0.75, 0.75, 0.25}, {0.75, 0.25, 0.25, 0.75}, {1.0, 1.0, 0.0, 0.0}};
  return all;
}

TEST(MpiLineImplicit, EqualsADenseSolution) {
  const Communicator& world = test_world();
  RankSubset subset(7);
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    for (const int sites : {1, 2, 41, 127, 200}) {
      for (const OneStage& scheme : schemes()) {
        for (const double h : {0.01, 0.7, 12.0, 1000.0}) {
          if (!subset.takes_next()) continue;
          SCOPED_TRACE(testing::Message() << "far end " << static_cast<int>(far_end) << ", " << sites
                                          << " sites, a = " << scheme.a << ", h = " << h);
          const LineConstants constants{.mass = 1.3, .stiffness = 2.9, .far_end = far_end, .dashpot = 0.0};
          const double dashpot = far_end == FarEnd::matched ? std::sqrt(1.3 * 2.9) : 0.0;
          constexpr int axes = 2;
          Line line("line", Attachment({{0, 1.0}}, axes), constants, sites, world);
          line.prepare({});
          RandomNumbers random(17);
          const std::vector<double> w = random.list(static_cast<std::size_t>(sites * axes));
          const std::vector<double> p = random.list(static_cast<std::size_t>(sites * axes));
          line.scatter_state(w, p);
          const auto environment_stepper = line.implicit_stepper(one_stage(scheme.b, scheme.a), h);
          const std::vector<double> head = {0.4, -0.9}, velocity = {-0.3, 0.6};
          StageResponse response;
          ASSERT_TRUE(environment_stepper->condense(head, response));
          environment_stepper->back_substitute(Eigen::RowVectorXd{{-0.3, 0.6}});
          std::vector<double> end_w, end_p;
          line.gather_state(end_w, end_p);
          const double dissipated = line.energy(head).dissipated;

          double work = 0.0;
          for (int axis = 0; axis < axes; ++axis) {
            using Strided = Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<axes>>;
            const DenseStep expected = dense_step(constants, dashpot, scheme, h, Strided(w.data() + axis, sites),
                                                  Strided(p.data() + axis, sites), head[axis], velocity[axis]);
            work += expected.work;
            if (!world.is_root()) continue;
            // The force is a small difference of terms that grow with h and with the length of the line.
            EXPECT_NEAR(response.constant(0, axis) - response.damping(0, 0) * velocity[axis], expected.force,
                        1e-13 + 4e-15 * h * constants.stiffness * (1.0 + sites));
            const double scale_w = 1.0 + expected.w.cwiseAbs().maxCoeff();
            const double scale_p = 1.0 + expected.p.cwiseAbs().maxCoeff();
            // Round-off of the stage momenta is multiplied by h.
            for (int j = 0; j < sites; ++j) {
              ASSERT_NEAR(end_w[j * axes + axis], expected.w[j], 2e-13 * scale_w * (1.0 + h)) << "site " << j;
              ASSERT_NEAR(end_p[j * axes + axis], expected.p[j], 2e-13 * scale_p * (1.0 + h)) << "site " << j;
            }
          }
          EXPECT_NEAR(dissipated, work, 1e-11 * (1.0 + work));
        }
      }
    }
  }
}

// The response to the head's velocity is a positive damping.
TEST(MpiLineImplicit, ResponseIsPassive) {
  for (const OneStage& scheme : schemes()) {
    for (const double h : {1e-6, 0.1, 10.0, 1e6}) {
      Line line("line", Attachment({{0, 1.0}}, 1), {.mass = 2.0, .stiffness = 0.5}, 300, test_world());
      line.prepare({});
      const double head[] = {0.0};
      StageResponse response;
      ASSERT_TRUE(line.implicit_stepper(one_stage(scheme.b, scheme.a), h)->condense(head, response));
      EXPECT_GT(response.damping(0, 0), 0.0);
      if (test_world().is_root()) {
        EXPECT_EQ(response.constant(0, 0), 0.0);
      }
    }
  }
}

}  // namespace
}  // namespace bathline::implicit_stepper_test
