// Discrete Lagrangians: their derivatives, the equations that the paper states, and the exact motion.
#include "steppers/contact_lagrangian.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "differences.hpp"
#include "quartic_potential.hpp"
#include "scene.hpp"

namespace bathline::contact_lagrangian_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

ParticleSystem contact_system(const VectorXd& mass, std::shared_ptr<const Potential> potential, double gamma) {
  ParticleSystem system = make_particles(mass, std::move(potential), {}, {}, static_cast<int>(mass.size()));
  system.contact = Contact{.gamma = gamma, .z0 = 0.0, .q1 = {}};
  return system;
}

ParticleSystem oscillator(double m, double k, double gamma) {
  return contact_system(VectorXd::Constant(1, m), std::make_shared<QuadraticPotential>(MatrixXd::Constant(1, 1, k)),
                        gamma);
}

VectorXd vector(double x) { return VectorXd::Constant(1, x); }

TEST(ContactLagrangian, GradientsAndHessiansAreItsDerivatives) {
  RandomNumbers random(41);
  const MatrixXd half = random_matrix(2, 2, random);
  const ParticleSystem nonlinear =
      contact_system(VectorXd{{1.0, 2.0}}, std::make_shared<QuarticPotential>(half * half.transpose(), 0.7), -0.3);
  const ParticleSystem linear = contact_system(
      VectorXd{{1.0, 2.0}}, std::make_shared<QuadraticPotential>(MatrixXd{{1.5, 0.0}, {0.0, 3.0}}), -0.3);
  for (const bool exact : {false, true}) {
    const auto lagrangian = make_contact_lagrangian({exact}, exact ? linear : nonlinear, 0.4);
    const VectorXd q = random_matrix(2, 1, random), next = random_matrix(2, 1, random);
    const VectorXd first = gradient_of([&](const VectorXd& x) { return lagrangian->value(x, next - x); }, q);
    const VectorXd second = gradient_of([&](const VectorXd& x) { return lagrangian->value(q, x - q); }, next);
    EXPECT_LT((lagrangian->d1(q, next - q) - first).norm(), 1e-10);
    EXPECT_LT((lagrangian->d2(q, next - q) - second).norm(), 1e-10);
    const auto d1_of_q = [&](const VectorXd& x) { return lagrangian->d1(x, next - x); };
    const auto d1_of_next = [&](const VectorXd& x) { return lagrangian->d1(q, x - q); };
    const auto d2_of_next = [&](const VectorXd& x) { return lagrangian->d2(q, x - q); };
    const ContactLagrangian::Hessians hessians = lagrangian->hessians(q, next - q);
    EXPECT_LT((hessians.first - jacobian_of(d1_of_q, q)).norm(), 1e-10);
    EXPECT_LT((hessians.mixed - jacobian_of(d1_of_next, next)).norm(), 1e-10);
    EXPECT_LT((hessians.second - jacobian_of(d2_of_next, next)).norm(), 1e-10);
  }
}

TEST(ContactLagrangian, FactorsAreThoseOfTheTwoLagrangians) {
  EXPECT_EQ(make_contact_lagrangian({false}, oscillator(1.0, 1.0, -0.05), 0.5)->sigma(), 0.975);
  EXPECT_NEAR(make_contact_lagrangian({true}, oscillator(1.0, 1.0, -0.05), 0.5)->sigma(), std::exp(-0.025), 1e-16);
}

// simoes2020, eq. (78) with the sign of its own eq. (64).
TEST(ContactLagrangian, ExactOneOfAFreeParticleIsThePapers) {
  const double gamma = -0.3, h = 0.7;
  const auto lagrangian = make_contact_lagrangian({true}, oscillator(1.0, 0.0, gamma), h);
  const double factor = std::exp(gamma * h);
  for (const double dq : {0.4, -2.0}) {
    EXPECT_NEAR(lagrangian->value(vector(1.5), vector(dq)), gamma * dq * dq * factor / (2.0 * (factor - 1.0)), 1e-14);
  }
}

// The increase of z along the motion between two positions, with z' = m v^2/2 - m k q^2/2 + gamma z integrated along
// the motion's closed form by Gauss-Legendre quadrature: weak, strong (overdamped), critical and negligible friction.
TEST(ContactLagrangian, ExactOneIsTheActionOfTheMotion) {
  const double m = 1.5, h = 0.8, q0 = 0.7, q1 = -0.4;
  for (const auto& [k, gamma] : std::vector<std::pair<double, double>>{
           {2.0, -0.3}, {0.0, -0.3}, {-0.5, -0.3}, {1.0, -5.0}, {1.0, -2.0}, {1.0, -2.0 - 1e-12}, {0.0, -1e-9}}) {
    const double square = k - 0.25 * gamma * gamma, w = std::sqrt(std::abs(square));
    const auto sine = [&](double t) {
      if (w * t < 1e-5) return t;
      return square > 0.0 ? std::sin(w * t) / w : std::sinh(w * t) / w;
    };
    const auto cosine = [&](double t) { return square > 0.0 ? std::cos(w * t) : std::cosh(w * t); };
    const double b = (q1 * std::exp(-0.5 * gamma * h) - q0 * cosine(h)) / sine(h);
    const auto integrand = [&, k = k, gamma = gamma](double t) {
      const double growth = std::exp(0.5 * gamma * t);
      const double q = growth * (q0 * cosine(t) + b * sine(t));
      const double v = 0.5 * gamma * q + growth * (b * cosine(t) - square * q0 * sine(t));
      return std::exp(gamma * (h - t)) * 0.5 * m * (v * v - k * q * q);
    };
    // Three Gauss points in each of 400 pieces: order 6.
    double action = 0.0;
    const int pieces = 400;
    for (int i = 0; i < pieces; ++i) {
      const double width = h / pieces, middle = (i + 0.5) * width, offset = 0.5 * width * std::sqrt(0.6);
      action +=
          width / 18.0 * (5.0 * (integrand(middle - offset) + integrand(middle + offset)) + 8.0 * integrand(middle));
    }
    const auto lagrangian = make_contact_lagrangian({true}, oscillator(m, m * k, gamma), h);
    EXPECT_NEAR(lagrangian->value(vector(q0), vector(q1 - q0)), action, 1e-12 * (1.0 + std::abs(action)))
        << k << ", " << gamma;
  }
}

// h k, h gamma and the derivatives of m a |q+|^2/2 + m b |q|^2/2 - m c q.q+ in units of m/h: cotangents and sines of 80
// digits and more.
TEST(ContactLagrangian, ExactOneKeepsItsDigitsAtAnyStep) {
  const struct {
    double k, gamma;               ///< k h^2, gamma h
    double a_less_c, b_less_c, c;  ///< over 1/h
  } rows[] = {
      {1e-8, 0, -5.0000000041666667e-9, -5.0000000041666667e-9, 1.0000000016666667},
      {1e-8, -1e-4, -4.99991667083325e-9, -4.9995833541659167e-9, 0.99995000249991667},
      {1e-8, -0.1, -4.9166805563182903e-9, -4.599577648012004e-9, 0.9508331960619629},
      {1e-8, -2, -3.4348235747276841e-9, -8.8850001207167927e-10, 0.31303528598928675},
      {1e-8, -30, -3.3333333333610127e-10, -9.0457022046652089e-22, 2.8072868915256932e-12},
      {1e-8, -300, -3.3333333333337037e-11, -5.1310395550892031e-139, 1.5444600667747429e-128},
      {1e-8, 30, -9.6666666682194543e-9, -3562.1581938710669, 30.000000009336141},
      {0.01, 0, -0.0050041708375538789, -0.0050041708375538789, 1.0016686131634777},
      {0.01, -1e-4, -0.0050040874068950228, -0.0050037538678049589, 1.0016185305672648},
      {0.01, -0.1, -0.0049207534054537188, -0.0046034389745282466, 0.95241950251192643},
      {0.01, -2, -0.0034370498720798806, -8.8925880424691938e-4, 0.31352577005142235},
      {0.01, -30, -3.3333703711840763e-4, -9.047154538584239e-16, 2.8081604136830245e-12},
      {0.01, -300, -3.333333703703786e-5, -5.1311247853652771e-133, 1.5445112063647646e-128},
      {0.01, 30, -0.0096682187011704144, -3.5621977742465393e+9, 30.00933488166686},
      {1, 0, -0.54630248984379051, -0.54630248984379051, 1.1883951057781212},
      {1, -1e-4, -0.5462930700795902, -0.54625728113067384, 1.1883356869766588},
      {1, -0.1, -0.53687564844467913, -0.50282856746514699, 1.1299308142386235},
      {1, -2, -0.36787944117144232, -0.097208874698216938, 0.36787944117144232},
      {1, -30, -0.033370452904136183, -9.1926439039876908e-14, 2.8960906485264369e-12},
      {1, -300, -0.0033333703711934385, -5.1395720362930019e-131, 1.5495824779018108e-128},
      {1, 30, -0.98236955416970256, -3.5661249673401049e+11, 30.948999101268462},
      {900, 0, 25.679802027255563, 25.679802027255563, -30.36340059210534},
      {900, -1e-4, 25.678233896226874, 25.678802227666268, -30.361882459789679},
      {900, -0.1, 24.150020499580935, 24.690843232114527, -28.882332101846712},
      {900, -2, 5.9661938576740487, 10.707382933626839, -11.136427386126103},
      {900, -30, 7.9147706238116765, -1.0597148679163223e-5, 1.0597152227085499e-5},
      {900, -300, -3.0306154330093141, -2.9810627446808611e-127, 3.1339485298485951e-127},
      {900, 30, -1.1324615999651331e+8, 8.4580995089959991e+13, 1.1324619791129453e+8},
      {1e6, 0, -529.24386474448009, -529.24386474448009, 1209.3659970793499},
      {1e6, -1e-4, -529.18344795550765, -529.25135677324376, 1209.3055302922048},
      {1e6, -0.1, -470.31153828482438, -534.93864847400239, 1150.3854979787383},
      {1e6, -2, 234.80125870514022, -352.77325254371913, 445.05206526967683},
      {1e6, -30, 844.02567444269669, -4.032461077682239e-4, 4.032461895562889e-4},
      {1e6, -300, -909.60195683904429, -8.9458661898068174e-63, 8.9458661898068174e-63},
      {1e6, 30, -4.3092792807637986e+9, 9.019658916085919e+15, 4.3092801547898763e+9},
      {-1e-8, -1e-4, 4.9999166625001111e-9, 4.9995833458332222e-9, 0.99994999916675},
      {-900, -0.1, 29.950041666632391, 27.190402113508148, 5.340532677830492e-12},
      {1, 1, -0.63785427773873027, -1.2314210204698017, 1.874388966366275},
      {1e-10, 0, -5.0000000000416667e-11, -5.0000000000416667e-11, 1.0000000000166667},
      {1e-10, -3e-6, -4.9999975000416666e-11, -4.9999875000566666e-11, 0.99999850001741664},
  };
  const double m = 1.5;
  for (const double h : {1.0, 1e-5}) {
    for (const auto& [k, gamma, a_less_c, b_less_c, c] : rows) {
      SCOPED_TRACE(testing::Message() << k << ", " << gamma << ", " << h);
      const auto lagrangian = make_contact_lagrangian({true}, oscillator(m, m * k / (h * h), gamma / h), h);
      const double unit = m / h, exactness = 1e-14 * (5.0 + std::sqrt(std::abs(k)) + std::abs(gamma));
      EXPECT_NEAR(lagrangian->d2(vector(1.0), vector(0.0))[0], a_less_c * unit, exactness * std::abs(a_less_c) * unit);
      EXPECT_NEAR(lagrangian->d1(vector(1.0), vector(0.0))[0], b_less_c * unit, exactness * std::abs(b_less_c) * unit);
      EXPECT_NEAR(-lagrangian->hessians(vector(1.0), vector(0.0)).mixed(0, 0), c * unit,
                  exactness * std::abs(c) * unit);
    }
  }
}

TEST(ContactLagrangian, StatesWhereThereIsNone) {
  EXPECT_EQ(contact_unsupported_reason({false}, oscillator(1.0, 1.0, -0.05), 0.5).text, "");
  EXPECT_TRUE(contact_unsupported_reason({false}, oscillator(1.0, 1.0, -0.05), 20.0).is_of_step);
  EXPECT_EQ(contact_unsupported_reason({true}, oscillator(1.0, 1.0, -0.05), 20.0).text, "");
  const double w = std::sqrt(1.0 - 0.000625);
  EXPECT_TRUE(contact_unsupported_reason({true}, oscillator(1.0, 1.0, -0.05), M_PI / w).is_of_step);
  EXPECT_TRUE(contact_unsupported_reason({true}, oscillator(1.0, 1.0, -0.05), 3.0 * M_PI / w).is_of_step);
  // e^{gamma h} or c is no number.
  for (const auto& [k, gamma] : {std::pair(1.0, -1e3), std::pair(1.0, 1e3), std::pair(-1e6, -1.0)}) {
    EXPECT_TRUE(contact_unsupported_reason({true}, oscillator(1.0, k, gamma), 1.0).is_of_step) << k << ", " << gamma;
  }
  const ParticleSystem uneven = contact_system(
      VectorXd{{1.0, 1.0}}, std::make_shared<QuadraticPotential>(MatrixXd{{1.5, 0.0}, {0.0, 3.0}}), -0.3);
  EXPECT_NE(contact_unsupported_reason({true}, uneven, 0.1).text, "");
  EXPECT_FALSE(contact_unsupported_reason({true}, uneven, 0.1).is_of_step);
}

}  // namespace
}  // namespace bathline::contact_lagrangian_test
