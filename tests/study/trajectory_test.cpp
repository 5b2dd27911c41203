// Trajectories in the result file against the states of the problem.
#include "driver/time_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <numbers>
#include <sstream>

#include "methods/method.hpp"
#include "rank_subset.hpp"
#include "run_study.hpp"

namespace bathline::trajectory_test {
namespace {

std::string recipe(const std::string& integrators, const std::string& output = "") {
  return R"(title = "t"
[system]
kind = "single-oscillator"
m = 2.0
k = 8.0
q0 = [1.5]
v0 = [-0.5]
[[environments]]
name = "line"
kind = "spring-mass-line"
sites = 120
M = 0.1
lambda = 10.0
[time]
step = 0.05
steps = 53
)" + integrators +
         "[output]\n" + output + "[study]\nkind = \"trajectory\"\n";
}

const std::string closed = "[[integrators]]\nmethod = \"gamma\"\nname = \"closed\"\non = \"closed\"\n";

TEST(MpiTrajectory, RecordsTheStartEveryFewStepsAndTheEnd) {
  const RunStudy run(recipe(closed, "every = 10\n"));
  const std::vector<double> time = run.values("closed/time");
  ASSERT_EQ(time.size(), 7u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(time[i], 0.5 * static_cast<double>(i));
  EXPECT_DOUBLE_EQ(time[6], 53 * 0.05);
  EXPECT_EQ(run.value("closed/q"), 1.5);
  EXPECT_EQ(run.value("closed/p"), -1.0);
}

// With particles_only the recorded values of the particles have the same bits, although sites without influence are
// dropped.
TEST(MpiTrajectory, LeavesEnvironmentsBehindWhereOnlyParticlesAreAskedFor) {
  const RunStudy all(recipe(closed, "every = 10\n")), particles(recipe(closed, "every = 10\nparticles_only = true\n"));
  for (const char* name : {"q", "p", "time", "energy_particles", "environment_force"}) {
    EXPECT_EQ(particles.values(std::string("closed/") + name), all.values(std::string("closed/") + name)) << name;
  }
  for (const char* name : {"energy_environment", "energy_interaction", "energy_total"}) {
    for (double value : particles.values(std::string("closed/") + name)) EXPECT_TRUE(std::isnan(value)) << name;
  }
}

// No steps, and a line of one site on any number of ranks.
TEST(MpiTrajectory, EveryIntegratorTakesNoStepsAndALineOfOneSite) {
  RankSubset subset(4);
  for (const Method& method : methods()) {
    if (method.domain == Method::Domain::contact || !subset.takes_next()) continue;
    SCOPED_TRACE(method.entry.name);
    const std::string integrator = "[[integrators]]\nmethod = \"" + method.entry.name +
                                   "\"\nname = \"closed\"\non = \"closed\"\nallow_unstable = true\n";
    std::string text = with(recipe(integrator), "sites = 120", "sites = 1");
    const RunStudy few(text);
    EXPECT_EQ(few.values("closed/time").size(), 54u);
    // After half a second the particle, which starts inwards, is nearer to the origin.
    EXPECT_LT(few.values("closed/q")[10], 1.5);
    text.replace(text.find("steps = 53"), 10, "steps = 0");
    const RunStudy none(text);
    EXPECT_EQ(none.values("closed/time"), std::vector<double>{0.0});
    EXPECT_EQ(none.values("closed/q"), std::vector<double>{1.5});
    EXPECT_EQ(none.values("closed/energy_total"), std::vector<double>{9.25});  // 2 v^2/2 + 8 q^2/2
  }
}

TEST(MpiTrajectory, RecordsWhatTheProblemDoes) {
  const RunStudy run(recipe(closed, "every = 1\nsnapshots = 20\nsite_stride = 7\n"));
  const std::vector<double> q = run.values("closed/q"), p = run.values("closed/p");
  const std::vector<double> total = run.values("closed/energy_total"), force = run.values("closed/environment_force");
  const std::vector<double> interaction = run.values("closed/energy_interaction");
  const std::vector<double> displacement = run.values("closed/displacement"), sites = run.values("closed/site");
  const std::vector<double> snapshot_time = run.values("closed/snapshot_time");
  ASSERT_EQ(q.size(), 54u);
  ASSERT_EQ(sites.size(), 18u);
  EXPECT_EQ(sites[0], 1.0);
  EXPECT_EQ(sites[17], 120.0);
  EXPECT_EQ(snapshot_time, (std::vector<double>{0.0, 1.0, 2.0}));

  const Experiment& experiment = run.experiment();
  Problem problem = experiment.make_problem(experiment.cases()[0]);
  problem.prepare();
  const std::unique_ptr<Stepper> stepper = make_stepper(experiment.cases()[0].scheme, problem, 0.05);
  for (std::size_t k = 0; k < q.size(); ++k) {
    if (k > 0) stepper->advance(1);
    problem.broadcast_particles();
    const EnergyLedger ledger = problem.energies();
    ASSERT_EQ(q[k], problem.q[0]);
    ASSERT_EQ(p[k], problem.p[0]);
    EXPECT_EQ(total[k], ledger.total());
    EXPECT_EQ(interaction[k], ledger.interaction);
    std::vector<double> w, momenta;
    problem.environments()[0]->gather_state(w, momenta);
    if (!test_world().is_root()) continue;
    EXPECT_NEAR(force[k], 10.0 * (w[0] - (problem.q[0] - 1.5)), 1e-14);
    if (k % 20 != 0) continue;
    for (std::size_t i = 0; i < sites.size(); ++i) {
      EXPECT_EQ(displacement[k / 20 * sites.size() + i], w[static_cast<std::size_t>(sites[i]) - 1]);
    }
  }
}

TEST(MpiTrajectory, LedgerOfTheOpenSystemCloses) {
  const RunStudy run(recipe("[[integrators]]\nmethod = \"exact\"\nname = \"open\"\non = \"open\"\n"));
  const std::vector<double> total = run.values("open/energy_total"), dissipated = run.values("open/energy_dissipated");
  const double start = 0.5 * 2.0 * 0.25 + 0.5 * 8.0 * 2.25;
  for (const double energy : total) EXPECT_NEAR(energy, start, 1e-12);
  EXPECT_EQ(dissipated.front(), 0.0);
  EXPECT_GT(dissipated.back(), 1.0);
}

std::string two_warm(const std::string& integrators, const std::string& system = "") {
  return R"(title = "t"
[system]
kind = "formula"
coordinates = ["x", "y"]
masses = [1.0, 1.7]
V = "x^2/2 + y^2"
q0 = [1.0, -0.5]
)" + system +
         R"([[environments]]
name = "hot"
kind = "spring-mass-line"
sites = 20
M = 0.2
lambda = 0.8
kT = 2.0
[[environments]]
name = "cold"
kind = "spring-mass-line"
sites = 20
M = 0.2
lambda = 0.3
kT = 0.4
attach = 1
[time]
step = 0.1
steps = 53
)" + integrators +
         "[output]\nevery = 5\n[study]\nkind = \"trajectory\"\n";
}

// The two are uncoupled: under the midpoint rule each gains the heat of its own environment up to round-off.
TEST(MpiTrajectory, PowerOfNoiseIsTheHeatBetweenTwoRecords) {
  const std::string all = "[[integrators]]\nmethod = \"exact\"\nname = \"exact\"\non = \"open\"\n";
  std::string text;
  for (const char* name : {"baoab", "gjf", "gamma"}) {
    text += std::string("[[integrators]]\nmethod = \"") + name + "\"\nname = \"" + name + "\"\non = \"open\"\n";
  }
  const RunStudy run(two_warm(text + "gamma = 0.5\n" + all));
  for (const std::string label : {"baoab", "gjf", "gamma", "exact"}) {
    const std::vector<double> time = run.values(label + "/time"), dissipated = run.values(label + "/energy_dissipated"),
                              power = run.values(label + "/power");
    const std::size_t each = label == "exact" ? 1 : 2;
    ASSERT_EQ(power.size(), each * time.size());
    ASSERT_EQ(time.size(), 12u);
    for (std::size_t i = 0; i < each; ++i) EXPECT_EQ(power[i], 0.0);
    double given = 0.0;
    for (std::size_t k = 1; k < time.size(); ++k) {
      for (std::size_t i = 0; i < each; ++i) given += power[each * k + i] * (time[k] - time[k - 1]);
      EXPECT_NEAR(given, -dissipated[k], 1e-13) << label;
    }
    EXPECT_GT(std::abs(given), 1e-3) << label;
  }
  const std::vector<double> q = run.values("gamma/q"), p = run.values("gamma/p"), power = run.values("gamma/power"),
                            time = run.values("gamma/time");
  const double mass[] = {1.0, 1.7}, stiffness[] = {1.0, 2.0};
  for (std::size_t k = 2; k < power.size(); ++k) {
    const auto energy = [&](std::size_t j) {
      return p[j] * p[j] / mass[k % 2] / 2.0 + stiffness[k % 2] * q[j] * q[j] / 2.0;
    };
    EXPECT_NEAR(power[k] * (time[k / 2] - time[k / 2 - 1]), energy(k) - energy(k - 2), 1e-13);
  }
  // The last record is three steps from the one before, all others five.
  EXPECT_NEAR(time[11] - time[10], 0.3, 1e-12);
  const std::string cold = "[[integrators]]\nmethod = \"gjf\"\nname = \"cold\"\non = \"open\"\nnoise = false\n";
  EXPECT_FALSE(RunStudy(two_warm(cold)).has("cold/power"));
}

// The rules recomputed from the recorded path, and closed runs without drag.
TEST(MpiTrajectory, SumsTheWorkByRulesThatKnowNoIntegrator) {
  const RunStudy run(
      recipe("[[integrators]]\nmethod = \"rk4\"\nname = \"open\"\non = \"open\"\n" + closed, "work_rules = true\n"));
  const std::vector<double> q = run.values("open/q"), p = run.values("open/p");
  const std::vector<double> energy = run.values("open/energy_particles");
  const std::vector<double> left = run.values("open/ledger_left"), trapezoid = run.values("open/ledger_trapezoid"),
                            displacements = run.values("open/ledger_displacements");
  const double h = 0.05, mass = 2.0, damping = 1.0;
  double by_left = 0.0, by_trapezoid = 0.0, by_displacements = 0.0;
  for (std::size_t k = 0; k < q.size(); ++k) {
    // A hundred roundings of 10 J.
    EXPECT_NEAR(left[k], energy[k] + by_left, 1e-13);
    EXPECT_NEAR(trapezoid[k], energy[k] + by_trapezoid, 1e-13);
    EXPECT_NEAR(displacements[k], energy[k] + by_displacements, 1e-13);
    if (k + 1 == q.size()) break;
    const double v = p[k] / mass, next = p[k + 1] / mass, dq = q[k + 1] - q[k];
    by_left += h * damping * v * v;
    by_trapezoid += h * damping * (v * v + next * next) / 2.0;
    by_displacements += damping * dq * dq / h;
  }
  for (const char* rule : {"left", "trapezoid", "displacements", "hermite"}) {
    EXPECT_EQ(run.values(std::string("closed/ledger_") + rule), run.values("closed/energy_total")) << rule;
  }
  EXPECT_FALSE(RunStudy(recipe(closed)).has("closed/ledger_hermite"));
}

// Along the exact solution the error of Lobatto quadrature is T h^6 P^(6) / 1512000, P = C v^2 = 9 W at twice 2 rad/s:
// 1e-9 J, and the path by 2 C h^6 v' q^(6) T / (720 * 140) = 5e-10 J; with half the step by a 64th of it.
TEST(MpiTrajectory, SumsTheWorkOfTheExactMotionToOrderSix) {
  std::vector<double> largest;
  for (const char* step : {"step = 0.05\nsteps = 53", "step = 0.025\nsteps = 106"}) {
    std::string text =
        recipe("[[integrators]]\nmethod = \"exact\"\nname = \"open\"\non = \"open\"\n", "work_rules = true\n");
    const std::string given = "step = 0.05\nsteps = 53";
    text.replace(text.find(given), given.size(), step);
    const RunStudy run(text);
    largest.push_back(0.0);
    for (const double total : run.values("open/ledger_hermite")) {
      largest.back() = std::max(largest.back(), std::abs(total - 9.25));
    }
  }
  EXPECT_LT(largest[0], 1.5e-9);
  EXPECT_LT(largest[1], largest[0] / 50.0);
}

// The same where the force depends on positions and does work on the particles.
TEST(MpiTrajectory, SumsTheWorkOfANonlinearForce) {
  const RunStudy run(R"(title = "t"
[system]
kind = "coupled-van-der-pol"
epsilon = 0.5
rho = 0.1
lambda = 0.3
q0 = [1.0, 0.5]
v0 = [0.0, 0.5]
[time]
step = 0.05
end = 6.0
[[integrators]]
method = "exact"
name = "open"
on = "open"
[output]
work_rules = true
[study]
kind = "trajectory"
)");
  const std::vector<double> hermite = run.values("open/ledger_hermite");
  for (const double total : hermite) EXPECT_NEAR(total, hermite.front(), 1e-8);
  EXPECT_GT(std::abs(run.values("open/energy_dissipated").back()), 0.01);
}

// On a damped orbit the analogue of the Laplace-Runge-Lenz vector is constant (limebeer2020, section V).
// The reference meets the jumps and kinks of forces in time, wherever they are in a step, also from rest.
TEST(MpiTrajectory, ExactMotionMeetsKinksInTime) {
  const struct {
    const char* force;
    double q, p;  ///< at t = 1 from rest
  } cases[] = {
      {"4*sqrt(t)", 16.0 / 15.0, 8.0 / 3.0},
      {"step(t - 0.437)", 0.5 * 0.563 * 0.563, 0.563},
      {"step(t - 0.5)", 0.125, 0.5},
      {"step(t - 0.437)*step(0.439 - t)", 0.002 * (0.563 - 0.001), 0.002},
      {"abs(t - 0.35)", 0.35 * 0.35 * (0.35 / 3.0 + 0.325) + 0.65 * 0.65 * 0.65 / 6.0, 0.5 * (0.1225 + 0.4225)},
      {"max(t, 0.62)", 0.31 + 0.38 * 0.38 * 0.38 / 6.0, 0.62 + 0.5 * 0.38 * 0.38},
      {"sign(t - 0.3)", -0.045 - 0.3 * 0.7 + 0.5 * 0.49, 0.4},
      {"step(sin(40*t))", 0.0, 0.0},
      {"1e-9*step(t - 0.437)", 0.5e-9 * 0.563 * 0.563, 0.563e-9},
  };
  for (const auto& [force, q, p] : cases) {
    SCOPED_TRACE(force);
    const RunStudy run(
        std::string("title = \"t\"\n[system]\nkind = \"formula\"\ncoordinates = [\"x\"]\nmasses = [1.0]\n"
                    "V = \"0\"\nq0 = [0.0]\nforce = [\"") +
        force +
        "\"]\n[time]\nstep = 0.02\nend = 1.0\n[[integrators]]\nmethod = \"exact\"\non = \"open\"\n"
        "name = \"exact\"\n[study]\nkind = \"trajectory\"\n");
    double expected_q = q, expected_p = p;
    if (p == 0.0) {
      // Pulses of pi/40 with equal pauses, the last one of which goes on at t = 1.
      for (double begin = 0.0; begin < 1.0; begin += std::numbers::pi / 20.0) {
        const double end = std::min(1.0, begin + std::numbers::pi / 40.0);
        expected_p += end - begin;
        expected_q += (end - begin) * (1.0 - 0.5 * (begin + end));
      }
    }
    EXPECT_NEAR(run.values("exact/q").back(), expected_q, 1e-12 * expected_p);
    EXPECT_NEAR(run.values("exact/p").back(), expected_p, 1e-12 * expected_p);
  }
}

TEST(MpiTrajectory, IntegratesObservablesAlongThePath) {
  const RunStudy run(R"(title = "t"
[system]
kind = "kepler"
M = 1.0
mu = 1.0
alpha = 0.05
q0 = [[1.0, 0.0]]
v0 = [[0.0, 1.2]]
[time]
step = 0.01
end = 6.0
[[integrators]]
method = "exact"
name = "open"
on = "open"
[study]
kind = "trajectory"
)");
  const std::vector<double> angular = run.values("open/angular_momentum"), time = run.values("open/time");
  const std::vector<double> vector = run.values("open/laplace_runge_lenz");
  ASSERT_EQ(vector.size(), 2 * time.size());
  for (std::size_t k = 0; k < time.size(); ++k) {
    EXPECT_NEAR(angular[k], 1.2 * std::exp(-0.05 * time[k]), 1e-10);
    // The tolerance is the error of the trapezoidal rule over the records.
    EXPECT_NEAR(vector[2 * k], vector[0], 1e-4);
    EXPECT_NEAR(vector[2 * k + 1], vector[1], 1e-4);
  }
}

// Dry friction has no velocity after the kick in which the block stops.
TEST(MpiTrajectory, ReportsAKickThatHasNoSolution) {
  for (const char* environment : {"",
                                  "[[environments]]\nkind = \"spring-mass-line\"\nname = \"line\"\nattach = 1\n"
                                  "sites = 8\nM = 1.0\nlambda = 1.0\n"}) {
    const RunStudy run(std::string(R"toml(title = "t"
[system]
kind = "formula"
coordinates = ["x", "y"]
masses = [1.0, 2.0]
V = "0*x"
force = ["0", "-2*sign(y_dot)"]
q0 = [0.0, 0.0]
v0 = [0.0, 0.0035]
)toml") + environment + R"toml([time]
step = 1e-3
steps = 300
[[integrators]]
method = "velocity-verlet"
name = "run"
on = "closed"
[study]
kind = "trajectory"
)toml",
                       RunStudy::May::fail);
    EXPECT_EQ(run.report, "");
    ASSERT_TRUE(run.failure.has_value());
    EXPECT_EQ(run.failure->failure.step, 4);
    EXPECT_THAT(run.failure->failure.reason,
                testing::AllOf(testing::HasSubstr("`y`"), testing::HasSubstr("t = 0.003"), testing::HasSubstr("tanh")));
  }
}

TEST(MpiTrajectory, ReportsAStateThatIsNoLongerFinite) {
  // Explicit Euler gains energy at every step; with a step of ten it overflows within a few hundred.
  const RunStudy run(R"(title = "t"
[system]
kind = "single-oscillator"
m = 1.0
k = 1.0
damping = 0.0
q0 = [1.0]
[time]
step = 10.0
steps = 1000
[[integrators]]
method = "explicit-euler"
name = "open"
on = "open"
[output]
every = 100
[study]
kind = "trajectory"
)",
                     RunStudy::May::fail);
  ASSERT_TRUE(run.failure.has_value());
  EXPECT_EQ(run.failure->name, "open");
  EXPECT_EQ(run.failure->failure.step % 100, 0);
  EXPECT_GT(run.failure->failure.step, 0);
  EXPECT_THAT(run.failure->failure.reason, testing::HasSubstr("finite"));
  // What came before is in the file.
  for (const double q : run.values("open/q")) EXPECT_TRUE(std::isfinite(q));
}

/// The warning about the energy ledger at the end of a run, if there is one.
std::string ledger_finding(const std::string& system, const std::string& time, const std::string& integrator) {
  std::ostringstream log;
  const auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(log);
  sink->set_pattern("%v");
  auto& sinks = spdlog::default_logger()->sinks();
  const auto before = sinks;
  sinks = {sink};
  const RunStudy run("title = \"t\"\n[system]\n" + system + "[time]\n" + time + "[[integrators]]\n" + integrator +
                     "name = \"one\"\n[study]\nkind = \"trajectory\"\n");
  sinks = before;
  const std::string text = log.str();
  return text.find("energy_total drifts by") == std::string::npos ? "" : text;
}

// A planet released at rest passes its sun within a step and gains energy by the error of the step.
TEST(MpiTrajectory, SaysWhereTheLedgerLeftWhatTheSchemeCanExplain) {
  const std::string at_rest = "kind = \"kepler\"\nM = 1.0\nmu = 1.0\nalpha = 0.0\nq0 = [[1.0, 0.0]]\n";
  for (const char* name : {"gamma", "stoermer-verlet", "rk4", "explicit-euler", "yoshida4"}) {
    const std::string found = ledger_finding(at_rest, "step = 0.01\nsteps = 300\n",
                                             "on = \"open\"\nmethod = \"" + std::string(name) + "\"\n");
    EXPECT_THAT(found, testing::HasSubstr("one: energy_total drifts by")) << name;
  }
}

// rk4 loses energy at every pericentre, by itself no more than its order explains: the orbit shrinks to a tenth until
// the planet is thrown out.
TEST(MpiTrajectory, ReportsAnExcursionBeyondTheEnergyOfTheMotionWhateverExplainsIt) {
  const std::string eccentric =
      "kind = \"kepler\"\nM = 1.0\nmu = 1.0\nalpha = 0.0\nq0 = [[0.1, 0.0]]\nv0 = [[0.0, 4.358898943540674]]\n";
  for (const char* steps : {"15000", "20300"}) {
    EXPECT_THAT(ledger_finding(eccentric, "step = 0.016\nsteps = " + std::string(steps) + "\n",
                               "method = \"rk4\"\non = \"open\"\n"),
                testing::HasSubstr("J of the motion itself"))
        << steps;
  }
}

// Springs of 1e12 N/m on sites of 1e-12 kg are a damper of 1 kg/s. Their round-off is no error of the trajectory.
TEST(MpiTrajectory, DistinguishesRoundOffInStiffLines) {
  const std::string stiff =
      "kind = \"single-oscillator\"\nm = 1.0\nk = 1.0\nq0 = [1.0]\n[[environments]]\nkind = \"spring-mass-line\"\n"
      "name = \"line\"\nM = 1e-12\nlambda = 1e12\nsites = 200\nfar_end = \"matched\"\n";
  for (const char* method : {"\"gamma\"\ngamma = 0.5\n", "\"gauss\"\nstages = 2\n"}) {
    EXPECT_THAT(ledger_finding(stiff, "step = 0.01\nsteps = 500\n", "on = \"closed\"\nmethod = " + std::string(method)),
                testing::HasSubstr("round-off in springs"))
        << method;
  }
}

// Energies that a scheme loses or makes up, and losses that are wrong by a tenth and more.
TEST(MpiTrajectory, ReportsANoticeableDriftOfAnyMethod) {
  const auto oscillator = [](const char* damping) {
    return std::string("kind = \"single-oscillator\"\nm = 1.0\nk = 1.0\nq0 = [1.0]\ndamping = ") + damping + "\n";
  };
  const struct {
    std::string system;
    const char* time;
    const char* integrator;
    const char* of;
  } cases[] = {
      {oscillator("0.0"), "step = 0.1\nsteps = 500\n", "method = \"explicit-euler\"\nallow_unstable = true\n",
       "motion"},
      {oscillator("0.0"), "step = 0.1\nsteps = 500\n", "method = \"implicit-euler\"\n", "motion"},
      {oscillator("0.0"), "step = 1.5\nsteps = 500\n", "method = \"rk4\"\n", "motion"},
      {oscillator("0.0"), "step = 0.01\nsteps = 2000\n", "method = \"explicit-euler\"\nallow_unstable = true\n",
       "motion"},
      {oscillator("0.004"), "step = 0.6\nsteps = 400\n", "method = \"rk4\"\n", "dissipated"},
      {oscillator("0.2"), "step = 0.5\nsteps = 60\n", "method = \"explicit-euler\"\nallow_unstable = true\n", "drifts"},
  };
  for (const auto& [system, time, integrator, of] : cases) {
    EXPECT_THAT(ledger_finding(system, time, integrator + std::string("on = \"open\"\n")), testing::HasSubstr(of))
        << integrator << time;
  }
}

TEST(MpiTrajectory, TakesWhatASchemeDoesByDesignForGranted) {
  const std::string ellipse =
      "kind = \"kepler\"\nM = 1.0\nmu = 1.0\nalpha = 0.0\nq0 = [[1.8, 0.0]]\nv0 = [[0.0, 0.3333333]]\n";
  const std::string pair =
      "kind = \"pair-potential\"\nmasses = [1.0, 2.0]\ndamping = [0.1, 0.0]\nq0 = [0.0, 1.4]\n"
      "potential = { kind = \"morse\", depth = 1.0, width = 1.0, r0 = 1.0 }\n";
  const std::string charge =
      "kind = \"formula\"\ncoordinates = [\"x\", \"y\"]\nmasses = [1.0, 1.0]\nV = \"(x^2 + y^2)/2 + x^4/4\"\n"
      "q0 = [1.0, 0.0]\nv0 = [0.0, 0.5]\nmagnetic_field = 25.0\n";
  const std::string shifted =
      "kind = \"formula\"\ncoordinates = [\"x\"]\nmasses = [1.0]\nV = \"1e6 + x^2/2 + x^4/4\"\nq0 = [1e-6]\n";
  const auto oscillator = [](const char* damping) {
    return std::string("kind = \"single-oscillator\"\nm = 1.0\nk = 1.0\nq0 = [1.0]\ndamping = ") + damping + "\n";
  };
  const struct {
    std::string system;
    const char* time;
    const char* integrator;
  } cases[] = {
      // Energy oscillations: coarse steps, and an ellipse of eccentricity 0.8.
      {oscillator("0.0"), "step = 1.8\nsteps = 500\n", "method = \"gamma\"\n"},
      {oscillator("0.0"), "step = 1.8\nsteps = 500\n", "method = \"stoermer-verlet\"\n"},
      {ellipse, "step = 0.01\nsteps = 4000\n", "method = \"gamma\"\n"},
      {ellipse, "step = 0.02\nsteps = 2000\n", "method = \"stoermer-verlet\"\n"},
      {ellipse, "step = 0.02\nsteps = 2000\n", "method = \"yoshida4\"\n"},
      {ellipse, "step = 0.02\nsteps = 2000\n", "method = \"time-centred\"\n"},
      {ellipse, "step = 0.02\nsteps = 200\n", "method = \"exact\"\n"},
      // A gyration by two fifths of a turn per step, and a potential energy far from 0.
      {charge, "step = 0.1\nsteps = 2000\n", "method = \"stoermer-verlet\"\n"},
      {charge, "step = 0.1\nsteps = 2000\n", "method = \"yoshida4\"\n"},
      {shifted, "step = 0.1\nsteps = 2000\n", "method = \"stoermer-verlet\"\n"},
      // Errors of the dissipated energy.
      {oscillator("1.0"), "step = 0.5\nsteps = 60\n", "method = \"gamma\"\n"},
      {pair, "step = 0.1\nsteps = 1000\n", "method = \"gamma\"\n"},
      {pair, "step = 0.1\nsteps = 1000\n", "method = \"rk4\"\n"},
  };
  for (const auto& [system, time, integrator] : cases) {
    EXPECT_EQ(ledger_finding(system, time, integrator + std::string("on = \"open\"\n")), "") << integrator << time;
  }
}

}  // namespace
}  // namespace bathline::trajectory_test
