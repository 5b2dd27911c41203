// Properties of a line, its state on several ranks and its energy.
#include "model/line/line.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "dense_system.hpp"
#include "self_world.hpp"
#include "test_world.hpp"
#include "nonuniform_sites.hpp"

namespace bathline::line_test {
namespace {

Line make_line(std::int64_t sites, int axes, FarEnd far_end, const Communicator& world = test_world()) {
  return Line("line", Attachment({{0, 1.0}}, axes), {.mass = 5.0, .stiffness = 2000.0, .far_end = far_end}, sites,
              world);
}

TEST(MpiLine, DampsBySqrtOfLambdaM) {
  const Line line = make_line(100, 1, FarEnd::fixed);
  EXPECT_NEAR(line.properties().damping, 100.0, 1e-13);
  EXPECT_NEAR(line.properties().echo.time, 2.0 * 100.0 * std::sqrt(5.0 / 2000.0), 1e-13);
  EXPECT_NEAR(line.properties().highest_frequency, 2.0 * std::sqrt(2000.0 / 5.0), 1e-12);
  EXPECT_FALSE(line.properties().loses_energy);
  const Line matched = make_line(100, 1, FarEnd::matched);
  EXPECT_TRUE(matched.properties().loses_energy);
  EXPECT_EQ(matched.properties().echo.time, std::numeric_limits<double>::infinity());
}

TEST(MpiLine, CountsAtLeastThePositionsAndMomentaOfItsSites) {
  const auto bytes = [](int axes) {
    return test_world().sum(make_line(1000000, axes, FarEnd::fixed).bytes(ExactFlow{}));
  };
  EXPECT_GE(bytes(1), 2 * 8 * 1000000);
  EXPECT_GE(bytes(2), 2 * 2 * 8 * 1000000);
  EXPECT_LT(bytes(2), 4 * 2 * 8 * 1000000) << "less than twice as many";
}

std::shared_ptr<const std::vector<LineSite>> repeated(std::vector<LineSite> sites) {
  return std::make_shared<const std::vector<LineSite>>(std::move(sites));
}

// Twice the largest (k_j + k_{j+1})/m_j, from a table of any length; the longest line has more sites than can be
// visited.
TEST(MpiLine, HighestFrequencyAndEchoOfATableAreThoseOfItsSites) {
  const std::vector<LineSite> table = {{2.0, 3.0}, {2.0, 3.0}, {0.5, 1.0}};
  const auto properties = [&](std::int64_t sites, FarEnd far_end, const std::vector<LineSite>& rows) {
    return Line("line", Attachment({{0, 1.0}}, 1), {.far_end = far_end}, sites, test_world(), {.table = repeated(rows)})
        .properties();
  };
  const double echo = 2.0 * 2.0 * std::sqrt(2.0 / 3.0);
  for (const std::int64_t sites : {std::int64_t{4}, std::int64_t{7}, std::int64_t{1} << 40}) {
    EXPECT_EQ(properties(sites, FarEnd::fixed, table).highest_frequency, std::sqrt(2.0 * (1.0 + 3.0) / 0.5));
    EXPECT_EQ(properties(sites, FarEnd::fixed, table).echo.time, echo);
  }
  // The spring behind the last site is that of its own, or none.
  EXPECT_EQ(properties(3, FarEnd::fixed, table).highest_frequency, std::sqrt(2.0 * (1.0 + 1.0) / 0.5));
  EXPECT_EQ(properties(3, FarEnd::free, table).highest_frequency, std::sqrt(2.0 * (3.0 + 3.0) / 2.0));
  EXPECT_EQ(properties(2, FarEnd::fixed, table).highest_frequency, std::sqrt(2.0 * (3.0 + 3.0) / 2.0));
  // Equal sites echo at the end.
  EXPECT_EQ(properties(5, FarEnd::fixed, {{2.0, 3.0}, {2.0, 3.0}}).echo.time, 2.0 * 5.0 * std::sqrt(2.0 / 3.0));
}

TEST(MpiLine, CountsTheStageMomentaOfSchemes) {
  constexpr std::int64_t sites = 100000;
  const Attachment attachment({{0, 1.0}}, 2);
  const Line uniform("uniform", attachment, {}, sites, test_world());
  const Line nonuniform("nonuniform", attachment, {}, sites, test_world(),
                        {.table = repeated({{1.0, 1.0}, {2.0, 1.0}})});
  const PartitionedRungeKutta midpoint = one_stage(0.5, 0.5);
  const PartitionedRungeKutta three{Eigen::MatrixXd::Zero(3, 3), Eigen::MatrixXd::Zero(3, 3), Eigen::VectorXd::Zero(3)};
  const auto bytes = [](const Line& line, const Scheme& scheme) {
    return test_world().sum(line.bytes(scheme) - line.bytes(ExactFlow{}));
  };
  EXPECT_GE(bytes(uniform, splitting({})), 0);
  EXPECT_LE(bytes(uniform, midpoint), bytes(nonuniform, midpoint));
  EXPECT_GE(bytes(uniform, three), 3 * 2 * 8 * sites);
  EXPECT_GE(bytes(nonuniform, three), bytes(uniform, three));
}

TEST(MpiLine, LumpedNetworkIsTheLineWithItsFarEnd) {
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    const Line line = make_line(4, 1, far_end);
    const LumpedNetwork network = line.assemble(10);
    EXPECT_EQ(network.mass, std::vector<double>(4, 5.0));
    ASSERT_EQ(network.springs.size(), 3u);
    EXPECT_EQ(network.springs[2].first, 2);
    EXPECT_EQ(network.springs[2].second, 3);
    EXPECT_EQ(network.springs[2].stiffness, 2000.0);
    ASSERT_EQ(network.to_head.size(), 1u);
    EXPECT_EQ(network.to_head[0], std::make_pair(0, 2000.0));
    EXPECT_EQ(network.to_ground.size(), far_end == FarEnd::fixed ? 1u : 0u);
    ASSERT_EQ(network.dashpots.size(), far_end == FarEnd::matched ? 1u : 0u);
    if (far_end == FarEnd::matched) {
      EXPECT_EQ(network.dashpots[0].first, 3);
      EXPECT_NEAR(network.dashpots[0].second, 100.0, 1e-13);
    }
    // A truncated line is clamped at the cut.
    const LumpedNetwork cut = line.assemble(2);
    EXPECT_EQ(cut.mass.size(), 2u);
    ASSERT_EQ(cut.to_ground.size(), 1u);
    EXPECT_EQ(cut.to_ground[0], std::make_pair(1, 2000.0));
    EXPECT_TRUE(cut.dashpots.empty());
  }
}

TEST(MpiLine, KeepsItsState) {
  for (const std::int64_t sites : {1, 2, 39, 41, 200, 777}) {
    for (const int axes : {1, 3}) {
      Line line = make_line(sites, axes, FarEnd::fixed);
      line.prepare({});
      std::vector<double> w, p;
      line.gather_state(w, p);
      const auto count = static_cast<std::size_t>(sites * axes);
      if (test_world().is_root()) {
        EXPECT_EQ(w, std::vector<double>(count, 0.0));
        EXPECT_EQ(p, std::vector<double>(count, 0.0));
      } else {
        EXPECT_TRUE(w.empty());
        EXPECT_TRUE(p.empty());
      }
      std::vector<double> start(count), momenta(count);
      for (std::size_t i = 0; i < count; ++i) {
        start[i] = static_cast<double>(i);
        momenta[i] = -0.5 * static_cast<double>(i);
      }
      line.scatter_state(start, momenta);
      for (int axis = 0; axis < axes; ++axis) {
        const StateField field = line.field("w", axis);
        const std::span<const double> local = field.values;
        for (std::size_t j = 0; j < local.size(); ++j) {
          const auto site = static_cast<std::size_t>(field.first) + j;
          EXPECT_EQ(local[j], start[site * static_cast<std::size_t>(axes) + static_cast<std::size_t>(axis)]);
        }
      }
      EXPECT_EQ(test_world().sum(static_cast<std::int64_t>(line.field("w", 0).values.size())), sites);
      line.gather_state(w, p);
      if (test_world().is_root()) {
        EXPECT_EQ(w, start);
        EXPECT_EQ(p, momenta);
      }
    }
  }
}

TEST(MpiLine, ThermalStartIsTheSameOnAnyNumberOfRanks) {
  const Communicator alone = test_world().split(test_world().rank());
  const LineOptions uniform{.temperature = 0.7}, nonuniform{.temperature = 0.7, .table = site_table(nonuniform_site)};
  for (const LineOptions* options : {&uniform, &nonuniform}) {
    for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free}) {
      for (const std::int64_t sites : {1, 4, 41, 4096, 4097, 20011}) {
        SCOPED_TRACE(testing::Message() << (options == &uniform ? "uniform, " : "nonuniform, ") << sites << " sites");
        const LineConstants constants{.mass = 5.0, .stiffness = 2000.0, .far_end = far_end};
        Line distributed("line", Attachment({{0, 1.0}}, 2), constants, sites, test_world(), *options);
        Line whole("line", Attachment({{0, 1.0}}, 2), constants, sites, alone, *options);
        const std::uint32_t realisations = sites < 100 ? 20 : 1;
        for (std::uint32_t r = 0; r < realisations; ++r) {
          const RngKey key{.seed = 9, .realisation = 4 + r, .stream = 1};
          distributed.prepare(key);
          std::vector<double> w, p, all_w, all_p;
          distributed.gather_state(w, p);
          if (!test_world().is_root()) continue;
          whole.prepare(key);
          whole.gather_state(all_w, all_p);
          EXPECT_EQ(w, all_w);
          EXPECT_EQ(p, all_p);
        }
        // Each of the 4 N degrees of freedom has kT/2 on average, with a standard deviation of kT/sqrt(2).
        const EnvironmentEnergy energy = distributed.energy(std::vector<double>{0.0, 0.0});
        const double dofs = 4.0 * static_cast<double>(sites);
        EXPECT_NEAR(energy.environment + energy.interaction, 0.35 * dofs, 5.0 * 0.7 * std::sqrt(0.5 * dofs));
      }
    }
  }
}

// On one rank: the test above shows that bits do not depend on the number of ranks, and messages for all realisations
// would be slow where the ranks share few cores.
TEST(Line, ThermalStartOfNonuniformSitesHasTheCovarianceOfTheSprings) {
  constexpr int sites = 4, realisations = 20000;
  constexpr double temperature = 0.7;
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free}) {
    Line line("line", Attachment({{0, 1.0}}, 1), {.far_end = far_end}, sites, self_world(),
              {.temperature = temperature, .table = site_table(nonuniform_site)});
    Eigen::MatrixXd squares = Eigen::MatrixXd::Zero(sites, sites), momenta = squares;
    for (std::uint32_t r = 0; r < realisations; ++r) {
      line.prepare({.seed = 1, .realisation = r, .stream = 0});
      std::vector<double> w, p;
      line.gather_state(w, p);
      const Eigen::Map<const Eigen::VectorXd> position(w.data(), sites), momentum(p.data(), sites);
      squares += position * position.transpose() / realisations;
      momenta += momentum * momentum.transpose() / realisations;
    }
    const DenseLine dense(nonuniform_site, far_end, sites);
    const Eigen::MatrixXd expected_squares = temperature * dense.stiffness.inverse();
    const Eigen::MatrixXd expected_momenta = temperature * Eigen::MatrixXd(dense.mass.asDiagonal());
    const double error = 5.0 * std::sqrt(2.0 / realisations);
    for (int i = 0; i < sites; ++i) {
      for (int j = 0; j < sites; ++j) {
        EXPECT_NEAR(squares(i, j), expected_squares(i, j),
                    error * std::sqrt(expected_squares(i, i) * expected_squares(j, j)));
        EXPECT_NEAR(momenta(i, j), expected_momenta(i, j),
                    error * std::sqrt(expected_momenta(i, i) * expected_momenta(j, j)));
      }
    }
  }
}

TEST(Line, ThermalStartHasTheCovarianceOfTheSprings) {
  constexpr int sites = 4, realisations = 20000;
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free}) {
    Line line("line", Attachment({{0, 1.0}}, 1), {.mass = 5.0, .stiffness = 2000.0, .far_end = far_end}, sites,
              self_world(), {.temperature = 0.7});
    double squares[sites] = {}, product = 0.0, momenta = 0.0;
    for (std::uint32_t r = 0; r < realisations; ++r) {
      line.prepare({.seed = 1, .realisation = r, .stream = 0});
      const std::span<const double> w = line.field("w", 0).values;
      std::vector<double> all, p;
      line.gather_state(all, p);
      for (int j = 0; j < sites; ++j) squares[j] += all[j] * all[j] / realisations;
      product += all[0] * all[3] / realisations;
      momenta += p[2] * p[2] / realisations;
      EXPECT_EQ(w[0], all[0]);
    }
    const auto covariance = [&](int i, int j) {
      // Inverse of the stiffness matrix: (i + 1)(N - j)/(N + 1) between two fixed points, i + 1 with one of them free.
      const double unit = 0.7 / 2000.0;
      return unit * (far_end == FarEnd::fixed ? (i + 1.0) * (sites - j) / (sites + 1.0) : i + 1.0);
    };
    const double error = 5.0 * std::sqrt(2.0 / realisations);
    for (int j = 0; j < sites; ++j) EXPECT_NEAR(squares[j] / covariance(j, j), 1.0, error) << j;
    EXPECT_NEAR(product, covariance(0, 3), error * std::sqrt(covariance(0, 0) * covariance(3, 3)));
    EXPECT_NEAR(momenta / (5.0 * 0.7), 1.0, error);
  }
}

TEST(MpiLine, EnergyIsTheSumOverItsSitesAndHasItsBitsOnAnyRanks) {
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    for (const std::int64_t sites : {1, 2, 41, 4095, 4096, 4097, 20011}) {
      constexpr int axes = 2;
      SCOPED_TRACE(testing::Message() << sites << " sites, far end " << static_cast<int>(far_end));
      Line line = make_line(sites, axes, far_end);
      line.prepare({});
      RandomNumbers random(3);
      const std::vector<double> w = random.list(static_cast<std::size_t>(sites * axes));
      const std::vector<double> p = random.list(static_cast<std::size_t>(sites * axes));
      line.scatter_state(w, p);
      const std::vector<double> head = {0.3, -0.4};
      const EnvironmentEnergy energy = line.energy(head);

      double environment = 0.0, interaction = 0.0;
      for (std::size_t axis = 0; axis < axes; ++axis) {
        std::vector<double> terms;
        for (std::size_t j = 0; j < static_cast<std::size_t>(sites); ++j) {
          const double here = w[j * axes + axis];
          const bool last = j + 1 == static_cast<std::size_t>(sites);
          const double next = !last ? w[(j + 1) * axes + axis] : far_end == FarEnd::fixed ? 0.0 : here;
          const double strain = next - here;
          const double momentum = p[j * axes + axis];
          terms.push_back(std::fma(2000.0 * 5.0, strain * strain, momentum * momentum));
        }
        environment += 0.5 / 5.0 * std::accumulate(terms.begin(), terms.end(), 0.0);
        interaction += 0.5 * 2000.0 * (w[axis] - head[axis]) * (w[axis] - head[axis]);
      }
      EXPECT_NEAR(energy.environment, environment, 2.3e-16 * static_cast<double>(sites) * environment);
      Line alone = make_line(sites, axes, far_end, self_world());
      alone.prepare({});
      alone.scatter_state(w, p);
      EXPECT_EQ(energy.environment, alone.energy(head).environment);
      EXPECT_NEAR(energy.interaction, interaction, 1e-13 * interaction);
      EXPECT_EQ(energy.dissipated, 0.0);
    }
  }
}

// The head jumps by 1 and stays there: its velocity is a delta function, so that the force is -gamma(t) until the echo.
TEST(MpiLine, MemoryKernelIsTheForceAfterAJump) {
  Line line("line", Attachment({{0, 1.0}}, 1), {.mass = 0.7, .stiffness = 2.3}, 400, test_world());
  line.prepare({});
  // The phase error of Stoermer-Verlet at frequency omega is (omega h)^2 omega t / 24, below 5e-5 here.
  const double step = 0.002;
  const ExplicitScheme scheme =
      splitting({{Substep::Kind::kick, 0.5}, {Substep::Kind::drift, 1.0}, {Substep::Kind::kick, 0.5}});
  const std::vector<double> head = {1.0};
  const auto environment_stepper = line.explicit_stepper(scheme, step);
  std::vector<double> times, forces, force(1);
  for (int done = 0; done * step < 6.0; done += 50) {
    times.push_back(done * step);
    line.force(head, force);
    forces.push_back(force[0]);
    for (int step_in_block = 0; step_in_block < 50; ++step_in_block) {
      environment_stepper->begin_block({});
      for (std::size_t i = 0; i < 3 && test_world().is_root(); ++i)
        environment_stepper->substep(scheme.substeps[i], {head, {}});
      environment_stepper->end_block();
    }
  }
  const std::vector<double> kernel = line.analytic_kernel(times).value().kernel;
  ASSERT_EQ(kernel.size(), times.size());
  EXPECT_EQ(kernel[0], 2.3);
  for (std::size_t i = 0; i < times.size() && test_world().is_root(); ++i) {
    EXPECT_NEAR(forces[i], -kernel[i], 1.15e-4) << "t = " << times[i];
  }
}

// The integral of gamma is D; the part beyond x = omega_max t is at most 2 D x^(-3/2).
TEST(MpiLine, MemoryKernelIntegratesToTheDamping) {
  const Line line = make_line(100, 1, FarEnd::fixed);
  const double step = 0.01 / line.properties().highest_frequency, end = 500.0;
  std::vector<double> times;
  for (int i = 0; i * 0.01 <= end; ++i) times.push_back(i * step);
  const std::vector<double> kernel = line.analytic_kernel(times).value().kernel;
  double integral = -0.5 * step * (kernel.front() + kernel.back());
  for (double value : kernel) integral += step * value;
  EXPECT_NEAR(integral, line.properties().damping, 2.0 * line.properties().damping * std::pow(end, -1.5));
}

}  // namespace
}  // namespace bathline::line_test
