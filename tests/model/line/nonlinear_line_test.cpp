// Chains with nonlinear springs against plain loops over all particles and sites, with every law, at lengths where the
// program changes its way of computing, on any ranks, in any blocks and after a restart.
#include "model/line/nonlinear_line.hpp"

#include <Eigen/SparseLU>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <optional>

#include "differences.hpp"
#include "explicit_schemes.hpp"
#include "measured_order.hpp"
#include "method_cases.hpp"
#include "model/environment_catalogue.hpp"
#include "nonlinear_laws.hpp"
#include "on_rank_zero.hpp"
#include "particle_in_well.hpp"
#include "petsc_options.hpp"
#include "petsc_world.hpp"
#include "random_numbers.hpp"
#include "rank_subset.hpp"
#include "self_world.hpp"

namespace bathline::nonlinear_line_test {
namespace {

constexpr double h = 0.05;

struct Chain {
  NonlinearLaw law;
  long sites;
  std::vector<long> ends = {0, 1};
  std::string masses = "1.2";  ///< a number or a formula
  bool is_cold = false;
  int axes = 1;
  std::string far_end = "fixed";
  double temperature = 0.0;
};

Section section_of(const Chain& chain) {
  Section section;
  section.set("kind", std::string("nonlinear-line"), {});
  section.set("name", std::string("chain"), {});
  section.set("attach", chain.ends, {});
  section.set("sites", chain.sites, {});
  if (chain.masses.find_first_of("in") == std::string::npos) {
    section.set("M", std::stod(chain.masses), {});
  } else {
    section.set("M", chain.masses, {});
  }
  section.set("potential", std::vector<Section>{chain.law.springs}, {});
  if (!chain.law.sites.empty()) section.set("external", chain.law.sites, {});
  if (chain.ends.size() == 1) section.set("far_end", chain.far_end, {});
  section.set("kT", chain.temperature, {});
  if (!chain.is_cold) {
    section.set("w0", std::vector<std::string>(static_cast<std::size_t>(chain.axes), "0.2*sin(1.3*i) + 0.1*cos(0.2*i)"),
                {});
    section.set("v0", std::vector<std::string>(static_cast<std::size_t>(chain.axes), "0.3*cos(2.1*i)"), {});
  }
  return section;
}

/// Two particles in wells, of which `ends` names those at the ends of the chain.
ParticleSystem particles(int axes) {
  ParticleSystem system;
  system.particles = 2;
  system.axes = axes;
  const int size = system.size();
  system.mass = Eigen::VectorXd::LinSpaced(size, 1.5, 0.8);
  system.q0 = Eigen::VectorXd::LinSpaced(size, 0.3, -0.2);
  system.v0 = Eigen::VectorXd::LinSpaced(size, -0.4, 0.9);
  system.potential = std::make_shared<QuarticPotential>(0.7 * Eigen::MatrixXd::Identity(size, size), 0.2);
  return system;
}

Problem problem_of(const Chain& chain, const Communicator& world) {
  const ParticleSystem system = particles(chain.axes);
  Mistakes mistakes;
  std::vector<std::unique_ptr<Environment>> all;
  all.push_back(environments().find("nonlinear-line")->build(section_of(chain), system, {h, 1.0}, world, mistakes));
  if (!mistakes.empty()) throw std::runtime_error(mistakes.report());
  Problem problem(system, Eigen::MatrixXd::Zero(system.size(), system.size()), std::move(all), world);
  problem.prepare(5);
  return problem;
}

OrderedSites& sites_of(Problem& problem) { return dynamic_cast<OrderedSites&>(*problem.environments()[0]); }

/// The same motion by loops over everything, for one axis.
class PlainChain {
 public:
  explicit PlainChain(const Chain& chain) : law_(chain.law.line_law()), chain_(chain) {
    const ParticleSystem system = particles(1);
    first_ = static_cast<std::size_t>(chain.ends.front());
    second_ = static_cast<std::size_t>(chain.ends.back());
    q = {system.q0[0], system.q0[1]};
    p = {system.mass[0] * system.v0[0], system.mass[1] * system.v0[1]};
    mass_ = {system.mass[0], system.mass[1]};
    for (long i = 0; i < chain.sites; ++i) {
      const double site = static_cast<double>(i);
      mass_.push_back(chain.masses.find('i') == std::string::npos ? 1.2 : 1.2 + 0.3 * std::sin(site));
      q.push_back(chain.is_cold ? 0.0 : 0.2 * std::sin(1.3 * site) + 0.1 * std::cos(0.2 * site));
      p.push_back(chain.is_cold ? 0.0 : mass_.back() * (0.3 * std::cos(2.1 * site)));
    }
  }
  void advance(const ExplicitScheme& scheme, int steps) {
    for (int step = 0; step < steps; ++step) {
      for (const Substep& substep : scheme.substeps) {
        if (substep.kind == Substep::Kind::drift) {
          for (std::size_t i = 0; i < q.size(); ++i) q[i] += substep.weight * h * p[i] / mass_[i];
        } else {
          kick(substep.weight * h);
        }
      }
    }
  }
  /// An implicit step by Newton's method on all stage velocities, with a sparse matrix of everything.
  void advance(const PartitionedRungeKutta& scheme, int steps, double step) {
    const auto n = static_cast<Eigen::Index>(q.size());
    const Eigen::Index stages = scheme.stages();
    const auto at = [&](std::vector<double>& x) { return Eigen::Map<Eigen::VectorXd>(x.data(), n); };
    const Eigen::VectorXd mass = at(mass_);
    for (int count = 0; count < steps; ++count) {
      Eigen::MatrixXd v = (at(p).array() / mass.array()).matrix().replicate(1, stages), f = v;
      for (int iteration = 0; iteration < 20; ++iteration) {
        const Eigen::MatrixXd places = at(q).replicate(1, stages) + step * v * scheme.a.transpose();
        Eigen::VectorXd residual(n * stages);
        std::vector<Eigen::Triplet<double>> entries;
        for (Eigen::Index k = 0; k < stages; ++k) {
          const std::vector<double> place(places.col(k).begin(), places.col(k).end());
          for_each_force(
              place, [&](std::size_t i, double force) { f(static_cast<Eigen::Index>(i), k) += force; },
              [&](std::size_t i, std::size_t j, double slope) {
                for (Eigen::Index r = 0; r < stages; ++r) {
                  for (Eigen::Index c = 0; c < stages; ++c) {
                    entries.emplace_back(r * n + static_cast<Eigen::Index>(i), c * n + static_cast<Eigen::Index>(j),
                                         -step * step * scheme.a_hat(r, k) * scheme.a(k, c) * slope);
                  }
                }
              },
              [&] { f.col(k).setZero(); });
        }
        for (Eigen::Index r = 0; r < stages; ++r) {
          residual.segment(r * n, n) = mass.cwiseProduct(v.col(r)) - at(p) - step * f * scheme.a_hat.row(r).transpose();
          for (Eigen::Index i = 0; i < n; ++i) entries.emplace_back(r * n + i, r * n + i, mass[i]);
        }
        Eigen::SparseMatrix<double> matrix(n * stages, n * stages);
        matrix.setFromTriplets(entries.begin(), entries.end());
        const Eigen::SparseLU<Eigen::SparseMatrix<double>> factors(matrix);
        const Eigen::VectorXd correction = factors.solve(residual);
        v -= Eigen::Map<const Eigen::MatrixXd>(correction.data(), n, stages);
        if (correction.norm() <= 1e-15 * v.norm()) break;
      }
      at(q) += step * v * scheme.b;
      at(p) += step * f * scheme.b;
    }
  }
  double energy() const {
    double sum = 0.0;
    for (std::size_t i = 0; i < q.size(); ++i) sum += 0.5 * p[i] * p[i] / mass_[i];
    for (std::size_t i = 0; i < 2; ++i) sum += 0.35 * q[i] * q[i] + 0.05 * std::pow(q[i], 4);
    for_each_spring([&](std::size_t a, std::optional<std::size_t> b) {
      sum += law_->springs->value((b ? q[*b] : 0.0) - q[a]) - law_->springs->value(0.0);
    });
    for (std::size_t i = 2; i < q.size() && law_->sites; ++i) sum += law_->sites->value(q[i]) - law_->sites->value(0.0);
    return sum;
  }
  /// kT of the places, (p + seconds f)^2/m, and currents through the springs, in their order along the chain.
  HeatProfile heat(double seconds) const {
    PlainChain kicked = *this;
    kicked.kick(seconds);
    HeatProfile profile;
    const auto add_place = [&](std::size_t i) { profile.temperature.push_back(kicked.p[i] * kicked.p[i] / mass_[i]); };
    add_place(first_);
    for (std::size_t i = 2; i < q.size(); ++i) add_place(i);
    if (second_ != first_) add_place(second_);
    for_each_spring([&](std::size_t a, std::optional<std::size_t> b) {
      const double mean_velocity = 0.5 * (p[a] / mass_[a] + p[*b] / mass_[*b]);
      profile.current.push_back(-law_->springs->derivative(q[*b] - q[a]) * mean_velocity);
    });
    return profile;
  }
  /// Of a ring: the sum of the currents, in the frame of the centre of mass where no site is held, and waves of
  /// velocities.
  std::vector<double> totals(const std::vector<std::int64_t>& waves) const {
    double momentum = p[first_], mass = mass_[first_], current = 0.0;
    for (std::size_t i = 2; i < q.size(); ++i) {
      momentum += p[i];
      mass += mass_[i];
    }
    const double frame = law_->sites ? 0.0 : momentum / mass;
    for_each_spring([&](std::size_t a, std::optional<std::size_t> b) {
      const double mean_velocity = 0.5 * (p[a] / mass_[a] + p[*b] / mass_[*b]);
      current -= law_->springs->derivative(q[*b] - q[a]) * (mean_velocity - frame);
    });
    std::vector<double> all{current};
    for (const std::int64_t wave : waves) {
      std::complex<double> sum = p[first_] / mass_[first_];
      const auto places = static_cast<double>(q.size() - 1);
      for (std::size_t i = 2; i < q.size(); ++i) {
        const double place = static_cast<double>(i - 1);
        sum += std::polar(p[i] / mass_[i], 2.0 * std::numbers::pi * static_cast<double>(wave) * place / places);
      }
      all.insert(all.end(), {sum.real(), sum.imag()});
    }
    return all;
  }
  std::vector<double> q, p;  // both particles, then the sites

 private:
  /// use(before, behind); behind a fixed end there is nothing.
  template <class Use>
  void for_each_spring(Use use) const {
    std::size_t before = first_;
    for (std::size_t i = 2; i < q.size(); ++i) {
      use(before, std::optional(i));
      before = i;
    }
    if (chain_.ends.size() == 2) {
      use(before, std::optional(second_));
    } else if (chain_.far_end == "fixed") {
      use(before, std::nullopt);
    }
  }
  /// start(), then force(i, F_i) and slope(i, j, dF_i/dq_j), whose sums are meant.
  template <class Force, class Slope, class Start>
  void for_each_force(const std::vector<double>& place, Force force, Slope slope, Start start) const {
    start();
    for (std::size_t i = 0; i < 2; ++i) {
      force(i, -(0.7 * place[i] + 0.2 * std::pow(place[i], 3)));
      slope(i, i, -(0.7 + 0.6 * place[i] * place[i]));
    }
    for_each_spring([&](std::size_t a, std::optional<std::size_t> b) {
      const double stretch = (b ? place[*b] : 0.0) - place[a];
      const double pull = law_->springs->derivative(stretch), stiffness = law_->springs->second_derivative(stretch);
      force(a, pull);
      slope(a, a, -stiffness);
      if (!b) return;
      force(*b, -pull);
      slope(*b, *b, -stiffness);
      slope(a, *b, stiffness);
      slope(*b, a, stiffness);
    });
    for (std::size_t i = 2; i < place.size() && law_->sites; ++i) {
      force(i, -law_->sites->derivative(place[i]));
      slope(i, i, -law_->sites->second_derivative(place[i]));
    }
  }
  void kick(double seconds) {
    for (std::size_t i = 0; i < 2; ++i) p[i] -= seconds * (0.7 * q[i] + 0.2 * q[i] * q[i] * q[i]);
    for_each_spring([&](std::size_t a, std::optional<std::size_t> b) {
      const double force = seconds * law_->springs->derivative((b ? q[*b] : 0.0) - q[a]);
      p[a] += force;
      if (b) p[*b] -= force;
    });
    for (std::size_t i = 2; i < q.size() && law_->sites; ++i) p[i] -= seconds * law_->sites->derivative(q[i]);
  }

  std::shared_ptr<const LineLaw> law_;
  Chain chain_;
  std::size_t first_, second_;
  std::vector<double> mass_;
};

std::string name_of(const Chain& chain) {
  std::string name = chain.law.name + ", " + std::to_string(chain.sites) + " sites, ends";
  for (const long end : chain.ends) name += " " + std::to_string(end);
  return name + ", M = " + chain.masses + (chain.is_cold ? ", cold" : "");
}

/// Every law, with lengths at which kernels, parts and tiles begin or end, and all kinds of ends.
std::vector<Chain> all_chains() {
  const std::vector<long> lengths = {2,   3,   4,   5,   16,  31,   63,   64,   65,   87,  88,
                                     89,  126, 127, 128, 129, 130,  174,  177,  255,  256, 257,
                                     511, 512, 513, 514, 515, 1000, 1001, 2817, 2818, 5700};
  std::vector<Chain> all;
  std::size_t next = 0;
  const auto add = [&](const NonlinearLaw& law) {
    Chain chain{law, lengths[next % lengths.size()]};
    const std::vector<std::vector<long>> ends = {{0, 1}, {1, 0}, {0, 0}, {1}, {0, 1}, {0}};
    chain.ends = ends[next % ends.size()];
    chain.masses = next % 7 < 4 ? "1.2" : "1.2 + 0.3*sin(i)";
    chain.is_cold = next % 5 == 0;
    if (chain.ends.front() == 0 && law.line_law()->springs->derivative(0.0) == 0.0) chain.far_end = "free";
    all.push_back(chain);
    ++next;
  };
  for (int round = 0; round < 7; ++round) {
    for (const NonlinearLaw& law : nonlinear_laws()) add(law);
    ++next;
  }
  return all;
}

ExplicitScheme scheme_of(std::size_t number) {
  std::vector<ExplicitScheme> splittings;
  for (const NamedScheme& named : explicit_schemes()) {
    if (named.is_splitting() && !named.scheme.has_ou_substeps() && named.scheme.substeps.size() < 12)
      splittings.push_back(named.scheme);
  }
  return splittings[number % splittings.size()];
}

TEST(MpiNonlinearLine, MovesAsAllParticlesAndSitesDo) {
  std::size_t number = 0;
  RankSubset subset(3);
  for (const Chain& chain : all_chains()) {
    SCOPED_TRACE(name_of(chain));
    const ExplicitScheme scheme = scheme_of(number++);
    if (!subset.takes_next()) continue;
    const int steps = chain.sites > 600 ? 300 : 1000;
    Problem problem = problem_of(chain, test_world());
    const auto stepper = make_stepper(scheme, problem, h);
    EXPECT_FALSE(stepper->advance(steps, {.wants_energy = number % 2 == 0}));
    const double energy = problem.energies().total();
    const std::vector<double> w = sites_of(problem).displacements(0, 1);
    on_rank_zero([&] {
      PlainChain plain(chain);
      const double start = plain.energy();
      plain.advance(scheme, steps);
      ASSERT_EQ(static_cast<long>(w.size()), chain.sites);
      double worst = std::max(std::abs(problem.q[0] - plain.q[0]), std::abs(problem.q[1] - plain.q[1]));
      for (std::size_t i = 0; i < w.size(); ++i) worst = std::max(worst, std::abs(w[i] - plain.q[i + 2]));
      EXPECT_LT(worst, 1e-10);
      EXPECT_NEAR(energy, plain.energy(), 1e-12 * (1.0 + std::abs(start) + static_cast<double>(chain.sites)));
    });
  }
}

TEST(MpiNonlinearLine, NeitherRanksNorBlocksNorARestartChangeABit) {
  std::size_t number = 0;
  for (Chain chain : all_chains()) {
    if (chain.is_cold && number % 2 == 0) continue;
    if (number % 3 == 0) chain.temperature = chain.law.name == "sine-Gordon" || chain.far_end == "free" ? 0.0 : 0.2;
    if (number == 1) chain.sites = 40'000;  // stretches by levels
    SCOPED_TRACE(name_of(chain));
    const ExplicitScheme scheme = scheme_of(number++);
    constexpr int steps = 150;
    Problem whole = problem_of(chain, test_world()), resumed = problem_of(chain, test_world());
    Problem single = problem_of(chain, test_world()), before = problem_of(chain, test_world());
    EXPECT_FALSE(make_stepper(scheme, whole, h)->advance(steps));
    EXPECT_FALSE(make_stepper(scheme, before, h)->advance(61));
    copy_state(resumed, before);
    EXPECT_FALSE(make_stepper(scheme, resumed, h)->advance(steps - 61));
    const auto one_by_one = make_stepper(scheme, single, h);
    for (int step = 0; step < steps; ++step) EXPECT_FALSE(one_by_one->advance(1));
    const auto state_of = [](Problem& problem) {
      problem.broadcast_particles();
      std::vector<double> state(problem.q.begin(), problem.q.end());
      for (const StateField& field : problem.environments()[0]->fields()) {
        const std::vector<double> all = problem.communicator().gather(field.values);
        state.insert(state.end(), all.begin(), all.end());
      }
      const double energy = problem.energies().total();
      state.push_back(energy);
      return state;
    };
    const std::vector<double> expected = state_of(whole);
    EXPECT_TRUE(state_of(resumed) == expected) << "after a restart";
    EXPECT_TRUE(state_of(single) == expected) << "in single steps";
    on_rank_zero([&] {
      Problem alone = problem_of(chain, self_world());
      EXPECT_FALSE(make_stepper(scheme, alone, h)->advance(steps));
      EXPECT_TRUE(state_of(alone) == expected) << "on one rank";
    });
  }
}

struct ObservedHeat {
  HeatProfile means;
  std::vector<double> totals;  ///< the last ones
};
/// What was observed after two advances, on rank 0.
ObservedHeat observed_heat(const Chain& chain, std::size_t bins, const Communicator& world) {
  Problem problem = problem_of(chain, world);
  const auto stepper = make_stepper(scheme_of(1), problem, h);
  auto& conductor = dynamic_cast<HeatConductor&>(*problem.environments()[0]);
  HeatObservation what{0.5 * h, bins};
  what.has_totals = conductor.is_ring();
  if (what.has_totals) what.waves = {1, 3};
  const auto observer = conductor.observe_heat(what);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(stepper->advance(5));
    Eigen::VectorXd v = problem.velocity(), f = v;
    std::vector<double> x(2), velocity(2), kT(2), mass(2);
    if (world.is_root()) {
      problem.forces(problem.q, v, f);
      problem.head(*problem.environments()[0], problem.q, x);
      for (std::size_t end = 0; end < 2; ++end) {
        const long i = chain.ends[end];
        velocity[end] = v[i];
        mass[end] = problem.system().mass[i];
        kT[end] = std::pow(problem.p[i] + 0.5 * h * f[i], 2) / problem.system().mass[i];
      }
    }
    observer->observe({x, velocity, kT, mass});
  }
  const std::vector<double> totals(observer->totals().begin(), observer->totals().end());
  return {observer->take(), totals};
}

TEST(MpiNonlinearLine, HeatProfilesAreThoseOfPlainLoopsOnAnyRanks) {
  std::size_t number = 0;
  for (const Chain& chain : all_chains()) {
    if (chain.ends.size() != 2) continue;
    SCOPED_TRACE(name_of(chain));
    const bool is_ring = chain.ends[0] == chain.ends[1];
    const auto springs = static_cast<std::size_t>(chain.sites + 1), places = springs + (is_ring ? 0 : 1);
    const std::size_t bins = number++ % 2 == 0 ? springs : std::min<std::size_t>(springs, 7);
    const auto [here, totals] = observed_heat(chain, bins, test_world());
    const HeatProfile& means = here;
    const std::vector<double>& sums = totals;
    on_rank_zero([&] {
      const ObservedHeat alone = observed_heat(chain, bins, self_world());
      EXPECT_EQ(alone.means.temperature, means.temperature);
      EXPECT_EQ(alone.means.current, means.current);
      EXPECT_EQ(alone.totals, sums);
      PlainChain plain(chain);
      std::vector<double> temperature(bins), current(bins), of_places(bins), of_springs(bins);
      for (int i = 0; i < 2; ++i) {
        plain.advance(scheme_of(1), 5);
        const HeatProfile now = plain.heat(0.5 * h);
        ASSERT_EQ(now.temperature.size(), places);
        ASSERT_EQ(now.current.size(), springs);
        if (is_ring && i == 1) {
          const std::vector<double> expected = plain.totals({1, 3});
          ASSERT_EQ(sums.size(), expected.size());
          for (std::size_t k = 0; k < sums.size(); ++k)
            EXPECT_NEAR(sums[k], expected[k], 1e-10 * static_cast<double>(springs));
        }
        for (std::size_t k = 0; k < places; ++k) {
          temperature[k * bins / places] += now.temperature[k];
          ++of_places[k * bins / places];
        }
        for (std::size_t k = 0; k < springs; ++k) {
          current[k * bins / springs] += now.current[k];
          ++of_springs[k * bins / springs];
        }
      }
      for (std::size_t bin = 0; bin < bins; ++bin) {
        EXPECT_NEAR(means.temperature[bin], temperature[bin] / of_places[bin], 1e-10);
        EXPECT_NEAR(means.current[bin], current[bin] / of_springs[bin], 1e-10);
      }
    });
  }
}

TEST(NonlinearLine, AxesAreChainsOfTheirOwn) {
  Chain chain{nonlinear_laws()[2], 41};
  chain.axes = 2;
  Problem problem = problem_of(chain, test_world());
  ASSERT_EQ(sites_of(problem).site_axes(), 2);
  const ParticleSystem system = particles(2);
  for (int axis = 0; axis < 2; ++axis) {
    // Each axis by itself.
    Chain one{chain.law, chain.sites};
    ParticleSystem part = particles(1);
    for (int i = 0; i < 2; ++i) {
      part.mass[i] = system.mass[2 * i + axis];
      part.q0[i] = system.q0[2 * i + axis];
      part.v0[i] = system.v0[2 * i + axis];
    }
    part.potential = std::make_shared<QuadraticPotential>(0.7 * Eigen::MatrixXd::Identity(2, 2));
    Mistakes mistakes;
    std::vector<std::unique_ptr<Environment>> all;
    all.push_back(
        environments().find("nonlinear-line")->build(section_of(one), part, {h, 1.0}, test_world(), mistakes));
    Problem alone(part, Eigen::MatrixXd::Zero(2, 2), std::move(all), test_world());
    alone.prepare(5);
    ParticleSystem both = system;
    both.potential = std::make_shared<QuadraticPotential>(0.7 * Eigen::MatrixXd::Identity(4, 4));
    std::vector<std::unique_ptr<Environment>> pair;
    pair.push_back(
        environments().find("nonlinear-line")->build(section_of(chain), both, {h, 1.0}, test_world(), mistakes));
    Problem together(both, Eigen::MatrixXd::Zero(4, 4), std::move(pair), test_world());
    together.prepare(5);
    EXPECT_FALSE(make_stepper(scheme_of(1), alone, h)->advance(100));
    EXPECT_FALSE(make_stepper(scheme_of(1), together, h)->advance(100));
    EXPECT_EQ(sites_of(together).displacements(axis, 3), sites_of(alone).displacements(0, 3));
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(together.q[2 * i + axis], alone.q[i], 1e-14);
  }
}

TEST(NonlinearLine, ForcesOnTheHeadsAreMinusTheGradientOfTheEnergy) {
  for (const NonlinearLaw& law : nonlinear_laws()) {
    for (const long sites : {2L, 3L, 40L, 41L}) {
      SCOPED_TRACE(law.name);
      Problem problem = problem_of({law, sites}, self_world());
      Environment& chain = *problem.environments()[0];
      const Eigen::VectorXd heads{{0.4, 0.27}};
      std::vector<double> force(2);
      chain.force(std::vector<double>{0.4, 0.27}, force);
      const auto energy = [&](const Eigen::VectorXd& x) {
        const EnvironmentEnergy all = chain.energy({x.data(), 2});
        return all.environment + all.interaction;
      };
      const Eigen::VectorXd gradient = gradient_of(energy, heads, 1e-3);
      for (int head = 0; head < 2; ++head) EXPECT_NEAR(force[head], -gradient[head], 1e-8);
    }
  }
}

TEST(NonlinearLine, NetworkIsTheLatticeAtRest) {
  const Chain chain{nonlinear_laws()[3], 7, {0}};
  Problem problem = problem_of(chain, self_world());
  const LumpedNetwork network = problem.environments()[0]->assemble(LumpedNetwork::no_limit);
  EXPECT_EQ(network.mass, std::vector<double>(7, 1.2));
  EXPECT_EQ(network.springs.size(), 6u);
  EXPECT_EQ(network.springs.front().stiffness, 0.9);
  EXPECT_EQ(network.to_ground.size(), 8u);  // every site, and the fixed end
  EXPECT_EQ(problem.environments()[0]->properties().sites, 7);
  EXPECT_NEAR(problem.environments()[0]->properties().highest_frequency, std::sqrt((4 * 0.9 + 0.3) / 1.2), 1e-15);
}

const PartitionedRungeKutta& implicit_scheme(const std::string& name) {
  return std::get<PartitionedRungeKutta>(method_case(name).scheme);
}

/// The largest difference of places and momenta. @note Collective.
double difference(Problem& problem, const PlainChain& plain) {
  problem.broadcast_particles();
  const std::vector<double> w = sites_of(problem).displacements(0, 1);
  double worst = std::max((problem.q - Eigen::Vector2d(plain.q[0], plain.q[1])).cwiseAbs().maxCoeff(),
                          (problem.p - Eigen::Vector2d(plain.p[0], plain.p[1])).cwiseAbs().maxCoeff());
  for (std::size_t i = 0; i < w.size(); ++i) worst = std::max(worst, std::abs(w[i] - plain.q[i + 2]));
  return problem.communicator().max(worst);
}

constexpr const char* implicit_methods[] = {"gamma(gamma=0.500000)", "gamma(gamma=0.250000)", "gauss(stages=2)",
                                            "gauss(stages=3)", "lobatto(stages=3)"};

// Round-off of a few units in the last place of places near 1 in each of 12 steps, which the motion hardly amplifies.
TEST(MpiNonlinearLine, ImplicitStepsAreTheSolutionOfAllEquations) {
  std::size_t number = 0;
  RankSubset subset(4);
  for (Chain chain : all_chains()) {
    if (chain.sites > 600) chain.sites = 257 + chain.sites % 3;
    const std::string name = implicit_methods[number++ % std::size(implicit_methods)];
    if (!subset.takes_next()) continue;
    SCOPED_TRACE(name_of(chain) + ", " + name);
    const double step = number % 2 == 0 ? 0.1 : 0.4;
    Problem problem = problem_of(chain, test_world());
    const auto stepper = make_stepper(implicit_scheme(name), problem, step);
    const auto failure = stepper->advance(12);
    ASSERT_FALSE(failure) << failure->reason << " " << failure->residual;
    PlainChain plain(chain);
    plain.advance(implicit_scheme(name), 12, step);
    EXPECT_LT(difference(problem, plain), 1e-12);
  }
}

// Both have local errors of the third order.
TEST(NonlinearLine, ImplicitStepsTendToExplicitOnes) {
  const Chain chain{nonlinear_laws()[2], 33};
  double differences[2];
  for (int i = 0; i < 2; ++i) {
    const double step = 0.02 / (1 << i);
    Problem by_midpoint = problem_of(chain, self_world()), by_verlet = problem_of(chain, self_world());
    EXPECT_FALSE(make_stepper(implicit_scheme("gamma(gamma=0.500000)"), by_midpoint, step)->advance(50 << i));
    EXPECT_FALSE(make_stepper(method_case("stoermer-verlet(order_of_substeps=kick-drift-kick)").scheme, by_verlet, step)
                     ->advance(50 << i));
    differences[i] = (by_midpoint.q - by_verlet.q).norm();
  }
  EXPECT_LT(differences[0], 1e-3);
  EXPECT_NEAR(differences[0] / differences[1], 4.0, 0.1);
}

TEST(NonlinearLine, ImplicitStepsHaveTheOrderOfTheirMethod) {
  for (const auto& [name, order] :
       {std::pair("gamma(gamma=0.500000)", 2), std::pair("gauss(stages=2)", 4), std::pair("gauss(stages=3)", 6)}) {
    SCOPED_TRACE(name);
    const Chain chain{nonlinear_laws()[7], 12};
    const auto at_end = [&](const std::string& method, int steps) {
      Problem problem = problem_of(chain, self_world());
      EXPECT_FALSE(make_stepper(implicit_scheme(method), problem, 1.6 / steps)->advance(steps));
      return Eigen::VectorXd(problem.q);
    };
    const Eigen::VectorXd exact = at_end("gauss(stages=3)", 256);
    const double measured = measured_order([&](int steps) { return (at_end(name, steps) - exact).norm(); }, order);
    EXPECT_NEAR(measured, order, order_tolerance(order));
  }
}

// The same elimination in other parts, and other solvers: round-off, as above.
TEST(MpiNonlinearLine, AnySolverAndAnyRanksGiveTheSameImplicitSteps) {
  const PetscChoice choices[] = {{},
                                 {{"-snes_type", "newtontr"}},
                                 {{"-ksp_type", "gmres"}},
                                 {{"-ksp_type", "gmres"}, {"-pc_type", "bjacobi"}},
                                 {{"-snes_linesearch_type", "basic"}, {"-ksp_type", "bcgs"}}};
  for (const Chain& chain : {Chain{nonlinear_laws()[3], 900}, Chain{nonlinear_laws()[7], 901}}) {
    Problem alone = problem_of(chain, self_world());
    EXPECT_FALSE(make_stepper(implicit_scheme("gauss(stages=2)"), alone, 0.2)->advance(10));
    const std::vector<double> expected = sites_of(alone).displacements(0, 1);
    for (const PetscChoice& choice : choices) {
      SCOPED_TRACE(choice.empty() ? "default" : choice.front().second);
      const PetscOptionsScope options(choice);
      Problem problem = problem_of(chain, test_world());
      const auto failure = make_stepper(implicit_scheme("gauss(stages=2)"), problem, 0.2)->advance(10);
      EXPECT_FALSE(failure) << failure->reason;
      const std::vector<double> w = sites_of(problem).displacements(0, 1);
      double worst = 0.0;
      for (std::size_t i = 0; i < w.size(); ++i) worst = std::max(worst, std::abs(w[i] - expected[i]));
      EXPECT_LT(worst, 1e-12);
    }
  }
}

/// Free particles at these places of one long chain, and the chains between them.
Problem row_of_chains(const NonlinearLaw& law, const std::vector<long>& places, const Communicator& world) {
  ParticleSystem system;
  system.particles = static_cast<int>(places.size());
  const int size = system.size();
  system.mass = system.q0 = system.v0 = Eigen::VectorXd::Constant(size, 1.2);
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Zero(size, size));
  Mistakes mistakes;
  std::vector<std::unique_ptr<Environment>> all;
  for (long k = 0; k < size; ++k) {
    const auto place = static_cast<double>(places[static_cast<std::size_t>(k)]);
    system.q0[k] = 0.2 * std::sin(1.3 * place);
    system.v0[k] = 0.3 * std::cos(2.1 * place);
    if (k == 0) continue;
    const long before = places[static_cast<std::size_t>(k - 1)],
               sites = places[static_cast<std::size_t>(k)] - before - 1;
    const std::string site = "(i + " + std::to_string(before + 1) + ")";
    Section section = section_of({law, sites, {k - 1, k}});
    section.set("name", "chain " + std::to_string(k), {});
    section.set("w0", std::vector<std::string>{"0.2*sin(1.3*" + site + ")"}, {});
    section.set("v0", std::vector<std::string>{"0.3*cos(2.1*" + site + ")"}, {});
    all.push_back(environments().find("nonlinear-line")->build(section, system, {h, 1.0}, world, mistakes));
  }
  if (!mistakes.empty()) throw std::runtime_error(mistakes.report());
  Problem problem(system, Eigen::MatrixXd::Zero(size, size), std::move(all), world);
  problem.prepare(5);
  return problem;
}

// Newton's method for the particles finds what one elimination of all sites finds.
TEST(MpiNonlinearLine, AParticleBetweenTwoChainsIsASiteOfOne) {
  for (const char* name : {"gamma(gamma=0.500000)", "gauss(stages=2)"}) {
    SCOPED_TRACE(name);
    Problem one = row_of_chains(nonlinear_laws()[2], {0, 500}, self_world()),
            two = row_of_chains(nonlinear_laws()[2], {0, 201, 500}, test_world());
    for (Problem* problem : {&one, &two}) EXPECT_FALSE(make_stepper(implicit_scheme(name), *problem, 0.4)->advance(12));
    two.broadcast_particles();
    EXPECT_NEAR(two.q[0], one.q[0], 1e-12);
    EXPECT_NEAR(two.q[1], sites_of(one).displacements(0, 1)[200], 1e-12);
    EXPECT_NEAR(two.q[2], one.q[1], 1e-12);
  }
}

TEST(MpiNonlinearLine, MidpointStepsConserveTheMomentumOfAFreeRing) {
  // A quadratic invariant of a stiff law far beyond the stability limit of explicit steps, with linear environments.
  const Chain chain{{"stiff", potential_section("fput", {{"k", 400.0}, {"alpha", 0.0}, {"beta", 900.0}}), {}}, 300};
  ParticleSystem system = particles(1);
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Zero(2, 2));
  Mistakes mistakes;
  std::vector<std::unique_ptr<Environment>> all;
  all.push_back(
      environments().find("nonlinear-line")->build(section_of(chain), system, {h, 1.0}, test_world(), mistakes));
  Problem problem(system, Eigen::MatrixXd::Zero(2, 2), std::move(all), test_world());
  problem.prepare(5);
  const auto momentum = [&] {
    problem.broadcast_particles();
    double sum = 0.0;
    for (const StateField& field : problem.environments()[0]->fields()) {
      for (const double p : problem.communicator().gather(field.values)) sum += field.name == "p" ? p : 0.0;
    }
    return sum + problem.p.sum();
  };
  const double start = momentum();
  EXPECT_FALSE(make_stepper(implicit_scheme("gamma(gamma=0.500000)"), problem, 0.3)->advance(40));

  const double end = momentum();
  if (test_world().is_root()) {
    EXPECT_NEAR(end, start, 1e-10);
  }
}

TEST(NonlinearLine, MethodsThatCannotAdvanceItAreRefused) {
  Problem problem = problem_of({nonlinear_laws()[0], 9}, self_world());
  for (const MethodCase& method : method_cases()) {
    const auto* splitting = std::get_if<ExplicitScheme>(&method.scheme);
    const auto* stages = std::get_if<PartitionedRungeKutta>(&method.scheme);
    const std::optional<std::string> reason = problem.environments()[0]->unsupported_reason(method.scheme);
    const bool is_supported =
        (splitting != nullptr && splitting->b.empty()) || (stages != nullptr && stages->stages() <= 3);
    EXPECT_EQ(reason.has_value(), !is_supported) << method.name;
    if (reason) {
      EXPECT_NE(reason->find("`chain`"), std::string::npos) << *reason;
    }
  }
}

struct WrongChain {
  const char* key;
  Section::Value value;
  const char* message;
};

TEST(NonlinearLine, MistakesAreAnsweredWithWhatWouldBeRight) {
  const Chain good{nonlinear_laws()[2], 12};
  const WrongChain wrong[] = {
      {"attach", std::vector<long>{0, 1, 1}, "names 3 particles"},
      {"attach", std::vector<long>{}, "names 0 particles"},
      {"attach", std::vector<long>{0, 2}, "particle 2, but the system has 2"},
      {"far_end", std::string("free"), "no meaning for a chain between two particles"},
      {"sites", 1L, "at least 2"},
      {"M", std::vector<double>(13, 1.0), "13 masses for 12 sites"},
      {"M", std::string("1 - i"), "for i = 1"},
      {"couple", std::vector<std::string>{"x0"}, "which `attach` names"},
      {"w0", std::vector<std::string>{"i", "i"}, "2 formula(s)"},
      {"potential", std::vector<Section>{potential_section("lennard-jones", {{"epsilon", 1.0}, {"sigma", 1.0}})},
       "no finite value or derivative at 0"},
      {"potential", std::vector<Section>{formula_section("r^2 + y")}, "y"},
      {"external", std::vector<Section>{formula_section("log(x)")}, "no finite value or derivative at 0"},
  };
  for (const WrongChain& mistake : wrong) {
    SCOPED_TRACE(mistake.message);
    Section section = section_of(good);
    section.set(mistake.key, mistake.value, {});
    Mistakes mistakes;
    std::unique_ptr<Environment> built;
    completes([&] {
      built = environments().find("nonlinear-line")->build(section, particles(1), {h, 1.0}, self_world(), mistakes);
    });
    EXPECT_EQ(built, nullptr);
    EXPECT_NE(mistakes.report().find(mistake.message), std::string::npos) << mistakes.report();
  }
  Section open = section_of({nonlinear_laws()[1], 12, {0}});
  open.set("far_end", std::string("free"), {});
  Mistakes mistakes;
  EXPECT_EQ(environments().find("nonlinear-line")->build(open, particles(1), {h, 1.0}, self_world(), mistakes),
            nullptr);
  EXPECT_NE(mistakes.report().find("take \"fixed\""), std::string::npos) << mistakes.report();
}

}  // namespace
}  // namespace bathline::nonlinear_line_test
