// Stationary covariances: heat through a chain against its closed form, and systems without a stationary state.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "model/thermal/quantum_noise.hpp"
#include "rank_subset.hpp"
#include "run_study.hpp"

namespace bathline::covariance_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string recipe(const std::string& system, const std::string& integrator) {
  return R"(title = "t"
[system]
kind = "pair-potential"
particles = 7
masses = 0.8
q0 = 0.0
pairs = "neighbours"
ends = "fixed"
potential = { kind = "harmonic", k = 1.7 }
)" + system +
         "[time]\nstep = 0.2\nend = 1.0\n[[integrators]]\nname = \"run\"\n" + integrator +
         "[study]\nkind = \"covariance\"\n";
}

const std::string warm = "damping = [0.6, 0, 0, 0, 0, 0, 0.6]\nkT = [3.0, 0, 0, 0, 0, 0, 0.5]\n";

TEST(MpiCovariance, HeatThroughAChainIsThatOfItsClosedForm) {
  const RunStudy run(recipe(warm, "method = \"time-centred\"\non = \"open\"\n"));
  // Rieder, Lebowitz and Lieb, with dampers and any mass and stiffness.
  const double m = 0.8, k = 1.7, c = 0.6, a = std::acosh(1.0 + 0.5 * m * k / (c * c));
  const double current = k * (3.0 - 0.5) / (2.0 * c) * std::sinh(6.0 * a) / std::sinh(7.0 * a);
  for (const char* label : {"run", "langevin"}) {
    const std::string group = std::string("covariance/") + label + "/";
    const std::vector<double> heat = run.values(group + "heat"), qv = run.values(group + "qv");
    EXPECT_NEAR(heat[0], current, 1e-12);
    EXPECT_NEAR(heat[6], -current, 1e-12);
    for (std::size_t bond = 0; bond < 6; ++bond) {
      EXPECT_NEAR(k * qv[7 * bond + bond + 1], current, 1e-12);
      EXPECT_NEAR(k * qv[7 * (bond + 1) + bond], -current, 1e-12);
    }
    EXPECT_NEAR(run.values(group + "temperature")[0], 3.0 - current * m / c, 1e-12);
  }
  EXPECT_LT(run.value("covariance/run/difference"), 1e-12);
}

TEST(MpiCovariance, IsThatOfTheIntegrator) {
  const RunStudy run(recipe(warm, "method = \"gamma\"\ngamma = 0.25\non = \"open\"\n"));
  EXPECT_GT(run.value("covariance/run/difference"), 1e-3);
  EXPECT_NE(run.values("covariance/run/temperature")[3], run.values("covariance/langevin/temperature")[3]);
}

/// Two particles of masses 1 and 2 in two baths at kT = 1 and 2, which act on combinations of both coordinates.
std::string shared_baths(const std::string& first, const std::string& integrator) {
  return R"(title = "t"
[system]
kind = "linear"
M = [[1.0, 0.0], [0.0, 2.0]]
K = [[1.5, -0.5], [-0.5, 2.5]]
q0 = [0.0, 0.0]
[[environments]]
name = "sum"
couple = "x0 + x1"
kT = 1.0
)" + first +
         R"([[environments]]
name = "difference"
kind = "damper"
couple = "-g*(x1 - x0) + 1"
parameters = { g = 0.5 }
damping = 0.8
kT = 2.0
[time]
step = 0.2
end = 1.0
[[integrators]]
name = "run"
)" + integrator +
         "[study]\nkind = \"covariance\"\n";
}

// Variances by the Lyapunov equation of particles and memory, solved on paper and by other software.
TEST(MpiCovariance, BathsMayShareParticlesThroughCombinationsOfCoordinates) {
  struct Expected {
    const char* first;
    std::vector<double> qq;
    double v0, v01, v1;
    double heat;  // from the second
  };
  const Expected table[] = {{"kind = \"damper\"\ndamping = 0.5\n",
                             {0.9686429713, -0.0402618160, -0.0402618160, 0.5760712383},
                             1.4571124134,
                             -0.6222695791 / 2.0,
                             2.9525839105 / 4.0,
                             0.0364944060},
                            {"kind = \"memory\"\nstiffness = [2.0]\nrate = [1.5]\nfrequency = [0.0]\n",
                             {0.9148976095, -0.0326362071, -0.0326362071, 0.6136490514},
                             1.3799077520,
                             -0.5743683428 / 2.0,
                             3.1849262846 / 4.0,
                             0.2 * (2.0 * 1.5 - (1.3799077520 + 0.5743683428 + 3.1849262846 / 4.0))}};
  for (const auto& [first, qq, v0, v01, v1, heat] : table) {
    SCOPED_TRACE(first);
    const RunStudy run(shared_baths(first, "method = \"gamma\"\ngamma = 0.5\non = \"closed\"\n"));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(run.values("covariance/run/qq")[i], qq[i], 1e-9);
    EXPECT_NEAR(run.values("covariance/run/vv")[0], v0, 1e-9);
    EXPECT_NEAR(run.values("covariance/run/vv")[1], v01, 1e-9);
    EXPECT_NEAR(run.values("covariance/run/vv")[3], v1, 1e-9);
    for (const char* group : {"langevin", "run"}) {
      const std::vector<double> currents = run.values("covariance/" + std::string(group) + "/heat_by_environment");
      ASSERT_EQ(currents.size(), 2U);
      EXPECT_NEAR(currents[0], -heat, 1e-9);
      EXPECT_NEAR(currents[1], heat, 1e-9);
    }
  }
}

// In open runs as well, where C has both.
TEST(MpiCovariance, HeatOfSharedBathsInOpenRuns) {
  const RunStudy run(
      shared_baths("kind = \"damper\"\ndamping = 0.5\n", "method = \"gamma\"\ngamma = 0.5\non = \"open\"\n"));
  const std::vector<double> currents = run.values("covariance/run/heat_by_environment");
  ASSERT_EQ(currents.size(), 2U);
  EXPECT_NEAR(currents[0], -0.0364944060, 1e-9);
  EXPECT_NEAR(currents[1], 0.0364944060, 1e-9);
}

/// Two particles with dampers on x0 + x1 and on x1, and a memory on x0, at these temperatures; rates times the step.
std::string three_baths(const std::vector<double>& kT, double step, double friction, const std::string& integrator) {
  std::string text =
      "title = \"t\"\n[system]\nkind = \"linear\"\nM = [[1.0, 0.0], [0.0, 2.0]]\nK = [[1.5, -0.5], [-0.5, 2.5]]\n"
      "q0 = [0.0, 0.0]\n";
  const std::string kinds[] = {
      fmt::format("kind = \"damper\"\ncouple = \"x0 + x1\"\ndamping = {}\n", friction / step),
      fmt::format("kind = \"damper\"\nattach = 1\ndamping = {}\n", 0.7 * friction / step),
      fmt::format("kind = \"memory\"\nattach = 0\nstiffness = [0.3, 0.2]\nrate = [{}, {}]\nfrequency = [0.0, 1.1]\n",
                  friction / step, 2.0 * friction / step)};
  for (std::size_t i = 0; i < kT.size(); ++i) {
    text += fmt::format("[[environments]]\nname = \"bath-{}\"\nkT = {}\n{}", i, kT[i], kinds[i]);
  }
  return text + fmt::format(
                    "[time]\nstep = {}\nsteps = 1\n[[integrators]]\nname = \"run\"\non = \"closed\"\n{}\n"
                    "[study]\nkind = \"covariance\"\n",
                    step, integrator);
}

// What a method exchanges in a step vanishes in equilibrium for each environment; else that of dampers adds up to 0,
// and all is the heat of continuous time but for the error of the method.
TEST(MpiCovariance, HeatIsThatOfTheLedgerOfTheMethod) {
  for (const char* method :
       {"method = \"midpoint\"", "method = \"baoab\"", "method = \"gjf\"", "method = \"gamma\"\ngamma = 0.0",
        "method = \"gamma\"\ngamma = 0.3", "method = \"gamma\"\ngamma = 1.0", "method = \"position-verlet\"",
        "method = \"gauss\"\nstages = 2"}) {
    for (const auto& [step, friction] : {std::pair(0.01, 1e-3), std::pair(0.7, 1e-5), std::pair(0.4, 0.6)}) {
      SCOPED_TRACE(fmt::format("{}, step {}, friction {}", method, step, friction));
      const double unit = friction / step;
      for (const std::vector<double>& kT :
           {std::vector<double>{1.0, 1.0, 1.0}, {2.0, 1.0, 0.5}, {1.0, 1.0}, {2.0, 1.0}}) {
        const RunStudy run(three_baths(kT, step, friction, method), RunStudy::May::fail);
        if (run.report.find("uses the method") != std::string::npos) continue;  // not for memories
        ASSERT_EQ(run.report, "");
        const std::vector<double> heat = run.values("covariance/run/heat_by_environment"),
                                  in_time = run.values("covariance/langevin/heat_by_environment");
        ASSERT_EQ(heat.size(), kT.size());
        double sum = 0.0;
        for (std::size_t i = 0; i < kT.size(); ++i) {
          sum += heat[i];
          if (kT.front() == kT.back()) {
            EXPECT_NEAR(heat[i], 0.0, 1e-8 * unit);
          }
          if (step == 0.01 && friction < 0.01) {
            EXPECT_NEAR(heat[i], in_time[i], 1e-3 * unit);
          }
        }
        if (kT.size() == 2) {
          EXPECT_NEAR(sum, 0.0, 1e-8 * unit);
        }
      }
    }
  }
}

// The same of a warm semi-infinite line, which is no matrix of sites, and a damper. What the slow motions of the chain
// leave to each after the computed steps is extrapolated as that of one of them.
TEST(Covariance, HeatOfASemiInfiniteLineIsThatOfItsLedger) {
  const auto heat_at = [](double kT, const std::string& method) {
    const RunStudy run(
        "title = \"t\"\n[system]\nkind = \"linear\"\nM = [1.0, 1.0]\nK = [[2.0, -1.0], [-1.0, 2.0]]\nq0 = [0.0, 0.0]\n"
        "v0 = [0.0, 0.0]\n[[environments]]\nname = \"line\"\nkind = \"spring-mass-line\"\nattach = 0\n"
        "sites = \"infinite\"\nM = 0.3\nlambda = 0.5\nkT = 1.0\n[[environments]]\nname = \"damper\"\n"
        "kind = \"damper\"\nattach = 1\ndamping = 0.4\nkT = " +
        std::to_string(kT) + "\n[time]\nstep = 0.3\nend = 3.0\n[[integrators]]\nname = \"run\"\non = \"closed\"\n" +
        method + "\n[study]\nkind = \"covariance\"\n");
    return run.values("covariance/run/heat_by_environment");
  };
  for (const char* method : {"method = \"midpoint\"", "method = \"gjf\""}) {
    SCOPED_TRACE(method);
    for (const double heat : heat_at(1.0, method)) EXPECT_NEAR(heat, 0.0, 1e-5);
    const std::vector<double> heat = heat_at(3.0, method);
    EXPECT_GT(heat[1], 0.01);
    EXPECT_NEAR(heat[0] + heat[1], 0.0, 1e-7);
  }
}

/// An oscillator of unit mass and frequency with a memory that has white friction.
std::string white_and_modes(const std::string& memory, const std::string& integrator, const std::string& study) {
  return "title = \"t\"\n[system]\nkind = \"linear\"\nM = [1.0]\nK = [[1.0]]\nq0 = 0.0\nv0 = 1.0\n"
         "[[environments]]\nname = \"bath\"\nkind = \"memory\"\n" +
         memory + "[time]\nstep = " + (study == "covariance" ? "0.3" : "0.01") +
         "\nend = 2.0\n[[integrators]]\nname = \"run\"\non = \"closed\"\n" + integrator + "[study]\nkind = \"" + study +
         "\"\n";
}

// <v^2> = kT (m - h^2 (k + gamma_modes(0))/4)/m^2 under `baoab`.
TEST(MpiCovariance, WhiteFrictionBesideModes) {
  const std::string memory = "damping = 0.5\nstiffness = [2.0]\nrate = [1.5]\nfrequency = [0.0]\nkT = 1.0\n";
  for (const auto& [method, v2] :
       {std::pair("method = \"baoab\"\n", 0.9325), std::pair("method = \"midpoint\"\n", 1.0)}) {
    SCOPED_TRACE(method);
    const RunStudy run(white_and_modes(memory, method, "covariance"));
    EXPECT_NEAR(run.value("covariance/run/qq"), 1.0, 1e-12);
    EXPECT_NEAR(run.value("covariance/run/vv"), v2, 1e-12);
    EXPECT_NEAR(run.value("covariance/langevin/vv"), 1.0, 1e-12);
    EXPECT_NEAR(run.value("covariance/langevin/heat_by_environment"), 0.0, 1e-12);
  }
}

// A published drift matrix (gle4md, 5 x 5) is D = 3.077 and modes that are passive only with it. The velocity of a cold
// oscillator that starts with 1 is the autocorrelation by the exponential of that matrix.
TEST(MpiCovariance, ModesThatArePassiveOnlyWithWhiteFriction) {
  const double row[] = {2.451344375, -0.004620728182, 0.0497626139, 0.3364690971};
  const double column[] = {2.451344449, -0.004598788959, -0.04976420041, 0.3364691112};
  std::string terms =
      "rate = [2.548405286, 1.73118342, 0.9243109136, 0.2728914538]\nfrequency = [0.0, 0.0, 0.0, 0.0]\n"
      "sine = [0.0, 0.0, 0.0, 0.0]\ncosine = [";
  for (int j = 0; j < 4; ++j) terms += fmt::format("{}{:.17g}", j == 0 ? "" : ", ", -row[j] * column[j]);
  terms += "]\n";
  const std::string damped = "damping = 3.077010981\n" + terms;
  const RunStudy cold(white_and_modes(damped, "method = \"gauss\"\nstages = 3\n", "trajectory"));
  const std::vector<double> p = cold.values("run/p");
  EXPECT_NEAR(p[100], 0.1874653812, 1e-9);
  EXPECT_NEAR(p[200], -0.0561015495, 1e-9);
  const std::vector<double> energy = cold.values("run/energy_total");
  EXPECT_NEAR(energy.back(), energy.front(), 1e-9);

  const RunStudy warm(white_and_modes(damped + "kT = 1.0\n", "method = \"midpoint\"\n", "covariance"));
  EXPECT_NEAR(warm.value("covariance/run/qq"), 1.0, 1e-9);
  EXPECT_NEAR(warm.value("covariance/run/vv"), 1.0, 1e-9);
  EXPECT_THAT(report_of(white_and_modes(damped + "kT = 1.0\n", "method = \"baoab\"\n", "covariance")),
              HasSubstr("passive only with its `damping`"));
  EXPECT_THAT(report_of(white_and_modes(terms, "method = \"midpoint\"\n", "trajectory")),
              HasSubstr("no passive environment has this kernel"));
}

std::string with_memory(const std::string& name, const std::string& integrator) {
  const auto bath = [](int particle, double kt) {
    return "[[environments]]\nname = \"m" + std::to_string(particle) +
           "\"\nkind = \"memory\"\nattach = " + std::to_string(particle) +
           "\nstiffness = [0.9, 0.4]\nrate = [0.8, 1.7]\nfrequency = [1.2, 0.0]\nkT = " + std::to_string(kt) + "\n";
  };
  return recipe("start = \"given\"\n" + bath(0, 3.0) + bath(6, 0.5),
                "method = \"" + name + "\"\non = \"closed\"\n" + integrator);
}

// Two warm memories of different temperatures at the ends of a chain have no closed form, but the midpoint rule solves
// the covariance equation of particles and exponentials at any step, and the heat current is the same in all bonds.
TEST(MpiCovariance, WarmMemoriesAreThoseOfTheirEquation) {
  const RunStudy run(with_memory("time-centred", ""));
  EXPECT_LT(run.value("covariance/run/difference"), 1e-10);
  EXPECT_FALSE(run.has("covariance/run/heat"));
  const std::vector<double> qv = run.values("covariance/run/qv");
  EXPECT_GT(qv[1], 0.01);
  for (std::size_t bond = 1; bond < 6; ++bond) EXPECT_NEAR(qv[7 * bond + bond + 1], qv[1], 1e-11);
  EXPECT_GT(RunStudy(with_memory("stoermer-verlet", "")).value("covariance/run/difference"), 1e-3);
  std::string silent = with_memory("time-centred", "noise = false\n");
  EXPECT_THAT(report_of(silent), HasSubstr("with warm memories, dampers or semi-infinite lines"));
}

// With one temperature it is the Gibbs distribution for any memory: kT K^-1 and kT/m.
TEST(MpiCovariance, WarmMemoryHasTheGibbsDistribution) {
  const RunStudy run(with(with_memory("gauss", "stages = 2\n"), "kT = 0.5", "kT = 3.0"));
  const std::vector<double> qq = run.values("covariance/run/qq"),
                            temperature = run.values("covariance/run/temperature");
  // For springs k between walls: i (n + 1 - j) / (n + 1) k for i <= j, counted from 1.
  EXPECT_NEAR(qq[0], 3.0 * 7.0 / (8.0 * 1.7), 1e-11);
  EXPECT_NEAR(qq[7 * 2 + 4], 3.0 * 3.0 * 3.0 / (8.0 * 1.7), 1e-11);
  for (const double kinetic_temperature : temperature) EXPECT_NEAR(kinetic_temperature, 3.0, 1e-11);
}

// Two masses between a warm line and a warm memory: integrals over all frequencies, 2 kT Re g(i w) of each bath through
// the masses, by adaptive quadrature (scipy). The midpoint rule has the same integrals at any step.
TEST(Covariance, WarmLinesWithoutEndAreThoseOfTheirFrequencies) {
  std::string text = recipe("", "method = \"time-centred\"\non = \"closed\"\n");
  for (const auto& [from, to] :
       {std::pair("particles = 7", "particles = 2"), {"masses = 0.8", "masses = 1.0"}, {"k = 1.7", "k = 1.0"}}) {
    text.replace(text.find(from), std::string(from).size(), to);
  }
  text +=
      "[[environments]]\nname = \"line\"\nkind = \"spring-mass-line\"\nsites = \"infinite\"\nM = 0.5\nlambda = 2.0\n"
      "tolerance = 1e-7\nkT = 2.0\n"
      "[[environments]]\nname = \"memory\"\nkind = \"memory\"\nattach = 1\nstiffness = [0.9]\nrate = [0.8]\n"
      "frequency = [0.0]\nkT = 1.0\n";
  const RunStudy run(text);
  for (const char* label : {"run", "langevin"}) {
    const std::string group = std::string("covariance/") + label + "/";
    const std::vector<double> qq = run.values(group + "qq"), qv = run.values(group + "qv"),
                              vv = run.values(group + "vv");
    EXPECT_NEAR(qq[0], 1.2103899141801027, 1e-6);
    EXPECT_NEAR(qq[1], 0.5349799807739529, 1e-6);
    EXPECT_NEAR(qq[3], 0.9666279806287865, 1e-6);
    EXPECT_NEAR(vv[0], 1.8477343440155214, 1e-6);
    EXPECT_NEAR(vv[3], 1.5738485832056501, 1e-6);
    EXPECT_NEAR(qv[1], 0.14045808217762407, 1e-6);
  }
}

// An oscillator in a quantum Drude bath: kT [1/k + 2 sum 1/(m nu^2 + nu g(nu) + k)] over Matsubara frequencies,
// and as much for v, both summed with 25 digits.
//
// The error of the run is that of its truncated filter. Towards the Nyquist frequency the square root of the spectrum
// is c (pi - theta)^(1/2), c^2 = stiffness rate hbar/4, so that coefficient l of the filter is a l^(-3/2) with
// alternating signs and a = c/(8 pi)^(1/2). The filter is cut at `min_reach` coefficients R, and as it is computed from
// 8 R frequencies every coefficient is too large by 2 zeta(3/2) a (8 R)^(-3/2) < 0.24 a R^(-3/2). At the Nyquist
// frequency the response of v is h/2: by Parseval's theorem the cut removes (h a/(2 R))^2 of its variance, and aliasing
// adds 8 x 0.24 times as much. The response of q vanishes there, and to the ripples of the root, at most 1.24 a
// R^(-3/2)/cos(theta/2), it responds as to white noise: by residues with h (1.04 + 1.14 h^2/4) of their square.
// Doubling the time changes at most 1e-11 of a variance.
TEST(MpiCovariance, QuantumNoiseHasTheVariancesOfQuantumMechanics) {
  const RunStudy run(R"(title = "t"
[system]
kind = "linear"
M = [1.0]
K = [1.0]
q0 = [0.3]
[[environments]]
name = "m"
kind = "memory"
stiffness = [2.5]
rate = [5.0]
frequency = [0.0]
kT = 0.05
quantum = true
hbar = 1.0
[time]
step = 0.2
end = 1.0
[[integrators]]
method = "gamma"
gamma = 0.5
on = "closed"
name = "run"
[study]
kind = "covariance"
)");
  const double stiffness = 2.5, rate = 5.0, hbar = 1.0, h = 0.2, doubling = 1e-11;
  const auto reach = static_cast<double>(QuantumNoise::min_reach);
  const double weight = std::sqrt(stiffness * rate * hbar / (32.0 * std::numbers::pi));
  const double ripple = 1.24 * weight * std::pow(reach, -1.5), removed = h * weight / (2.0 * reach);
  EXPECT_NEAR(run.value("covariance/run/qq"), 0.446451330747071,
              ripple * ripple * h * (1.04 + 1.14 * h * h / 4.0) + doubling);
  EXPECT_NEAR(run.value("covariance/run/vv"), 0.715155321824834, 3.0 * removed * removed + doubling);
}

std::string oscillator_with(const std::string& constants, const std::string& environment, double step,
                            const std::string& integrator = "method = \"midpoint\"\n") {
  return "title = \"t\"\n[system]\nkind = \"single-oscillator\"\n" + constants +
         "q0 = [0.0]\n[[environments]]\nname = \"e\"\n" + environment + "[time]\nstep = " + std::to_string(step) +
         "\nend = 100.0\n[[integrators]]\nname = \"run\"\non = \"closed\"\n" + integrator +
         "[study]\nkind = \"covariance\"\n";
}

/// Passive only together, the modes decay at `scale` times 0.27 to 40 1/s.
std::string passive_together(double scale) {
  const auto list = [&](std::initializer_list<double> values, double factor) {
    std::string text;
    for (const double value : values) text += (text.empty() ? "[" : ", ") + fmt::format("{:.17g}", factor * value);
    return text + "]\n";
  };
  return "kind = \"memory\"\nattach = 0\nkT = 1.0\nfrequency = [0.0, 0.0, 0.0, 0.0, 0.0]\n"
         "sine = [0.0, 0.0, 0.0, 0.0, 0.0]\nrate = " +
         list({2.548405286, 1.73118342, 0.9243109136, 0.2728914538, 40.0}, scale) +
         "cosine = " + list({-6.0090885, -2.1249716e-5, 2.4764e-3, -0.11321148, 123.08043924}, scale);
}

// <q^2> = kT/k and <v^2> = kT/m, whatever the memory. The oscillator, the memory or both forget their start within up
// to 10^9 steps; round-off of that rate, 1e-15 a step, limits the digits.
TEST(MpiCovariance, SlowMotionsUnderColouredNoiseHaveTheGibbsDistribution) {
  const std::string line =
      "kind = \"spring-mass-line\"\nattach = 0\nsites = \"infinite\"\nM = 1.0\nlambda = 1.0\nkT = 1.0\n";
  struct Row {
    const char* constants;
    double m, k;
    std::string environment;
    double step, error;
  };
  RankSubset subset(3);
  for (const Row& row : {Row{"m = 1.0\nk = 1e-4\n", 1.0, 1e-4, passive_together(1.0), 0.02, 1e-8},
                         Row{"m = 1.0\nk = 1e-7\n", 1.0, 1e-7, passive_together(1.0), 0.02, 1e-5},
                         Row{"m = 1.0\nk = 1.0\n", 1.0, 1.0, passive_together(0.001), 0.02, 1e-6},
                         Row{"m = 1e5\nk = 1e3\n", 1e5, 1e3, line, 0.2, 1e-5}}) {
    if (!subset.takes_next()) continue;
    SCOPED_TRACE(row.constants);
    const RunStudy run(oscillator_with(row.constants, row.environment, row.step));
    EXPECT_NEAR(run.value("covariance/run/qq") * row.k, 1.0, row.error);
    EXPECT_NEAR(run.value("covariance/run/vv") * row.m, 1.0, row.error);
  }
}

// An oscillator with the damping C has the rate C/2m; the error of sums over its motion is round-off over that, and
// the estimate is an upper bound of it.
TEST(Covariance, EstimatesItsErrorByRoundOff) {
  for (const double damping : {1e-2, 1e-4, 1e-6, 1e-8}) {
    const RunStudy run(oscillator_with(
        "m = 1.0\nk = 1.0\n",
        "kind = \"damper\"\nattach = 0\nkT = 1.0\ndamping = " + std::to_string(damping * 1e8) + "e-8\n", 0.3));
    const double error = run.value("covariance/run/error");
    EXPECT_GT(error, 1e-17 / damping);
    EXPECT_LT(error, 1e-13 / damping);
    EXPECT_LT(std::abs(run.value("covariance/langevin/qq") - 1.0), error);
  }
}

TEST(Covariance, NamesTheSlowMotionWhereThereIsNoStationaryState) {
  const RunStudy undamped(oscillator_with("m = 1.0\nk = 9.0\n",
                                          "kind = \"spring-mass-line\"\nattach = 0\nsites = \"infinite\"\nM = 1.0\n"
                                          "lambda = 1.0\nkT = 1.0\n",
                                          0.1),
                          RunStudy::May::fail);
  ASSERT_TRUE(undamped.failure);
  EXPECT_THAT(undamped.failure->failure.reason, HasSubstr("the slowest motion, at 3."));
}

TEST(MpiCovariance, SaysWhatIsWrong) {
  EXPECT_THAT(report_of(recipe(warm, "method = \"gamma\"\non = \"open\"\nnoise = false\n")),
              HasSubstr("a covariance study needs noise"));
  EXPECT_THAT(report_of(recipe("", "method = \"gamma\"\non = \"closed\"\n")),
              HasSubstr("a covariance study needs noise"));
  const RunStudy drifting(
      with(recipe(warm, "method = \"time-centred\"\non = \"open\"\n"), "ends = \"fixed\"", "ends = \"free\""),
      RunStudy::May::fail);
  ASSERT_TRUE(drifting.failure.has_value());
  EXPECT_THAT(drifting.failure->failure.reason,
              AllOf(HasSubstr("there is no stationary state"), HasSubstr("the slowest motion")));
}

}  // namespace
}  // namespace bathline::covariance_test
