// Attachments of heads to one particle and to the difference of two.
#include "model/attachment.hpp"

#include <gtest/gtest.h>

namespace bathline::attachment_test {
namespace {

TEST(Attachment, HeadOfALineOnOneParticleIsThatParticle) {
  const Attachment attachment({{1, 1.0}}, 2);
  const Eigen::VectorXd q = (Eigen::VectorXd(6) << 1, 2, 3, 4, 5, 6).finished();
  double head[2];
  attachment.project(q, head);
  EXPECT_EQ(head[0], 3.0);
  EXPECT_EQ(head[1], 4.0);
}

TEST(Attachment, LineBetweenTwoFollowsTheirDifferenceAndPullsBothWays) {
  const Attachment attachment({{2, 1.0}, {0, -1.0}}, 2);
  const Eigen::VectorXd q = (Eigen::VectorXd(6) << 1, 2, 3, 4, 50, 60).finished();
  double head[2];
  attachment.project(q, head);
  EXPECT_EQ(head[0], 49.0);
  EXPECT_EQ(head[1], 58.0);
  Eigen::VectorXd forces = Eigen::VectorXd::Ones(6);
  const double force[] = {10.0, 20.0};
  attachment.distribute(force, forces);
  EXPECT_EQ(forces, (Eigen::VectorXd(6) << -9, -19, 1, 1, 11, 21).finished());
}

TEST(Attachment, OuterProductIsDistributeAfterProject) {
  const Attachment attachment({{2, 1.0}, {0, -1.0}}, 2);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(6, 6);
  attachment.add_outer(3.0, matrix);
  for (int column = 0; column < 6; ++column) {
    const Eigen::VectorXd unit = Eigen::VectorXd::Unit(6, column);
    double head[2];
    attachment.project(unit, head);
    const double force[] = {3.0 * head[0], 3.0 * head[1]};
    Eigen::VectorXd expected = unit;
    attachment.distribute(force, expected);
    EXPECT_EQ(matrix.col(column), expected);
  }
}

}  // namespace
}  // namespace bathline::attachment_test
