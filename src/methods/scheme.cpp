// Schemes as data: construction, merging of substeps, nodes and reach.
#include "methods/scheme.hpp"

#include <algorithm>
#include <numeric>

namespace bathline {

namespace {

/// The number of sites on each side on which displacements and momenta depend.
struct Reach {
  int displacement = 0, momentum = 0;

  void step(const ExplicitScheme& scheme) {
    // After a drift displacements depend on all that the momenta depended on; after a kick momenta depend on the sites
    // of the displacements and one more. A stage does both, with the values of the preceding stage.
    for (const Substep& substep : scheme.substeps) {
      const int drifted = std::max(displacement, momentum);
      const int kicked = std::max(momentum, displacement + 1);
      if (substep.kind != Substep::Kind::kick) displacement = drifted;
      if (substep.kind != Substep::Kind::drift) momentum = kicked;
    }
  }
  int sites() const { return std::max(displacement, momentum); }
};

}  // namespace

int ExplicitScheme::reach(int steps) const {
  Reach reach;
  for (int step = 0; step < steps; ++step) reach.step(*this);
  return reach.sites();
}

int ExplicitScheme::steps_within(std::int64_t sites) const {
  Reach reach;
  reach.step(*this);
  int steps = 0;
  do {
    ++steps;
    reach.step(*this);
  } while (reach.sites() <= sites && steps < 2 * sites);
  return steps;
}

bool has_stages(const Scheme& scheme) {
  const auto* explicit_scheme = std::get_if<ExplicitScheme>(&scheme);
  return explicit_scheme == nullptr || !explicit_scheme->b.empty();
}

ExplicitScheme ExplicitScheme::merged() const {
  ExplicitScheme result = *this;
  result.substeps.clear();
  for (const Substep& substep : substeps) {
    const bool continues_last =
        !result.substeps.empty() && substep.kind != Substep::Kind::stage && result.substeps.back().kind == substep.kind;
    if (!continues_last) {
      result.substeps.push_back(substep);
    } else {
      result.substeps.back().weight += substep.weight;
      result.substeps.back().velocity_after = false;
    }
  }
  return result;
}

std::vector<double> ExplicitScheme::nodes() const {
  std::vector<double> nodes;
  double drifted = 0.0;
  for (const Substep& substep : substeps) {
    if (substep.kind == Substep::Kind::stage) {
      const std::vector<double>& weights = a[static_cast<std::size_t>(substep.stage)];
      nodes.push_back(std::accumulate(weights.begin(), weights.end(), 0.0));
      continue;
    }
    nodes.push_back(drifted);
    if (substep.kind == Substep::Kind::drift) drifted += substep.weight;
  }
  return nodes;
}

bool ExplicitScheme::has_ou_substeps() const {
  return std::any_of(substeps.begin(), substeps.end(),
                     [](const Substep& substep) { return substep.kind == Substep::Kind::ou; });
}

bool ExplicitScheme::is_drift_and_kick() const {
  return substeps == std::vector<Substep>{{Substep::Kind::drift, 1.0}, {Substep::Kind::kick, 1.0}};
}

ExplicitScheme ExplicitScheme::with_ou_outside() const {
  ExplicitScheme result = *this;
  result.substeps.insert(result.substeps.begin(), {Substep::Kind::ou, 0.5});
  result.substeps.push_back({Substep::Kind::ou, 0.5});
  return result;
}

ExplicitScheme ExplicitScheme::without_ou() const {
  ExplicitScheme result = *this;
  std::erase_if(result.substeps, [](const Substep& substep) { return substep.kind == Substep::Kind::ou; });
  return result;
}

PartitionedRungeKutta one_stage(double a, double a_hat) {
  return {Eigen::MatrixXd::Constant(1, 1, a), Eigen::MatrixXd::Constant(1, 1, a_hat), Eigen::VectorXd::Ones(1)};
}

ExplicitScheme splitting(std::vector<Substep> substeps) { return {std::move(substeps), {}, {}}; }

ExplicitScheme runge_kutta(std::vector<std::vector<double>> a, std::vector<double> b) {
  ExplicitScheme scheme;
  for (int stage = 0; stage < static_cast<int>(b.size()); ++stage) {
    scheme.substeps.push_back({.kind = Substep::Kind::stage, .weight = b[stage], .stage = stage});
  }
  scheme.a = std::move(a);
  scheme.b = std::move(b);
  return scheme;
}

}  // namespace bathline
