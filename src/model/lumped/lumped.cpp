// A lumped environment: its matrices, state, energy, properties and unsupported schemes.
#include "model/lumped/lumped.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "model/lumped/stepper.hpp"
#include "model/thermal/temperature_in_time.hpp"
#include "random/normal_batch.hpp"
#include "solve/dense.hpp"

namespace bathline {

namespace {

Eigen::VectorXd sum_by_site(const std::vector<std::pair<int, double>>& values, std::size_t sites) {
  Eigen::VectorXd all = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(sites));
  for (const auto& [site, value] : values) all[site] += value;
  return all;
}

Eigen::SparseMatrix<double> stiffness_of(const LumpedNetwork& sites) {
  std::vector<Eigen::Triplet<double>> entries;
  for (const auto& [site, k] : sites.to_ground) entries.emplace_back(site, site, k);
  for (const auto& [first, second, k] : sites.springs) {
    entries.insert(entries.end(), {{first, first, k}, {second, second, k}, {first, second, -k}, {second, first, -k}});
  }
  const auto n = static_cast<Eigen::Index>(sites.mass.size());
  Eigen::SparseMatrix<double> matrix(n, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

}  // namespace

LumpedEnvironment::LumpedEnvironment(std::string name, Attachment attachment, LumpedNetwork sites,
                                     const Communicator& communicator, NonlinearSprings nonlinear_springs,
                                     double temperature)
    : Environment(std::move(name), std::move(attachment), communicator),
      sites_(std::move(sites)),
      nonlinear_springs_(std::move(nonlinear_springs)),
      inverse_mass_(Eigen::Map<const Eigen::VectorXd>(sites_.mass.data(), static_cast<Eigen::Index>(sites_.mass.size()))
                        .cwiseInverse()),
      to_head_(sum_by_site(sites_.to_head, sites_.mass.size())),
      to_ground_(sum_by_site(sites_.to_ground, sites_.mass.size())),
      dashpots_(sum_by_site(sites_.dashpots, sites_.mass.size())),
      mobilities_(sum_by_site(sites_.mobilities, sites_.mass.size())),
      stiffness_(stiffness_of(sites_)),
      temperature_(temperature) {
  if (nonlinear_springs_ && temperature_ > 0.0) throw std::logic_error("nonlinear springs have no thermal start");
}

EnvironmentProperties LumpedEnvironment::describe() const {
  const Eigen::Index n = inverse_mass_.size();
  EnvironmentProperties properties;
  properties.sites = n;
  properties.temperature = temperature_;
  properties.temperature_in_time = temperature_in_time_;
  properties.loses_energy = !dashpots_.isZero(0.0) || !mobilities_.isZero(0.0);
  properties.is_linear = !nonlinear_springs_;
  // If the head has a constant speed, every site has that speed after a while: a mass moves against its dashpot, driven
  // through its mobility, so the two add up as dampers in series. A site that is fixed to the ground makes the
  // environment a spring to the start, without a damping constant.
  bool is_clamped = !sites_.to_ground.empty();
  for (Eigen::Index j = 0; j < n; ++j) {
    const bool is_massless = inverse_mass_[j] == 0.0;
    is_clamped = is_clamped || (is_massless && mobilities_[j] == 0.0);
    if (is_massless || dashpots_[j] > 0.0) {
      properties.damping += 1.0 / (mobilities_[j] + (is_massless ? 0.0 : 1.0 / dashpots_[j]));
    }
  }
  if (is_clamped) properties.damping = std::numeric_limits<double>::infinity();
  // Without springs between sites the eigenvalue problem decouples into one per site.
  const Eigen::MatrixXd k = Eigen::MatrixXd(stiffness_) + Eigen::MatrixXd(to_head_.asDiagonal());
  const Eigen::Index size = sites_.springs.empty() ? 1 : n;
  for (Eigen::Index first = 0; first < n; first += size) {
    const auto part = [&](const Eigen::VectorXd& all) { return all.segment(first, size).asDiagonal(); };
    const Eigen::MatrixXd stiffness = k.block(first, first, size, size);
    Eigen::MatrixXd motion(2 * size, 2 * size);
    motion << -(part(mobilities_) * stiffness), Eigen::MatrixXd(part(inverse_mass_)), -stiffness,
        -Eigen::MatrixXd(part(dashpots_.cwiseProduct(inverse_mass_)));
    const Eigen::VectorXcd values = eigenvalues(motion);
    properties.highest_frequency = std::max(properties.highest_frequency, values.cwiseAbs().maxCoeff());
    if (properties.loses_energy)
      properties.fastest_decay = std::max(properties.fastest_decay, -values.real().minCoeff());
  }
  return properties;
}

std::optional<std::string> LumpedEnvironment::own_unsupported_reason(const Scheme& scheme) const {
  const auto* steps = std::get_if<ExplicitScheme>(&scheme);
  const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme);
  const bool decays = properties().loses_energy;
  const auto goes_back = [](const Substep& substep) { return substep.weight < 0.0; };
  if (steps != nullptr && decays && std::any_of(steps->substeps.begin(), steps->substeps.end(), goes_back)) {
    return "it has negative substeps, and the exponential decay in `" + name() + "` cannot run backwards";
  }
  if (steps != nullptr && steps->b.empty() && !mobilities_.isZero(0.0) && !exact_flow_is_complete()) {
    return "it applies the exact decay between its substeps, which needs an inertia at every node, and some nodes of "
           "`" +
           name() + "` are massless";
  }
  if (is_noisy() && std::holds_alternative<ExactFlow>(scheme)) {
    return "the exact flow supports white noise only, and the noise of `" + name() + "` is coloured";
  }
  if (is_noisy() && steps != nullptr && !steps->b.empty()) {
    return "it has explicit stages, and the noise of `" + name() + "` needs a splitting or implicit stages";
  }
  if (is_noisy() && stages != nullptr && stages->stages() == 1 && stages->a != stages->a_hat) {
    return "it gives positions and momenta different weights within a step, so that no noise of `" + name() +
           "` balances its memory, unless gamma is 0, 0.5 or 1";
  }
  if (is_noisy() && stages != nullptr && stages->stages() > 1 && !mobilities_.isZero(0.0) &&
      !exact_flow_is_complete()) {
    return "it applies the exact decay with its noise before and after its stages, which needs an inertia at every "
           "node, and some nodes of `" +
           name() + "` are massless";
  }
  if (stages != nullptr && nonlinear_springs_) {
    return "an implicit scheme eliminates the equations of the sites, and those of `" + name() + "` are not linear";
  }
  if (stages != nullptr && decays && !is_noisy() && stages->stages() > 2 && stages->a != stages->a_hat) {
    // With noise its exact flow is apart from the stages: averages keep their order (tests/model/memory), paths would
    // not.
    return "it has different matrices for positions and momenta, and the decaying variables of `" + name() +
           "` are neither; without noise paths would lose its order";
  }
  return std::nullopt;
}

std::int64_t LumpedEnvironment::bytes(const Scheme&) const {
  return static_cast<std::int64_t>(2 * sizeof(double)) * properties().sites * attachment().axes();
}

void LumpedEnvironment::prepare(const RngKey& key) {
  const Eigen::Index n = inverse_mass_.size();
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(n);
  axes_.assign(communicator().is_root() ? static_cast<std::size_t>(attachment().axes()) : 0, {rest, rest, 0.0});
  steps_ = 0.0;
  noise_.begin(NoiseStream::environment_key(key));
  if (!(temperature_ > 0.0) || axes_.empty()) return;
  // The covariance of the displacements is kT times the inverse of the stiffness matrix with the head clamped.
  Eigen::SparseMatrix<double> springs = stiffness_;
  for (Eigen::Index site = 0; site < n; ++site) springs.coeffRef(site, site) += to_head_[site];
  const Eigen::SimplicialLLT<Eigen::SparseMatrix<double>, Eigen::Lower, Eigen::NaturalOrdering<int>> root(springs);
  if (root.info() != Eigen::Success) throw std::logic_error("unbound sites have no thermal equilibrium");
  const double root_kt = std::sqrt(temperature_);
  Eigen::VectorXd numbers(n);
  std::uint64_t first = 0;
  const auto draw = [&] {
    fill_normals(key, first, {numbers.data(), static_cast<std::size_t>(n)});
    first += static_cast<std::uint64_t>(n);
  };
  for (Axis& axis : axes_) {
    draw();
    axis.w = root_kt * Eigen::VectorXd(root.matrixU().solve(numbers));
    draw();
    for (Eigen::Index site = 0; site < n; ++site) {
      if (inverse_mass_[site] > 0.0) axis.p[site] = root_kt * numbers[site] / std::sqrt(inverse_mass_[site]);
    }
  }
}

std::span<const double> LumpedEnvironment::numbers(int draw, std::size_t axis, double h, double middle,
                                                   std::size_t part, std::size_t parts) {
  if (!is_noisy()) return {};
  const std::size_t count = sites_.mobilities.size() + sites_.dashpots.size();
  const std::span<const double> drawn = noise_.at(static_cast<std::int64_t>(steps_), draw, parts * axes_.size() * count)
                                            .subspan((part * axes_.size() + axis) * count, count);
  if (!temperature_in_time_) return drawn;
  scaled_.assign(drawn.begin(), drawn.end());
  const double amplitude = temperature_in_time_->amplitude((steps_ + middle) * h);
  for (double& number : scaled_) number *= amplitude;
  return scaled_;
}

std::vector<StateField> LumpedEnvironment::fields() {
  std::vector<StateField> fields;
  const std::int64_t sites = properties().sites;
  Axis elsewhere;
  for (int axis = 0; axis < attachment().axes(); ++axis) {
    const bool is_here = communicator().is_root();
    Axis& row = is_here ? axes_[static_cast<std::size_t>(axis)] : elsewhere;
    fields.push_back({"w", axis, 0, sites, {row.w.data(), static_cast<std::size_t>(row.w.size())}});
    fields.push_back({"p", axis, 0, sites, {row.p.data(), static_cast<std::size_t>(row.p.size())}});
    fields.push_back({"dissipated", axis, 0, 1, {&row.dissipated, is_here ? 1u : 0u}});
  }
  if (is_noisy()) fields.push_back({"steps", 0, 0, 1, {&steps_, communicator().is_root() ? 1u : 0u}});
  return fields;
}

double LumpedEnvironment::pull(double x, const Eigen::VectorXd& w, Eigen::VectorXd& pulls) const {
  pulls = to_head_.cwiseProduct(Eigen::VectorXd::Constant(w.size(), x) - w);
  if (nonlinear_springs_) nonlinear_springs_(x, w, pulls);
  const double head_force = -pulls.sum();
  if (stiffness_.nonZeros() > 0) pulls -= stiffness_ * w;
  return head_force;
}

EnvironmentEnergy LumpedEnvironment::energy(std::span<const double> head) {
  double numbers[3] = {};
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    const auto& [w, p, dissipated] = axes_[axis];
    Eigen::VectorXd pulls = Eigen::VectorXd::Zero(w.size());
    numbers[0] += 0.5 * inverse_mass_.dot(p.cwiseAbs2()) + 0.5 * w.dot(stiffness_ * w);
    numbers[1] += 0.5 * to_head_.dot((w.array() - head[axis]).square().matrix());
    if (nonlinear_springs_) numbers[1] += nonlinear_springs_(head[axis], w, pulls);
    numbers[2] += dissipated;
  }
  communicator().broadcast(std::span<double>(numbers));
  return {numbers[0], numbers[1], numbers[2]};
}

void LumpedEnvironment::force(std::span<const double> head, std::span<double> force) const {
  Eigen::VectorXd pulls;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    const Eigen::VectorXd& w = axes_[axis].w;
    // The sum within `pull`, of which nothing else is needed.
    force[axis] = nonlinear_springs_
                      ? pull(head[axis], w, pulls)
                      : -to_head_.cwiseProduct(Eigen::VectorXd::Constant(w.size(), head[axis]) - w).sum();
  }
}

double LumpedEnvironment::apply_exact_flow(double t, double, std::span<const double> numbers, Axis& axis) const {
  double lost = 0.0;
  std::size_t next = sites_.mobilities.size();
  for (const auto& [site, dashpot] : sites_.dashpots) {
    const double inverse_mass = inverse_mass_[site], rate = dashpot * inverse_mass, loss = -std::expm1(-2.0 * rate * t);
    double& p = axis.p[site];
    const double before = p;
    p *= std::exp(-rate * t);
    if (numbers.empty()) {
      lost += 0.5 * inverse_mass * before * before * loss;
    } else {
      p += std::sqrt(temperature_ / inverse_mass * loss) * numbers[next++];
      lost += 0.5 * inverse_mass * (before * before - p * p);
    }
  }
  return lost;
}

double LumpedEnvironment::apply_transposed_flow(double t, Axis& axis) const {
  for (const auto& [site, dashpot] : sites_.dashpots) axis.w[site] *= std::exp(-dashpot * inverse_mass_[site] * t);
  return 0.0;
}

std::unique_ptr<ExplicitEnvironmentStepper> LumpedEnvironment::explicit_stepper(const ExplicitScheme& scheme,
                                                                                double h) {
  return make_explicit_environment_stepper(*this, scheme, h);
}

std::unique_ptr<ImplicitEnvironmentStepper> LumpedEnvironment::implicit_stepper(const PartitionedRungeKutta& scheme,
                                                                                double h) {
  return make_implicit_environment_stepper(*this, scheme, h);
}

}  // namespace bathline
