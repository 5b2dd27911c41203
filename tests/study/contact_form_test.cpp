// The contact-form study on runs from recipes, and the variables of contact systems in results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rank_subset.hpp"
#include "run_study.hpp"

namespace bathline::contact_form_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string plane =
    "external = { kind = \"quartic\", k = 1.0, beta = 2.0 }\ngamma = -0.2\nq0 = [[1.0, 0.5]]\nv0 = [[0.0, 1.0]]\n";
const std::string methods =
    "[[integrators]]\nmethod = \"herglotz\"\non = \"open\"\n[[integrators]]\nmethod = \"exact\"\non = \"open\"\n";

/// Line 4 is the first of `system`.
std::string recipe(const std::string& system, const std::string& integrators, const std::string& study) {
  return "title = \"t\"\n[system]\nkind = \"contact\"\n" + system + "[time]\nstep = 0.1\nsteps = 40\n" + integrators +
         "[output]\nevery = 3\n[study]\nkind = " + study + "\n";
}

double largest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

TEST(MpiContactForm, IsScaledByTheFactorWithTheMomenta) {
  const RunStudy run(recipe(plane, methods, "\"contact-form\""));
  const std::string group = "contact-form/herglotz/";
  EXPECT_EQ(run.value(group + "conformal_factor"), 0.98);
  EXPECT_EQ(run.values(group + "time").size(), 14u);  // 3, 6, ..., 39, 40
  EXPECT_LT(largest(run.values(group + "form_defect")), 1e-13);
  EXPECT_LT(largest(run.values(group + "momentum_defect")), 1e-13);
  EXPECT_GT(largest(run.values(group + "momentum_defect")), 0.0);
  const std::vector<double> angular = run.values("herglotz/angular_momentum");
  EXPECT_NEAR(angular.back(), std::pow(0.98, 40.0), 1e-12);
  EXPECT_NEAR(run.values("exact/angular_momentum").back(), std::exp(-0.8), 1e-11);
}

TEST(MpiContactForm, FollowsOpenSystemsWhoseDampingIsThatOfAContactSystem) {
  const RunStudy contact(recipe(plane, methods, "\"contact-form\""));
  const RunStudy open(with(recipe("masses = [1.0]\nexternal = { kind = \"quartic\", k = 1.0, beta = 2.0 }\ndamping = "
                                  "[0.2]\nq0 = [[1.0, 0.5]]\nv0 "
                                  "= "
                                  "[[0.0, 1.0]]\n",
                                  methods, "\"contact-form\""),
                           "\"contact\"", "\"pair-potential\""));
  for (const char* name : {"herglotz/q", "herglotz/p", "herglotz/z", "herglotz/hamiltonian",
                           "herglotz/energy_dissipated", "contact-form/herglotz/momentum_defect"}) {
    EXPECT_EQ(open.values(name), contact.values(name)) << name;
  }
  EXPECT_EQ(open.value("contact-form/herglotz/conformal_factor"), 0.98);
}

TEST(MpiContactForm, TrajectoriesRecordActionAndHamiltonian) {
  const RunStudy run(recipe(plane, methods, "\"contact-form\""));
  for (const std::string label : {"herglotz", "exact"}) {
    const std::vector<double> z = run.values(label + "/z"), h = run.values(label + "/hamiltonian");
    const std::vector<double> logarithm = run.values(label + "/log_hamiltonian");
    const std::vector<double> particles = run.values(label + "/energy_particles");
    ASSERT_EQ(z.size(), 15u);
    EXPECT_EQ(z.front(), 0.0);
    EXPECT_GT(std::abs(z.back()), 1e-3);
    for (std::size_t i = 0; i < z.size(); ++i) {
      EXPECT_NEAR(h[i], particles[i] + 0.2 * z[i], 1e-15);
      EXPECT_NEAR(logarithm[i], std::log(h[i]), 1e-15);
    }
  }
  const std::vector<double> exact = run.values("exact/hamiltonian");
  EXPECT_NEAR(exact.back(), exact.front() * std::exp(-0.8), 1e-11);
}

TEST(MpiContactForm, AFreeParticleLosesItsMomentumByTheFactor) {
  const RunStudy run(recipe("gamma = -0.2\nq0 = [1.0]\nq1 = [1.3]\n", methods, "\"contact-form\""));
  EXPECT_LT(largest(run.values("contact-form/herglotz/momentum_defect")), 1e-13);
  const std::vector<double> p = run.values("herglotz/p");
  EXPECT_NEAR(p.back() / p.front(), std::pow(0.98, 40.0), 1e-13);
  EXPECT_NEAR(p.front(), 3.0 / 0.98, 1e-14);
}

// Typed and built in, of any order, with dL/dz of either sign and nonlinear in z, one coordinate and two.
TEST(MpiContactForm, OfMethodsWithStagesIsScaledByTheirFactor) {
  const std::string stages =
      "[[integrators]]\nmethod = \"gauss\"\nstages = 1\nname = \"midpoint\"\non = \"open\"\n"
      "[[integrators]]\nmethod = \"gauss\"\nstages = 3\non = \"open\"\n"
      "[[integrators]]\nmethod = \"lobatto\"\nstages = 3\non = \"open\"\n"
      "[[integrators]]\nmethod = \"gamma\"\ngamma = 0.25\non = \"open\"\n"
      "[[integrators]]\nmethod = \"herglotz\"\non = \"open\"\n"
      "[[integrators]]\nmethod = \"implicit-euler\"\non = \"open\"\n";
  const std::string typed = "coordinates = [\"x\", \"y\"]\nq0 = [0.4, 0.1]\nv0 = [0.3, 0.7]\nz0 = 0.4\nL = ";
  const std::vector<std::string> systems = {
      "kind = \"contact\"\n" + plane, "kind = \"contact\"\npotential = \"harmonic\"\ngamma = 0.3\nq0 = [1.0]\n",
      "kind = \"lagrangian\"\n" + typed +
          "\"(1 + x^2/2)*x_dot^2/2 + (1.5 + sin(x))*y_dot^2/2 + cos(x) - 0.3*z^2/2 - x_dot*z/5\"\n",
      "kind = \"lagrangian\"\n" + typed +
          "\"(x_dot^2 + y_dot^2)/2 + x*y_dot - x^2*y^2 + z*(0.3*cos(t) + 0.2*sin(y))\"\n"};
  RankSubset subset(3);
  for (const std::string& system : systems) {
    if (!subset.takes_next()) continue;
    const RunStudy run(with(recipe("", stages, "\"contact-form\""), "kind = \"contact\"\n", system));
    for (const char* label : {"midpoint", "gauss", "lobatto", "gamma", "herglotz"}) {
      const std::string group = std::string("contact-form/") + label;
      EXPECT_LT(largest(run.values(group + "/form_defect")), 1e-13) << label << " on " << system;
      EXPECT_LT(largest(run.values(group + "/momentum_defect")), 1e-13) << label << " on " << system;
      const std::vector<double> scale = run.values(group + "/conformal_scale");
      ASSERT_EQ(scale.size(), 14u);
      EXPECT_GT(std::abs(scale.back() - 1.0), 0.05);
    }
    // A method that is not contact has a defect.
    EXPECT_GT(largest(run.values("contact-form/implicit-euler/form_defect")), 1e-4) << system;
  }
  // sigma = exp of the integral of dL/dz, to the order of the method.
  const RunStudy linear(with(recipe("", stages, "\"contact-form\""), "kind = \"contact\"\n", systems[1]));
  EXPECT_NEAR(linear.values("contact-form/gauss/conformal_scale").back(), std::exp(0.3 * 4.0), 1e-9);
  EXPECT_NEAR(linear.values("contact-form/midpoint/conformal_scale").back(), std::pow(1.015 / 0.985, 40.0), 1e-12);
}

TEST(MpiContactForm, SaysWhatItLacks) {
  EXPECT_THAT(report_of(recipe(plane, "[[integrators]]\nmethod = \"exact\"\non = \"open\"\n", "\"contact-form\"")),
              AllOf(HasSubstr("r.toml:17:"), HasSubstr("examines [[integrators]] with the methods `herglotz`")));
  EXPECT_THAT(report_of(with(recipe("", "[[integrators]]\nmethod = \"gauss\"\non = \"open\"\n", "\"contact-form\""),
                             "kind = \"contact\"\n",
                             "kind = \"single-oscillator\"\nm = 1.0\nk = 1.0\ndamping = 0.1\nq0 = [1.0]\n")),
              HasSubstr("there is no contact form"));
  EXPECT_THAT(
      report_of(recipe("gamma = -0.2\nq0 = [1.0]\nq1 = [1.3]\n", methods, "\"convergence\"\nstep_sizes = [0.1, 0.05]")),
      AllOf(HasSubstr("r.toml:6:"), HasSubstr("give `v0` to a convergence study")));
}

TEST(MpiContactForm, ConvergenceFindsOrderOne) {
  const RunStudy run(recipe(plane, methods, "\"convergence\"\nstep_sizes = [0.005, 0.0025, 0.00125]"));
  EXPECT_NEAR(run.value("convergence/herglotz/order_q"), 1.0, 0.1);
  EXPECT_NEAR(run.value("convergence/herglotz/order_p"), 1.0, 0.1);
}

}  // namespace
}  // namespace bathline::contact_form_test
