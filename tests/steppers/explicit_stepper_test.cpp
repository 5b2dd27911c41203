// Explicit schemes on particles and lines together, against plain loops and textbook formulas.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "steppers/stepper.hpp"
#include "dense_system.hpp"
#include "explicit_schemes.hpp"
#include "on_rank_zero.hpp"
#include "quartic_potential.hpp"
#include "self_world.hpp"
#include "serial_line.hpp"
#include "test_world.hpp"

namespace bathline::explicit_stepper_test {
namespace {

struct Subject {
  std::string name;
  Scene scene;
};

/// Lines of `sites` sites in all attachments.
std::vector<Subject> subjects(std::int64_t sites) {
  RandomNumbers random(11);
  std::vector<Subject> all;
  {
    Scene scene;
    scene.system = random_particles(1, 1, random);
    scene.system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Constant(1, 1, 1.7));
    scene.lines = {{{{0, 1.0}}, {.mass = 1.3, .stiffness = 2.9}, sites}};
    all.push_back({"oscillator on a line", scene});
  }
  {
    Scene scene;
    scene.system = random_particles(2, 1, random);
    scene.system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd{{1.0, 0.0}, {0.0, 0.4}}, 0.3);
    scene.lines = {{{{0, 1.0}, {1, -1.0}}, {.mass = 0.8, .stiffness = 1.9}, sites},
                   {{{1, 1.0}}, {.mass = 1.8, .stiffness = 0.9, .far_end = FarEnd::matched, .dashpot = 0.0}, 3}};
    all.push_back({"two quartic particles, a line between them, an open-ended one on the second", scene});
  }
  {
    Scene scene;
    scene.system = random_particles(2, 2, random);
    scene.system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Identity(4, 4), 0.5);
    scene.lines = {{{{1, 1.0}}, {.mass = 1.0, .stiffness = 1.0, .far_end = FarEnd::free, .dashpot = 0.0}, sites},
                   {{{1, 1.0}}, {.mass = 2.0, .stiffness = 3.0}, sites / 2 + 1}};
    all.push_back({"planar particles with two lines on one", scene});
  }
  for (const int particles : {1, 2, 3, 8, 9}) {
    Scene scene;
    scene.system = random_particles(particles, 1, random);
    const Eigen::MatrixXd half = random_matrix(particles, particles, random);
    scene.system.potential = std::make_shared<QuarticPotential>(half * half.transpose(), 0.3);
    all.push_back({std::to_string(particles) + " quartic particles alone", scene});
  }
  {
    Scene scene;
    scene.system = random_particles(3, 2, random);
    scene.system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Identity(6, 6));
    all.push_back({"planar oscillators alone", scene});
  }
  return all;
}

constexpr int steps = 150;

/// Runge-Kutta methods need short steps here, as the energy of undamped motion grows numerically.
double step_of(const ExplicitScheme& scheme) { return scheme.b.empty() ? 0.21 : 0.05; }

/// The particles at their start, every site in motion.
PhasePoint start_of(const Scene& scene) {
  RandomNumbers random(12);
  PhasePoint point = random_point(scene.size(), 0.5, random);
  const int n = scene.system.size();
  point.u.head(n).setZero();
  point.p.head(n) = scene.system.mass.cwiseProduct(scene.system.v0);
  return point;
}

/// Particles and lines in lockstep, every site at every substep.
PhasePoint run_in_plain_loops(const Scene& scene, const ExplicitScheme& any_scheme) {
  // Without damping consecutive kicks at the same positions are merged.
  bool damped = scene.damping.size() > 0;
  for (const SceneLine& line : scene.lines) damped = damped || line.dashpot() > 0.0;
  const ExplicitScheme scheme = damped ? any_scheme : any_scheme.merged();
  const ParticleSystem& system = scene.system;
  const int n = system.size(), axes = system.axes;
  Eigen::VectorXd q = system.q0, p = system.mass.cwiseProduct(system.v0), force(n);
  const double h = step_of(scheme);
  const PhasePoint start = start_of(scene);
  std::vector<std::vector<SerialLine>> lines;  // by line and axis
  Eigen::Index begin = n;
  for (const SceneLine& line : scene.lines) {
    lines.emplace_back();
    for (int axis = 0; axis < axes; ++axis) {
      std::vector<double> w, momenta;
      for (std::int64_t j = 0; j < line.sites; ++j) {
        w.push_back(start.u[begin + j * axes + axis]);
        momenta.push_back(start.p[begin + j * axes + axis]);
      }
      lines.back().emplace_back(line.constants, line.dashpot(), w, momenta);
    }
    begin += line.sites * axes;
  }
  for (int step = 0; step < steps; ++step) {
    for (const Substep& substep : scheme.substeps) {
      std::vector<double> heads;
      for (const SceneLine& line : scene.lines) {
        for (int axis = 0; axis < axes; ++axis) {
          double head = 0.0;
          for (const Attachment::Weight& w : line.weights) {
            head += w.weight * (q[w.particle * axes + axis] - system.q0[w.particle * axes + axis]);
          }
          heads.push_back(head);
        }
      }
      if (substep.kind == Substep::Kind::drift) {
        for (int i = 0; i < n; ++i) q[i] += (substep.weight * h) * (p[i] / system.mass[i]);
      } else {
        system.potential->gradient(q, force);
        force = -force;
        for (std::size_t l = 0; l < lines.size(); ++l) {
          for (const Attachment::Weight& w : scene.lines[l].weights) {
            for (int axis = 0; axis < axes; ++axis) {
              const double pull = lines[l][static_cast<std::size_t>(axis)].force_on_head(
                  heads[l * static_cast<std::size_t>(axes) + static_cast<std::size_t>(axis)]);
              force[w.particle * axes + axis] += w.weight * pull;
            }
          }
        }
        for (int i = 0; i < n; ++i) p[i] += (substep.weight * h) * force[i];
      }
      for (std::size_t l = 0; l < lines.size(); ++l) {
        for (std::size_t axis = 0; axis < lines[l].size(); ++axis) {
          lines[l][axis].substep(substep, scheme, h, heads[l * static_cast<std::size_t>(axes) + axis]);
        }
      }
    }
  }
  PhasePoint end{Eigen::VectorXd(scene.size()), Eigen::VectorXd(scene.size())};
  end.u.head(n) = q - system.q0;
  end.p.head(n) = p;
  Eigen::Index index = n;
  for (const std::vector<SerialLine>& line : lines) {
    for (std::size_t j = 0; j < line[0].w.size(); ++j) {
      for (const SerialLine& axis : line) {
        end.u[index] = axis.w[j];
        end.p[index++] = axis.p[j];
      }
    }
  }
  return end;
}

/// The textbook Runge-Kutta method on the whole system with dense matrices.
PhasePoint run_runge_kutta(const Scene& scene, const ExplicitScheme& scheme) {
  const DenseSystem dense(scene);
  const double h = step_of(scheme);
  PhasePoint x = start_of(scene);
  for (int step = 0; step < steps; ++step) {
    std::vector<PhasePoint> rates;
    for (std::size_t i = 0; i < scheme.b.size(); ++i) {
      PhasePoint stage = x;
      for (std::size_t j = 0; j < i; ++j) {
        stage.u += h * scheme.a[i][j] * rates[j].u;
        stage.p += h * scheme.a[i][j] * rates[j].p;
      }
      const Eigen::VectorXd v = stage.p.cwiseQuotient(dense.mass);
      rates.push_back({v, dense.force(stage.u) - dense.damping * v});
    }
    for (std::size_t i = 0; i < scheme.b.size(); ++i) {
      x.u += h * scheme.b[i] * rates[i].u;
      x.p += h * scheme.b[i] * rates[i].p;
    }
  }
  return x;
}

/// Runs in pieces of the given lengths, cyclically.
PhasePoint run(const Scene& scene, const ExplicitScheme& scheme, const std::vector<int>& pieces,
               const Communicator& world, EnergyLedger* ledger = nullptr) {
  Problem problem = make_problem(scene, world);
  set_state(problem, start_of(scene));
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, step_of(scheme));
  int done = 0;
  for (std::size_t piece = 0; done < steps; ++piece) {
    const int count = std::min(pieces[piece % pieces.size()], steps - done);
    EXPECT_FALSE(stepper->advance(count).has_value());
    done += count;
  }
  if (ledger) *ledger = problem.energies();
  return get_state(problem);
}

TEST(MpiExplicitStepper, EqualsPlainLoopsBitByBit) {
  for (const std::int64_t sites : {1, 41, 130, 600}) {
    for (const Subject& subject : subjects(sites)) {
      for (const NamedScheme& named : explicit_schemes()) {
        SCOPED_TRACE(testing::Message() << named.name << ", " << subject.name << ", " << sites << " sites");
        const PhasePoint actual = run(subject.scene, named.scheme, {steps}, test_world());
        on_rank_zero([&] {
          if (named.is_splitting()) {
            const PhasePoint expected = run_in_plain_loops(subject.scene, named.scheme);
            EXPECT_TRUE(actual.u == expected.u) << (actual.u - expected.u).cwiseAbs().maxCoeff();
            EXPECT_TRUE(actual.p == expected.p) << (actual.p - expected.p).cwiseAbs().maxCoeff();
          } else if (sites <= 130) {
            const PhasePoint expected = run_runge_kutta(subject.scene, named.scheme);
            const double scale = expected.u.cwiseAbs().maxCoeff() + expected.p.cwiseAbs().maxCoeff();
            EXPECT_LT((actual.u - expected.u).cwiseAbs().maxCoeff(), 1e-12 * scale);
            EXPECT_LT((actual.p - expected.p).cwiseAbs().maxCoeff(), 1e-12 * scale);
          }
        });
      }
    }
  }
}

/// Substeps of damping and noise, which have no effect where there is neither.
TEST(MpiExplicitStepper, EnvironmentsIgnoreOuSubsteps) {
  using Kind = Substep::Kind;
  const ExplicitScheme plain = splitting({{Kind::kick, 0.5}, {Kind::drift, 1.0}, {Kind::kick, 0.5, true}});
  ExplicitScheme with_ou_within = plain;
  with_ou_within.substeps.insert(with_ou_within.substeps.begin() + 1, {Kind::ou, 1.0});
  for (const std::int64_t sites : {41, 600, 60'000}) {
    for (const Subject& subject : subjects(sites)) {
      SCOPED_TRACE(testing::Message() << subject.name << ", " << sites << " sites");
      const PhasePoint expected = run(subject.scene, plain, {steps}, test_world());
      for (const ExplicitScheme& with_ou : {plain.with_ou_outside(), with_ou_within}) {
        const PhasePoint actual = run(subject.scene, with_ou, {steps}, test_world());
        EXPECT_TRUE(actual.u == expected.u) << (actual.u - expected.u).cwiseAbs().maxCoeff();
        EXPECT_TRUE(actual.p == expected.p);
      }
    }
  }
}

TEST(MpiExplicitStepper, NeitherPiecesNorRanksChangeABit) {
  for (const Subject& subject : subjects(300)) {
    for (const NamedScheme& named : explicit_schemes()) {
      EnergyLedger single_steps;
      PhasePoint expected;
      on_rank_zero([&] { expected = run(subject.scene, named.scheme, {1}, self_world(), &single_steps); });
      for (double* number :
           {&single_steps.particles, &single_steps.environment, &single_steps.interaction, &single_steps.dissipated}) {
        test_world().broadcast(std::span<double>(number, 1));
      }
      for (const std::vector<int>& pieces : {std::vector<int>{steps}, {1}, {7, 65, 3}}) {
        SCOPED_TRACE(testing::Message() << named.name << ", " << subject.name << ", pieces of " << pieces.front());
        EnergyLedger ledger;
        const PhasePoint actual = run(subject.scene, named.scheme, pieces, test_world(), &ledger);
        if (test_world().is_root()) {
          EXPECT_TRUE(actual.u == expected.u);
          EXPECT_TRUE(actual.p == expected.p);
        }
        EXPECT_EQ(ledger.particles, single_steps.particles);
        EXPECT_EQ(ledger.environment, single_steps.environment);
        EXPECT_EQ(ledger.interaction, single_steps.interaction);
        EXPECT_EQ(ledger.dissipated, single_steps.dissipated);
      }
    }
  }
}

/// Particles on one axis with dampers between every two, so strong that an elimination changes the order of rows.
Scene damped_particles(int particles) {
  RandomNumbers random(static_cast<unsigned>(particles));
  Scene scene;
  scene.system = random_particles(particles, 1, random);
  const Eigen::MatrixXd half = random_matrix(particles, particles, random);
  scene.system.potential = std::make_shared<QuadraticPotential>(half * half.transpose());
  scene.damping = 20.0 * half.transpose() * half;
  return scene;
}

/// A splitting in vectors and matrices of any size, with `noise` unless it is null: q and p at the end, and the
/// dissipated energy.
std::tuple<Eigen::VectorXd, Eigen::VectorXd, double> run_in_vectors(const Scene& scene, const ExplicitScheme& scheme,
                                                                    double step, int count, WhiteNoise* noise) {
  const ParticleSystem& system = scene.system;
  const Eigen::MatrixXd& c = scene.damping;
  const Eigen::Index n = system.size();
  Eigen::VectorXd q = system.q0, p = system.mass.cwiseProduct(system.v0), gradient(n), drag(n);
  double dissipated = 0.0;
  for (int done = 0; done < count; ++done) {
    const Eigen::VectorXd impulse = noise != nullptr ? noise->impulse(done, step) : Eigen::VectorXd::Zero(n);
    for (const Substep& substep : scheme.substeps) {
      const double weighted = substep.weight * step;
      if (substep.kind == Substep::Kind::drift) {
        q += weighted * p.cwiseQuotient(system.mass);
        continue;
      }
      system.potential->gradient(q, gradient);
      const Eigen::VectorXd velocity_before = p.cwiseQuotient(system.mass);
      if (substep.velocity_after) {
        const Eigen::MatrixXd matrix =
            Eigen::MatrixXd::Identity(n, n) + weighted * c * system.mass.cwiseInverse().asDiagonal();
        const Eigen::VectorXd right_side = (p - weighted * gradient) + substep.weight * impulse;
        p = matrix.partialPivLu().solve(right_side);
      }
      Eigen::VectorXd velocity = p.cwiseQuotient(system.mass);
      drag = -(c * velocity);
      if (!substep.velocity_after) {
        p += weighted * (drag - gradient);
        p += substep.weight * impulse;
      }
      if (noise != nullptr) {
        // Work is along the mean velocity, so that the ledger closes.
        velocity = 0.5 * (velocity_before + p.cwiseQuotient(system.mass));
        dissipated -= substep.weight * velocity.dot(impulse);
      }
      dissipated -= weighted * velocity.dot(drag);
    }
  }
  return {q, p, dissipated};
}

TEST(MpiExplicitStepper, FewDampedParticlesHaveTheBitsOfVectors) {
  for (int particles = 1; particles <= 9; ++particles) {
    const Scene scene = damped_particles(particles);
    for (const NamedScheme& named : explicit_schemes()) {
      if (!named.is_splitting()) continue;
      for (const bool is_noisy : {false, true}) {
        SCOPED_TRACE(testing::Message() << named.name << ", " << particles << " particles, noise " << is_noisy);
        Problem problem = make_problem(scene, test_world());
        if (is_noisy) problem.add_noise(0.4 * scene.damping);
        problem.prepare(5, 2);
        EXPECT_FALSE(make_stepper(named.scheme, problem, 0.05)->advance(5));
        problem.broadcast_particles();
        WhiteNoise noise(0.4 * scene.damping);
        noise.begin(5, 2);
        const auto [q, p, dissipated] = run_in_vectors(scene, named.scheme, 0.05, 5, is_noisy ? &noise : nullptr);
        EXPECT_TRUE(problem.q == q) << (problem.q - q).cwiseAbs().maxCoeff();
        EXPECT_TRUE(problem.p == p) << (problem.p - p).cwiseAbs().maxCoeff();
        EXPECT_EQ(problem.energies().dissipated, dissipated);
        EXPECT_GT(std::abs(dissipated), 1e-3);
      }
    }
  }
}

constexpr double h = 0.21;

// Reduced schemes, farshi2018 eq. (52): p+ = p - h grad V(g q + (1-g) q+) - C (q+ - q).
class Reduced {
 public:
  explicit Reduced(const Scene& scene)
      : system_(scene.system), c_(scene.damping), q(system_.q0), p(system_.mass.cwiseProduct(system_.v0)) {}

  void step_with_gamma_zero(double dt) {
    const Eigen::VectorXd end = q + dt * p.cwiseQuotient(system_.mass);
    p += -dt * gradient(end) - c_ * (end - q);
    work += (end - q).dot(c_ * (end - q)) / dt;
    q = end;
  }
  void step_with_gamma_one(double dt) {
    // (M/dt + C) (q+ - q) = p - dt grad V(q).
    Eigen::MatrixXd matrix = c_;
    matrix.diagonal() += system_.mass / dt;
    const Eigen::VectorXd displacement = matrix.fullPivLu().solve(p - dt * gradient(q));
    p = system_.mass.cwiseProduct(displacement) / dt;
    work += displacement.dot(c_ * displacement) / dt;
    q += displacement;
  }

 private:
  Eigen::VectorXd gradient(const Eigen::VectorXd& position) const {
    Eigen::VectorXd result(position.size());
    system_.potential->gradient(position, result);
    return result;
  }
  const ParticleSystem& system_;
  Eigen::MatrixXd c_;

 public:
  Eigen::VectorXd q, p;
  double work = 0.0;
};

TEST(MpiExplicitStepper, DampedSplittingsAreTheReducedSchemes) {
  RandomNumbers random(21);
  Scene scene;
  scene.system = random_particles(3, 1, random);
  scene.system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Identity(3, 3), 0.8);
  const Eigen::MatrixXd half = random_matrix(3, 2, random);
  scene.damping = half * half.transpose();  // semi-definite

  const auto compare = [&](const std::string& name, const std::function<void(Reduced&)>& step) {
    SCOPED_TRACE(name);
    Problem problem = make_problem(scene, test_world());
    const std::unique_ptr<Stepper> stepper = make_stepper(method_case(name).scheme, problem, h);
    Reduced reference(scene);
    for (int k = 0; k < 100; ++k) {
      stepper->advance(1);
      step(reference);
    }
    problem.broadcast_particles();
    EXPECT_LT((problem.q - reference.q).cwiseAbs().maxCoeff(), 1e-13);
    EXPECT_LT((problem.p - reference.p).cwiseAbs().maxCoeff(), 1e-13);
    EXPECT_NEAR(problem.energies().dissipated, reference.work, 1e-13 * reference.work);
    EXPECT_GT(reference.work, 0.1);
  };
  compare("gamma(gamma=0.000000)", [](Reduced& r) { r.step_with_gamma_zero(h); });
  compare("gamma(gamma=1.000000)", [](Reduced& r) { r.step_with_gamma_one(h); });
  compare("stoermer-verlet(order_of_substeps=kick-drift-kick)", [](Reduced& r) {
    r.step_with_gamma_one(h / 2);
    r.step_with_gamma_zero(h / 2);
  });
  compare("stoermer-verlet(order_of_substeps=drift-kick-drift)", [](Reduced& r) {
    r.step_with_gamma_zero(h / 2);
    r.step_with_gamma_one(h / 2);
  });
}

}  // namespace
}  // namespace bathline::explicit_stepper_test
