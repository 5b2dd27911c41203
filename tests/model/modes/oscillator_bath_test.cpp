// The oscillator bath with moving heads and particles, against plain loops, dense matrices and formulas.
#include "model/modes/oscillator_bath.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "steppers/stepper.hpp"
#include "explicit_schemes.hpp"
#include "model/line/line.hpp"
#include "model/problem.hpp"
#include "on_rank_zero.hpp"
#include "one_stage.hpp"
#include "quartic_potential.hpp"
#include "self_world.hpp"
#include "serial_oscillator_bath.hpp"
#include "test_world.hpp"

namespace bathline::oscillator_bath_test {
namespace {

using std::numbers::pi;

constexpr int steps = 45;
constexpr double h = 0.21;

OscillatorBath make_bath(const DiscreteSpectrum& spectrum, int axes, int steps_per_pass, const Communicator& world,
                         double temperature = 0.0) {
  return OscillatorBath("bath", Attachment({{0, 1.0}}, axes), spectrum, temperature, world, steps_per_pass);
}

/// Displacement of the head at a substep along an axis; the path is arbitrary.
double head_at(int substep, int axis) { return std::sin(0.11 * substep + axis) + 0.01 * substep; }

struct State {
  std::vector<double> w, p;  // site by site, axis by axis
};

/// Every oscillator in motion with a displacement below 1.
State random_state(const DiscreteSpectrum& spectrum, int axes) {
  RandomNumbers random(31);
  State state;
  for (std::int64_t j = 0; j < spectrum.size; ++j) {
    const BathOscillator oscillator = spectrum.oscillator(j);
    for (int axis = 0; axis < axes; ++axis) {
      state.w.push_back(random.uniform());
      state.p.push_back(random.uniform() * oscillator.stiffness / oscillator.frequency);
    }
  }
  return state;
}

struct Outcome {
  std::vector<double> w, p, forces,
      pulls;  // on rank 0: state, forces before kicks and stages, force after the last block
  EnvironmentEnergy energy;
};

/// Runs a bath in blocks of the given lengths, repeated cyclically, each at most as long as the bath allows.
Outcome run(const DiscreteSpectrum& spectrum, int axes, int steps_per_pass, const ExplicitScheme& scheme,
            const std::vector<int>& blocks, const Communicator& world) {
  OscillatorBath bath = make_bath(spectrum, axes, steps_per_pass, world);
  bath.prepare({});
  const State start = random_state(spectrum, axes);
  bath.scatter_state(start.w, start.p);
  const auto environment_stepper = bath.explicit_stepper(scheme, h);
  Outcome outcome;
  std::vector<double> head(static_cast<std::size_t>(axes)), force(head);
  int done = 0, substeps = 0;
  for (std::size_t block = 0; done < steps; ++block) {
    const int length = std::min({blocks[block % blocks.size()], environment_stepper->max_block_steps(), steps - done});
    environment_stepper->begin_block({.steps = length});
    for (int step = 0; step < length && world.is_root(); ++step) {
      for (const Substep& substep : scheme.substeps) {
        for (int axis = 0; axis < axes; ++axis) head[static_cast<std::size_t>(axis)] = head_at(substeps, axis);
        if (substep.kind != Substep::Kind::drift) {
          environment_stepper->force({head, {}}, force);
          outcome.forces.insert(outcome.forces.end(), force.begin(), force.end());
        }
        environment_stepper->substep(substep, {head, {}});
        ++substeps;
      }
    }
    environment_stepper->end_block();
    done += length;
    bath.force(std::vector<double>(head.size(), 0.0), force);
    outcome.pulls = force;
  }
  outcome.energy = bath.energy(std::vector<double>(head.size(), 0.25));
  bath.gather_state(outcome.w, outcome.p);
  return outcome;
}

/// The same in plain loops.
Outcome run_serially(const DiscreteSpectrum& spectrum, int axes, const ExplicitScheme& scheme) {
  const State start = random_state(spectrum, axes);
  Outcome outcome{start.w, start.p, {}, {}, {}};
  std::vector<std::vector<double>> forces(static_cast<std::size_t>(axes));
  const auto stride = static_cast<std::size_t>(axes);
  for (std::size_t axis = 0; axis < stride; ++axis) {
    SerialOscillatorBath bath(spectrum);
    for (std::size_t j = 0; j < bath.w.size(); ++j) {
      bath.w[j] = start.w[j * stride + axis];
      bath.p[j] = start.p[j * stride + axis];
    }
    for (int i = 0; i < steps * static_cast<int>(scheme.substeps.size()); ++i) {
      const Substep& substep = scheme.substeps[static_cast<std::size_t>(i) % scheme.substeps.size()];
      const double head = head_at(i, static_cast<int>(axis));
      if (substep.kind != Substep::Kind::drift) forces[axis].push_back(bath.force_on_head(head));
      bath.substep(substep, scheme, h, head);
    }
    for (std::size_t j = 0; j < bath.w.size(); ++j) {
      outcome.w[j * stride + axis] = bath.w[j];
      outcome.p[j * stride + axis] = bath.p[j];
    }
    outcome.pulls.push_back(bath.force_on_head(0.0));
  }
  for (std::size_t i = 0; i < forces[0].size(); ++i) {
    for (std::size_t axis = 0; axis < stride; ++axis) outcome.forces.push_back(forces[axis][i]);
  }
  return outcome;
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected, const char* what) {
  ASSERT_EQ(actual.size(), expected.size());
  double scale = 0.0, worst = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    scale = std::max(scale, std::abs(expected[i]));
    worst = std::max(worst, std::abs(actual[i] - expected[i]));
  }
  EXPECT_LE(worst, 2e-13 * scale) << what;
}

void expect_same_bits(const Outcome& actual, const Outcome& expected) {
  EXPECT_TRUE(actual.w == expected.w) << "displacements";
  EXPECT_TRUE(actual.p == expected.p) << "momenta";
  EXPECT_TRUE(actual.forces == expected.forces) << "forces on the head";
}

/// A bath on rank 0 alone, in blocks of one step; the energies are known on all ranks.
Outcome run_one_by_one(const DiscreteSpectrum& spectrum, int axes, int steps_per_pass, const ExplicitScheme& scheme) {
  Outcome outcome;
  on_rank_zero([&] { outcome = run(spectrum, axes, steps_per_pass, scheme, {1}, self_world()); });
  std::array<double, 2> terms = {outcome.energy.environment, outcome.energy.interaction};
  test_world().broadcast(std::span<double>(terms));
  outcome.energy.environment = terms[0];
  outcome.energy.interaction = terms[1];
  return outcome;
}

class MpiOscillatorBathExplicit : public testing::TestWithParam<int> {
 protected:
  const NamedScheme& this_case() const { return explicit_schemes()[static_cast<std::size_t>(GetParam())]; }
};

TEST_P(MpiOscillatorBathExplicit, EqualsThePlainLoopForAnyPassLength) {
  for (const std::int64_t size : {1, 5, 64, 65, 301, 2000}) {
    for (const int axes : {1, 2}) {
      const DiscreteSpectrum spectrum = uneven_spectrum(size);
      Outcome expected;
      on_rank_zero([&] { expected = run_serially(spectrum, axes, this_case().scheme); });
      for (const int steps_per_pass : {1, 3, 8, 100}) {
        SCOPED_TRACE(testing::Message() << this_case().name << ", " << size << " oscillators, " << axes << " axes, "
                                        << steps_per_pass << " steps a pass");
        const Outcome actual = run(spectrum, axes, steps_per_pass, this_case().scheme, {1000}, test_world());
        if (!test_world().is_root()) continue;
        expect_close(actual.forces, expected.forces, "forces on the head");
        expect_close(actual.pulls, expected.pulls, "force after the last block");
        if (this_case().is_splitting()) {
          EXPECT_TRUE(actual.w == expected.w) << "displacements";
          EXPECT_TRUE(actual.p == expected.p) << "momenta";
        } else {
          expect_close(actual.w, expected.w, "displacements");
          expect_close(actual.p, expected.p, "momenta");
        }
      }
    }
  }
}

TEST_P(MpiOscillatorBathExplicit, NeitherBlocksNorRanksChangeABit) {
  for (const std::int64_t size : {3, 131, 3000}) {
    const DiscreteSpectrum spectrum = uneven_spectrum(size);
    const Outcome one_by_one = run_one_by_one(spectrum, 2, 8, this_case().scheme);
    for (const std::vector<int>& blocks : {std::vector<int>{1}, {1000}, {7, 1, 5}}) {
      SCOPED_TRACE(testing::Message() << this_case().name << ", " << size << " oscillators, blocks of "
                                      << blocks.front());
      const Outcome actual = run(spectrum, 2, 8, this_case().scheme, blocks, test_world());
      EXPECT_EQ(actual.energy.environment, one_by_one.energy.environment);
      EXPECT_EQ(actual.energy.interaction, one_by_one.energy.interaction);
      EXPECT_EQ(actual.energy.dissipated, 0.0);
      if (test_world().is_root()) expect_same_bits(actual, one_by_one);
    }
  }
}

// Particle, bath and potential in one plain loop, every part at every substep.
struct Closed {
  double q, p;
  SerialOscillatorBath bath;
};

constexpr double mass = 1.4, quartic = 0.8;
double gradient(double q) { return 1.1 * q + quartic * q * q * q; }

void step_in_plain_loop(Closed& closed, const ExplicitScheme& scheme, double step) {
  const double q0 = 1.0;  // origin of the displacements of the bath
  std::vector<double> velocities, forces;
  double at = closed.q, momentum = closed.p;
  for (const Substep& substep : scheme.substeps) {
    const bool is_stage = substep.kind == Substep::Kind::stage;
    if (!is_stage) at = closed.q;
    const double head = at - q0, force = closed.bath.force_on_head(head) - gradient(at);
    closed.bath.substep(substep, scheme, step, head);
    if (substep.kind == Substep::Kind::drift) closed.q += substep.weight * step * closed.p / mass;
    if (substep.kind == Substep::Kind::kick) closed.p += substep.weight * step * force;
    if (!is_stage) continue;
    velocities.push_back(momentum / mass);
    forces.push_back(force);
    const bool last = velocities.size() == scheme.b.size();
    const std::vector<double>& weights = last ? scheme.b : scheme.a[velocities.size()];
    at = closed.q;
    momentum = closed.p;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      at += step * weights[i] * velocities[i];
      momentum += step * weights[i] * forces[i];
    }
  }
  if (scheme.b.empty()) return;
  closed.q = at;
  closed.p = momentum;
}

/// A quartic particle at 1 that moves, on a bath and perhaps a line.
Problem make_problem(const DiscreteSpectrum& spectrum, int steps_per_pass, bool has_line, const Communicator& world,
                     double temperature = 0.0) {
  ParticleSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Constant(1, mass);
  system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Constant(1, 1, 1.1), quartic);
  system.q0 = Eigen::VectorXd::Ones(1);
  system.v0 = Eigen::VectorXd::Constant(1, 0.6);
  std::vector<std::unique_ptr<Environment>> environments;
  environments.push_back(std::make_unique<OscillatorBath>("bath", Attachment({{0, 1.0}}, 1), spectrum, temperature,
                                                          world, steps_per_pass));
  if (has_line) {
    environments.push_back(std::make_unique<Line>("line", Attachment({{0, 1.0}}, 1),
                                                  LineConstants{.mass = 0.3, .stiffness = 1.2}, 300, world));
  }
  Problem problem(system, Eigen::MatrixXd::Zero(1, 1), std::move(environments), world);
  problem.prepare(42);
  return problem;
}

TEST_P(MpiOscillatorBathExplicit, ANonlinearParticleMovesAsInThePlainLoop) {
  // Explicit Runge-Kutta methods are unstable without damping, so their step is small.
  const double step = this_case().is_splitting() ? 0.13 : 0.02;
  const DiscreteSpectrum spectrum = uneven_spectrum(200);
  Closed closed{1.0, mass * 0.6, SerialOscillatorBath(spectrum)};
  on_rank_zero([&] {
    for (int i = 0; i < steps; ++i) step_in_plain_loop(closed, this_case().scheme, step);
  });
  for (const int steps_per_pass : {1, 3, 8}) {
    SCOPED_TRACE(testing::Message() << this_case().name << ", " << steps_per_pass << " steps a pass");
    Problem problem = make_problem(spectrum, steps_per_pass, false, test_world());
    ASSERT_FALSE(make_explicit_stepper(this_case().scheme, problem, step)->advance(steps));
    std::vector<double> w, p;
    problem.environments()[0]->gather_state(w, p);
    if (!test_world().is_root()) continue;
    EXPECT_NEAR(problem.q[0], closed.q, 1e-13);
    EXPECT_NEAR(problem.p[0], closed.p, 1e-13);
    expect_close(w, closed.bath.w, "displacements");
    expect_close(p, closed.bath.p, "momenta");
  }
}

TEST_P(MpiOscillatorBathExplicit, RunsHaveTheSameBitsOnAnyNumberOfRanksAndForAnyStops) {
  for (const bool has_line : {false, true}) {
    const DiscreteSpectrum spectrum = uneven_spectrum(700);
    // Rank 0 alone in one go, then all ranks with stops.
    Problem alone = make_problem(spectrum, 8, has_line, self_world(), 0.2);
    on_rank_zero([&] { make_explicit_stepper(this_case().scheme, alone, 0.02)->advance(60); });
    const EnergyLedger energies = alone.energies();
    std::array<double, 3> expected = {energies.particles, energies.environment, energies.interaction};
    test_world().broadcast(std::span<double>(expected));
    for (const int stop : {1, 5, 60}) {
      SCOPED_TRACE(testing::Message() << this_case().name << (has_line ? ", with a line" : "") << ", stop every "
                                      << stop);
      Problem problem = make_problem(spectrum, 8, has_line, test_world(), 0.2);
      const auto stepper = make_explicit_stepper(this_case().scheme, problem, 0.02);
      for (int done = 0; done < 60; done += stop) {
        stepper->advance(stop);
        problem.energies();
      }
      const EnergyLedger energy = problem.energies();
      EXPECT_EQ(energy.particles, expected[0]);
      EXPECT_EQ(energy.environment, expected[1]);
      EXPECT_EQ(energy.interaction, expected[2]);
      if (test_world().is_root()) {
        EXPECT_EQ(problem.q[0], alone.q[0]);
        EXPECT_EQ(problem.p[0], alone.p[0]);
      }
    }
  }
}

// The free response computed at the start of a pass and the impulse response since then are part of the saved state.
TEST_P(MpiOscillatorBathExplicit, ARestartInsideAPassChangesNoBit) {
  constexpr int all = 60, per_pass = 8;
  const DiscreteSpectrum spectrum = uneven_spectrum(700);
  Problem through = make_problem(spectrum, per_pass, true, test_world(), 0.2);
  make_explicit_stepper(this_case().scheme, through, 0.02)->advance(all);
  const EnergyLedger expected = through.energies();
  for (const int stop : {1, per_pass - 1, per_pass, 3 * per_pass + 5}) {
    SCOPED_TRACE(testing::Message() << this_case().name << ", stop after " << stop);
    Problem first = make_problem(spectrum, per_pass, true, test_world(), 0.2);
    const auto stepper = make_explicit_stepper(this_case().scheme, first, 0.02);
    stepper->advance(stop);
    // This one starts at rest; its whole state comes from the first.
    Problem second = make_problem(spectrum, per_pass, true, test_world());
    const auto next_stepper = make_explicit_stepper(this_case().scheme, second, 0.02);
    second.q = first.q;
    second.p = first.p;
    for (std::size_t e = 0; e < first.environments().size(); ++e) {
      std::vector<double> w, p;
      first.environments()[e]->gather_state(w, p);
      second.environments()[e]->scatter_state(w, p);
    }
    std::vector<double> memory = stepper->internal_state();
    auto size = static_cast<double>(memory.size());
    test_world().broadcast(std::span<double>(&size, 1));
    memory.resize(static_cast<std::size_t>(size));
    test_world().broadcast(std::span<double>(memory));
    next_stepper->set_internal_state(memory);
    next_stepper->advance(all - stop);
    const EnergyLedger energy = second.energies();
    EXPECT_EQ(energy.environment, expected.environment);
    EXPECT_EQ(energy.interaction, expected.interaction);
    if (!test_world().is_root()) continue;
    EXPECT_EQ(second.q[0], through.q[0]);
    EXPECT_EQ(second.p[0], through.p[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, MpiOscillatorBathExplicit,
                         testing::Range(0, static_cast<int>(explicit_schemes().size())),
                         [](const auto& info) { return "scheme" + std::to_string(info.param); });

/// The arrowhead system of particle and oscillators as one dense matrix, by Newton's method.
void step_densely(Closed& closed, const OneStage& s, double step) {
  const double q0 = 1.0;
  const auto n = static_cast<Eigen::Index>(closed.bath.w.size());
  Eigen::VectorXd u(n + 1), p(n + 1), inverse(n + 1), k(n);
  u[0] = closed.q;
  p[0] = closed.p;
  inverse[0] = 1.0 / mass;
  for (Eigen::Index j = 0; j < n; ++j) {
    const auto i = static_cast<std::size_t>(j);
    u[j + 1] = closed.bath.w[i] + q0;
    p[j + 1] = closed.bath.p[i];
    inverse[j + 1] = closed.bath.inverse_mass[i];
    k[j] = closed.bath.stiffness[i];
  }
  const auto force = [&](const Eigen::VectorXd& at) {
    Eigen::VectorXd f(n + 1);
    f.tail(n) = k.array() * (at[0] - at.tail(n).array());
    f[0] = -f.tail(n).sum() - gradient(at[0]);
    return f;
  };
  Eigen::VectorXd stage_p = p, stage_u = u;
  for (int iteration = 0; iteration < 20; ++iteration) {
    stage_u = u + s.b * step * inverse.cwiseProduct(stage_p);
    Eigen::MatrixXd stiffness = Eigen::MatrixXd::Zero(n + 1, n + 1);
    stiffness(0, 0) = k.sum() + 1.1 + 3.0 * quartic * stage_u[0] * stage_u[0];
    for (Eigen::Index j = 0; j < n; ++j) {
      stiffness(j + 1, j + 1) = k[j];
      stiffness(0, j + 1) = stiffness(j + 1, 0) = -k[j];
    }
    const Eigen::MatrixXd jacobian =
        Eigen::MatrixXd::Identity(n + 1, n + 1) + s.a * s.b * step * step * stiffness * inverse.asDiagonal();
    stage_p -= jacobian.partialPivLu().solve(stage_p - p - s.a * step * force(stage_u));
  }
  stage_u = u + s.b * step * inverse.cwiseProduct(stage_p);
  p = stage_p + s.a_end * step * force(stage_u);
  u = stage_u + s.b_end * step * inverse.cwiseProduct(stage_p);
  closed.q = u[0];
  closed.p = p[0];
  for (Eigen::Index j = 0; j < n; ++j) {
    closed.bath.w[static_cast<std::size_t>(j)] = u[j + 1] - q0;
    closed.bath.p[static_cast<std::size_t>(j)] = p[j + 1];
  }
}

std::vector<std::pair<std::string, PartitionedRungeKutta>> one_stage_schemes() {
  std::vector<std::pair<std::string, PartitionedRungeKutta>> all;
  for (const MethodCase& method_case : method_cases()) {
    const auto* scheme = std::get_if<PartitionedRungeKutta>(&method_case.scheme);
    if (scheme != nullptr && scheme->stages() == 1) all.emplace_back(method_case.name, *scheme);
  }
  return all;
}

TEST(MpiOscillatorBathImplicit, EqualsADenseSolution) {
  ASSERT_FALSE(one_stage_schemes().empty());
  for (const auto& [name, scheme] : one_stage_schemes()) {
    for (const int size : {1, 40, 150}) {
      for (const double step : {0.05, 0.8}) {
        SCOPED_TRACE(testing::Message() << name << ", " << size << " oscillators, h = " << step);
        const DiscreteSpectrum spectrum = uneven_spectrum(size);
        Closed closed{1.0, mass * 0.6, SerialOscillatorBath(spectrum)};
        on_rank_zero([&, &scheme = scheme] {
          for (int i = 0; i < 12; ++i) step_densely(closed, OneStage::of(scheme), step);
        });
        Problem problem = make_problem(spectrum, 8, false, test_world());
        ASSERT_FALSE(make_implicit_stepper(scheme, problem, step)->advance(12));
        std::vector<double> w, p, force(1);
        Environment& bath = *problem.environments()[0];
        bath.gather_state(w, p);
        if (!test_world().is_root()) continue;
        EXPECT_NEAR(problem.q[0], closed.q, 2e-12);
        EXPECT_NEAR(problem.p[0], closed.p, 2e-12);
        for (std::size_t j = 0; j < w.size(); ++j) {
          ASSERT_NEAR(w[j], closed.bath.w[j], 5e-12) << j;
          ASSERT_NEAR(p[j], closed.bath.p[j], 5e-12) << j;
        }
        bath.force(std::vector<double>{0.3}, force);
        EXPECT_NEAR(force[0], closed.bath.force_on_head(0.3), 1e-11);
      }
    }
  }
}

TEST(MpiOscillatorBathImplicit, HasTheSameBitsOnAnyNumberOfRanks) {
  for (const auto& [name, scheme] : one_stage_schemes()) {
    SCOPED_TRACE(name);
    Problem alone = make_problem(uneven_spectrum(700), 8, false, self_world(), 0.2);
    Problem problem = make_problem(uneven_spectrum(700), 8, false, test_world(), 0.2);
    make_implicit_stepper(scheme, alone, 0.1)->advance(30);
    make_implicit_stepper(scheme, problem, 0.1)->advance(30);
    EXPECT_EQ(problem.energies().environment, alone.energies().environment);
    EXPECT_EQ(problem.energies().interaction, alone.energies().interaction);
    if (test_world().is_root()) {
      EXPECT_EQ(problem.q[0], alone.q[0]);
      EXPECT_EQ(problem.p[0], alone.p[0]);
    }
  }
}

// What a stepper has computed ahead is invalid after steps of another one, or after the state was set from outside.
TEST(MpiOscillatorBath, SchemesMayAlternate) {
  const DiscreteSpectrum spectrum = uneven_spectrum(100);
  Closed closed{1.0, mass * 0.6, SerialOscillatorBath(spectrum)};
  Problem problem = make_problem(spectrum, 8, false, test_world());
  const double step = 0.03;
  const auto plainly = [&](int count, const ExplicitScheme& scheme, double length) {
    on_rank_zero([&] {
      for (int i = 0; i < count; ++i) step_in_plain_loop(closed, scheme, length);
    });
  };
  const auto densely = [&](int count, const PartitionedRungeKutta& scheme) {
    on_rank_zero([&] {
      for (int i = 0; i < count; ++i) step_densely(closed, OneStage::of(scheme), step);
    });
  };
  for (const PartitionedRungeKutta& implicit : {one_stage(0.5, 0.5), one_stage(1.0, 1.0)}) {
    const auto stepper = make_implicit_stepper(implicit, problem, step);
    for (const NamedScheme& named : explicit_schemes()) {
      make_explicit_stepper(named.scheme, problem, step)->advance(3);
      plainly(3, named.scheme, step);
      stepper->advance(2);
      densely(2, implicit);
      make_explicit_stepper(named.scheme, problem, 0.5 * step)->advance(3);
      plainly(3, named.scheme, 0.5 * step);
      for (double& w : closed.bath.w) w *= 0.9;
      problem.environments()[0]->scatter_state(closed.bath.w, closed.bath.p);
      stepper->advance(1);
      densely(1, implicit);
    }
  }
  if (!test_world().is_root()) return;
  EXPECT_NEAR(problem.q[0], closed.q, 1e-12);
  EXPECT_NEAR(problem.p[0], closed.p, 1e-12);
}

TEST(MpiOscillatorBath, StartsAtRestAndKeepsItsState) {
  for (const std::int64_t size : {1, 63, 64, 65, 1000}) {
    for (const int axes : {1, 3}) {
      const DiscreteSpectrum spectrum = uneven_spectrum(size);
      OscillatorBath bath = make_bath(spectrum, axes, 8, test_world());
      EXPECT_GE(test_world().sum(bath.bytes(ExactFlow{})), (2 + 2 * axes) * 8 * size);
      // Implicit Euler keeps the step, the drive and the force of each oscillator.
      EXPECT_GE(test_world().sum(bath.bytes(one_stage(1.0, 1.0))), (10 + 2 * axes) * 8 * size);
      bath.prepare({.seed = 3});
      std::vector<double> w, p;
      bath.gather_state(w, p);
      const auto count = static_cast<std::size_t>(test_world().is_root() ? size * axes : 0);
      EXPECT_EQ(w, std::vector<double>(count));
      EXPECT_EQ(p, std::vector<double>(count));
      const State state = random_state(spectrum, axes);
      bath.scatter_state(state.w, state.p);
      for (int axis = 0; axis < axes; ++axis) {
        const StateField field = bath.field("w", axis);
        const std::span<const double> local = field.values;
        for (std::size_t j = 0; j < local.size(); ++j) {
          const auto site = static_cast<std::size_t>(field.first) + j;
          EXPECT_EQ(local[j], state.w[site * static_cast<std::size_t>(axes) + static_cast<std::size_t>(axis)]);
        }
      }
      bath.gather_state(w, p);
      if (test_world().is_root()) {
        EXPECT_EQ(w, state.w);
        EXPECT_EQ(p, state.p);
      }
    }
  }
}

TEST(MpiOscillatorBath, EnergyIsThatOfItsSpringsAndMasses) {
  for (const std::int64_t size : {1, 65, 5000}) {
    constexpr int axes = 2;
    const DiscreteSpectrum spectrum = uneven_spectrum(size);
    OscillatorBath bath = make_bath(spectrum, axes, 8, test_world());
    bath.prepare({});
    const State state = random_state(spectrum, axes);
    bath.scatter_state(state.w, state.p);
    const std::vector<double> head = {0.3, -0.4};
    const EnvironmentEnergy energy = bath.energy(test_world().is_root() ? head : std::vector<double>(2, 9.0));
    long double kinetic = 0.0L, potential = 0.0L;
    for (std::size_t i = 0; i < state.w.size(); ++i) {
      const BathOscillator oscillator = spectrum.oscillator(static_cast<std::int64_t>(i) / axes);
      const long double m =
          oscillator.stiffness / (static_cast<long double>(oscillator.frequency) * oscillator.frequency);
      kinetic += state.p[i] * state.p[i] / (2.0L * m);
      const long double strain = state.w[i] - head[i % axes];
      potential += 0.5L * oscillator.stiffness * strain * strain;
    }
    EXPECT_NEAR(energy.environment, static_cast<double>(kinetic), 1e-13 * static_cast<double>(kinetic));
    EXPECT_NEAR(energy.interaction, static_cast<double>(potential), 1e-13 * static_cast<double>(potential));
    EXPECT_EQ(energy.dissipated, 0.0);
  }
}

/// A thermal start on rank 0.
State thermal(const DiscreteSpectrum& spectrum, int axes, double temperature, const RngKey& key,
              const Communicator& world) {
  OscillatorBath bath = make_bath(spectrum, axes, 8, world, temperature);
  bath.prepare(key);
  State state;
  bath.gather_state(state.w, state.p);
  return state;
}

TEST(MpiOscillatorBath, ThermalStartIsTheSameOnAnyNumberOfRanks) {
  const RngKey key{.seed = 17, .realisation = 4, .stream = 1};
  for (const std::int64_t size : {1, 65, 1000}) {
    const State alone = thermal(uneven_spectrum(size), 2, 0.7, key, self_world());
    const State state = thermal(uneven_spectrum(size), 2, 0.7, key, test_world());
    if (!test_world().is_root()) continue;
    EXPECT_EQ(state.w, alone.w);
    EXPECT_EQ(state.p, alone.p);
    EXPECT_NE(state.w[0], state.w[1]);
  }
}

// k w^2 / kT and p^2 / m kT are squares of standard normal numbers: mean 1 and variance 2; w p has mean 0.
TEST(MpiOscillatorBath, ThermalStartHasTheGibbsDistribution) {
  constexpr int axes = 2;
  constexpr double temperature = 0.7;
  const DiscreteSpectrum spectrum = uneven_spectrum(50000);
  const State state = thermal(spectrum, axes, temperature, {.seed = 1}, test_world());
  if (!test_world().is_root()) return;
  double potential = 0.0, kinetic = 0.0, correlation = 0.0, across = 0.0;
  const auto n = static_cast<double>(state.w.size());
  for (std::size_t i = 0; i < state.w.size(); ++i) {
    const BathOscillator oscillator = spectrum.oscillator(static_cast<std::int64_t>(i) / axes);
    const double m = oscillator.stiffness / (oscillator.frequency * oscillator.frequency);
    const double w = state.w[i] * std::sqrt(oscillator.stiffness / temperature),
                 p = state.p[i] / std::sqrt(m * temperature);
    potential += w * w / n;
    kinetic += p * p / n;
    correlation += w * p / n;
    if (i % axes == 0) across += w * state.w[i + 1] * std::sqrt(oscillator.stiffness / temperature) * axes / n;
  }
  EXPECT_NEAR(potential, 1.0, 5.0 * std::sqrt(2.0 / n));
  EXPECT_NEAR(kinetic, 1.0, 5.0 * std::sqrt(2.0 / n));
  EXPECT_NEAR(correlation, 0.0, 5.0 * std::sqrt(1.0 / n));
  EXPECT_NEAR(across, 0.0, 5.0 * std::sqrt(axes / n));
}

TEST(MpiOscillatorBath, ThermalStartsOfDifferentKeysDiffer) {
  const DiscreteSpectrum spectrum = uneven_spectrum(100);
  const State base = thermal(spectrum, 1, 0.7, {.seed = 1}, test_world());
  for (const RngKey& key : {RngKey{.seed = 2}, RngKey{.seed = 1, .realisation = 1}, RngKey{.seed = 1, .stream = 1}}) {
    const State other = thermal(spectrum, 1, 0.7, key, test_world());
    for (std::size_t i = 0; i < base.w.size(); ++i) EXPECT_NE(base.w[i], other.w[i]);
  }
  // A problem passes the seed and the realisation on, and every environment has a stream of its own.
  std::vector<std::unique_ptr<Environment>> baths;
  for (int i = 0; i < 2; ++i) {
    baths.push_back(
        std::make_unique<OscillatorBath>("bath", Attachment({{0, 1.0}}, 1), spectrum, 0.7, test_world(), 8));
  }
  ParticleSystem system = make_problem(spectrum, 8, false, test_world()).system();
  Problem problem(system, Eigen::MatrixXd::Zero(1, 1), std::move(baths), test_world());
  for (const RngKey& key : {RngKey{.seed = 1}, RngKey{.seed = 9, .realisation = 6}}) {
    problem.prepare(key.seed, key.realisation);
    for (std::uint32_t stream = 0; stream < 2; ++stream) {
      std::vector<double> w, p;
      problem.environments()[stream]->gather_state(w, p);
      RngKey own = key;
      own.stream = stream;
      EXPECT_EQ(w, thermal(spectrum, 1, 0.7, own, test_world()).w);
    }
  }
}

TEST(MpiOscillatorBath, MemoryKernelIsTheSumOfItsCosines) {
  const DiscreteSpectrum spectrum = uneven_spectrum(3000);
  const OscillatorBath bath = make_bath(spectrum, 1, 8, test_world());
  const std::vector<double> times = {0.0, 0.3, 1.0, 17.0};
  const std::vector<double> kernel = bath.analytic_kernel(times).value().kernel;
  ASSERT_EQ(kernel.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    long double sum = 0.0L;
    for (std::int64_t j = 0; j < spectrum.size; ++j) {
      sum += spectrum.oscillator(j).stiffness *
             std::cos(static_cast<long double>(spectrum.oscillator(j).frequency) * static_cast<long double>(times[i]));
    }
    EXPECT_NEAR(kernel[i], static_cast<double>(sum), 1e-13);
  }
  EXPECT_EQ(kernel, make_bath(spectrum, 1, 8, self_world()).analytic_kernel(times).value().kernel);
  EXPECT_TRUE(bath.analytic_kernel(times).value().limit.empty());
  const OscillatorBath ohmic = make_bath(ohmic_spectrum(10, 0.3, 5.0), 1, 8, test_world());
  ASSERT_EQ(ohmic.analytic_kernel(times).value().limit.size(), times.size());
  EXPECT_NEAR(ohmic.analytic_kernel(times).value().limit[2], 2.0 * 0.3 / pi * std::sin(5.0), 1e-15);
}

TEST(MpiOscillatorBath, ALumpedNetworkKeepsStiffnessAndHighestFrequency) {
  const DiscreteSpectrum spectrum = uneven_spectrum(1000);
  const OscillatorBath bath = make_bath(spectrum, 1, 8, test_world());
  long double stiffness = 0.0L;
  for (std::int64_t j = 0; j < spectrum.size; ++j) stiffness += spectrum.oscillator(j).stiffness;
  for (const int limit : {1, 2, 3, 10, 399, 500, 999, 1000, 5000}) {
    SCOPED_TRACE(limit);
    const LumpedNetwork network = bath.assemble(limit);
    EXPECT_LE(network.mass.size(), static_cast<std::size_t>(limit));
    EXPECT_GE(network.mass.size(), static_cast<std::size_t>(std::min(limit, 1000)) / 2);
    ASSERT_EQ(network.to_head.size(), network.mass.size());
    double sum = 0.0, highest = 0.0, before = 0.0;
    for (std::size_t i = 0; i < network.mass.size(); ++i) {
      EXPECT_EQ(network.to_head[i].first, static_cast<int>(i));
      sum += network.to_head[i].second;
      highest = std::sqrt(network.to_head[i].second / network.mass[i]);
      EXPECT_GT(highest, before);
      before = highest;
    }
    EXPECT_NEAR(sum, static_cast<double>(stiffness), 1e-13);
    EXPECT_NEAR(highest, bath.properties().highest_frequency, 1e-14);
    EXPECT_TRUE(network.springs.empty() && network.to_ground.empty() && network.dashpots.empty());
  }
  EXPECT_EQ(bath.properties().highest_frequency, spectrum.oscillator(999).frequency);
  EXPECT_EQ(bath.properties().echo.time, spectrum.recurrence);
  EXPECT_EQ(bath.properties().damping, spectrum.damping);
}

// The head is clamped; the phase error of Stoermer-Verlet is (omega h)^2 omega t / 24 for each oscillator.
TEST(MpiOscillatorBath, RandomForceIsTheForceOnAClampedHead) {
  constexpr double step = 0.001;  // error 4.5e-6 at the highest frequency and the last time
  const DiscreteSpectrum spectrum = uneven_spectrum(300);
  OscillatorBath bath = make_bath(spectrum, 2, 8, test_world(), 0.5);
  bath.prepare({.seed = 8});
  const std::vector<double> times = {0.0, 0.5, 1.7, 4.0};
  const std::vector<double> formula = bath.analytic_kernel(times).value().random_force;
  ASSERT_EQ(formula.size(), 2 * times.size());
  const ExplicitScheme scheme =
      splitting({{Substep::Kind::kick, 0.5}, {Substep::Kind::drift, 1.0}, {Substep::Kind::kick, 0.5}});
  const std::vector<double> head = {0.0, 0.0};
  std::vector<double> force(2);
  const auto environment_stepper = bath.explicit_stepper(scheme, step);
  int done = 0;
  double largest = 0.0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    while (done < std::lround(times[i] / step)) {
      environment_stepper->begin_block({});
      for (int s = 0; s < 3 && test_world().is_root(); ++s) {
        environment_stepper->substep(scheme.substeps[static_cast<std::size_t>(s)], {head, {}});
      }
      environment_stepper->end_block();
      ++done;
    }
    if (!test_world().is_root()) continue;
    bath.force(head, force);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      EXPECT_NEAR(formula[2 * i + axis], force[axis], 5e-6) << "at " << times[i];
      largest = std::max(largest, std::abs(force[axis]));
    }
  }
  if (test_world().is_root()) {
    EXPECT_GT(largest, 0.1);
  }
}

/// Largest deviation of an oscillator of unit mass and frequency in an Ohmic bath from the damped one, before the
/// recurrence.
double markov_deviation(double omega_max, bool exact) {
  constexpr double damping = 0.2, spacing = 0.1;
  ParticleSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Ones(1);
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Ones(1, 1));
  system.q0 = Eigen::VectorXd::Ones(1);
  system.v0 = Eigen::VectorXd::Zero(1);
  std::vector<std::unique_ptr<Environment>> bath;
  bath.push_back(std::make_unique<OscillatorBath>("bath", Attachment({{0, 1.0}}, 1),
                                                  ohmic_spectrum(std::lround(omega_max / spacing), damping, omega_max),
                                                  0.0, self_world(), 8));
  EXPECT_NEAR(bath[0]->properties().echo.time, 2.0 * pi / spacing, 1e-9);
  Problem problem(system, Eigen::MatrixXd::Zero(1, 1), std::move(bath), self_world());
  problem.prepare();
  const double step = exact ? 0.1 : 0.1 / omega_max;
  const int stride = exact ? 1 : 8;
  const auto stepper =
      exact ? make_exact_stepper(problem, step)
            : make_explicit_stepper(
                  splitting({{Substep::Kind::kick, 0.5}, {Substep::Kind::drift, 1.0}, {Substep::Kind::kick, 0.5}}),
                  problem, step);
  const double rate = 0.5 * damping, frequency = std::sqrt(1.0 - rate * rate);
  double worst = 0.0;
  for (int i = stride; i * step < 60.0; i += stride) {
    stepper->advance(stride);
    const double t = i * step;
    const double damped = std::exp(-rate * t) * (std::cos(frequency * t) + rate / frequency * std::sin(frequency * t));
    worst = std::max(worst, std::abs(problem.q[0] - damped));
  }
  return worst;
}

// The bath has no frequencies above omega_max: the error is of first order in 1/omega_max.
TEST(OscillatorBath, TendsToTheDamperAsTheHighestFrequencyGrows) {
  EXPECT_NEAR(markov_deviation(20.0, true), 1.17e-2, 0.005e-2);
  EXPECT_NEAR(markov_deviation(20.0, false), 1.17e-2, 0.005e-2);
  EXPECT_NEAR(markov_deviation(40.0, true), 5.84e-3, 0.005e-3);
  EXPECT_NEAR(markov_deviation(80.0, false), 2.92e-3, 0.005e-3);
  EXPECT_NEAR(markov_deviation(160.0, false), 1.46e-3, 0.005e-3);
}

}  // namespace
}  // namespace bathline::oscillator_bath_test
