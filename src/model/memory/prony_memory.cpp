// A memory: an environment given by a kernel of decaying oscillations (a Prony series), a few numbers on rank 0.
//
//   gamma(t) = sum_j exp(-r_j t) (k_j cos(w_j t) + b_j sin(w_j t)),   z_j' = (-r_j + i w_j) z_j + x'
//   force on the head -integral gamma(t - s) x'(s) ds = -sum_j k_j u_j,   u_j = Re z_j + q_j Im z_j,   q_j = b_j/k_j
//
// Mode j is a spring k_j in series with a dashpot of mobility (r_j - q_j w_j)/k_j, on a mass
// m_j = k_j/(w_j^2 (1 + q_j^2)) with a dashpot (r_j + q_j w_j) m_j to the ground. The state is the end x - u_j of the
// spring and the momentum k_j/w_j Im z_j of the mass; the energy is k_j (u_j^2 + (1 + q_j^2) (Im z_j)^2)/2. If any mode
// decays, splittings apply the exact flow of the modes in half steps before and after the step of the particles; else
// the modes are oscillators like any others.
//
// If k_j < 0, or a dashpot is negative, the mode is not realisable by a machine, though the equations are the same and
// the sum of all modes may be passive. The energy of such a memory is the work of the particle on it; its springs,
// masses and dashpots are formal.
//
// At a temperature every mode has noise of its own, z_j' = (-r_j + i w_j) z_j + x' + (2 kT r_j/k_j)^(1/2) (white noise,
// one for each part, b_j = 0), and starts from its Gibbs distribution: the force on a clamped head has the
// autocorrelation kT gamma(t). This is the noise of dashpots and mobilities.
// Source: farshi2018, eq. (36) for the kernel; the modes are ours.
// Tested by tests/model/memory_test.cpp.
#include "model/memory/prony_memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace bathline {

namespace {

LumpedNetwork assembly_of(const std::vector<PronyTerm>& modes) {
  LumpedNetwork assembly;
  for (const PronyTerm& mode : modes) {
    const int site = static_cast<int>(assembly.mass.size());
    const double q = mode.b / mode.k, mass = mode.k / (mode.w * mode.w * (1.0 + q * q));
    const double mobility = mode.r - q * mode.w, dashpot = mode.r + q * mode.w;
    assembly.mass.push_back(mass);
    assembly.to_head.emplace_back(site, mode.k);
    if (mobility != 0.0) assembly.mobilities.emplace_back(site, mobility / mode.k);
    if (dashpot != 0.0 && std::isfinite(mass)) assembly.dashpots.emplace_back(site, dashpot * mass);
  }
  return assembly;
}

/// The energy of a mode over k/2.
double square_of(std::complex<double> z, double q) {
  const double u = z.real() + q * z.imag();
  return u * u + (1.0 + q * q) * z.imag() * z.imag();
}

}  // namespace

double kernel_at(const std::vector<PronyTerm>& modes, double t) {
  double sum = 0.0;
  for (const PronyTerm& mode : modes) {
    const std::complex<double> propagator = mode.propagator(t);
    sum += mode.k * propagator.real() + mode.b * propagator.imag();
  }
  return sum;
}

// Both poles of a mode are added before rounding, because their contributions nearly cancel far above it.
double resistance_at(std::span<const PronyTerm> modes, double w) {
  double sum = 0.0;
  for (const auto& [k, r, frequency, b] : modes) {
    const double own = r * r + frequency * frequency, below = r * r + (w - frequency) * (w - frequency),
                 above = r * r + (w + frequency) * (w + frequency);
    sum += (k * r * (own + w * w) + b * frequency * (own - w * w)) / below / above;
  }
  return sum;
}

std::vector<PronyTerm> rescaled_terms(const std::vector<PronyTerm>& modes) {
  constexpr double max_ratio = 30.0;
  std::vector<PronyTerm> all;
  for (const PronyTerm& mode : modes) {
    if (mode.k == 0.0 && mode.b == 0.0) continue;
    if (std::abs(mode.b) <= max_ratio * std::abs(mode.k)) {
      all.push_back(mode);
    } else {
      all.push_back({.k = std::abs(mode.b), .r = mode.r, .w = mode.w, .b = mode.b});
      all.push_back({.k = mode.k - std::abs(mode.b), .r = mode.r, .w = mode.w});
    }
  }
  return all;
}

bool has_termwise_noise(const std::vector<PronyTerm>& modes) {
  return std::all_of(modes.begin(), modes.end(),
                     [](const PronyTerm& mode) { return mode.is_passive() && mode.b == 0.0; });
}

PronyMemory::PronyMemory(std::string name, Attachment attachment, std::vector<PronyTerm> modes, double temperature,
                         const Communicator& communicator, double damping)
    : LumpedEnvironment(std::move(name), std::move(attachment), assembly_of(modes), communicator, {}, temperature),
      modes_(std::move(modes)),
      damping_(damping),
      is_realisable_(
          std::all_of(modes_.begin(), modes_.end(), [](const PronyTerm& mode) { return mode.is_passive(); })) {
  if (temperature > 0.0 && !has_termwise_noise(modes_)) throw std::logic_error("these modes have no noise one by one");
}

// A memory that is not realisable has no masses; to fast motions it is one spring to a wall.
LumpedNetwork PronyMemory::assemble(std::int64_t limit) const {
  if (is_realisable_ || limit == LumpedNetwork::no_limit) return LumpedEnvironment::assemble(limit);
  LumpedNetwork wall;
  wall.mass = {std::numeric_limits<double>::infinity()};
  wall.to_head = {{0, std::accumulate(modes_.begin(), modes_.end(), 0.0,
                                      [](double sum, const PronyTerm& mode) { return sum + mode.k; })}};
  return wall;
}

EnvironmentEnergy PronyMemory::energy(std::span<const double> head) {
  const EnvironmentEnergy parts = LumpedEnvironment::energy(head);
  if (is_realisable_) return parts;
  return {.environment = parts.environment + parts.interaction + parts.dissipated};
}

double PronyMemory::apply_exact_flow(double t, double x, std::span<const double> numbers, Axis& axis) const {
  if (t != time_) cache_step_decays(t);
  double dissipated = 0.0;
  std::size_t mobility = 0, dashpot = sites().mobilities.size();
  for (std::size_t j = 0; j < modes_.size(); ++j) {
    const PronyTerm& mode = modes_[j];
    double& w = axis.w[static_cast<Eigen::Index>(j)];
    double& p = axis.p[static_cast<Eigen::Index>(j)];
    const double q = mode.b / mode.k, im_z = mode.w > 0.0 ? mode.w * p / mode.k : 0.0;
    const std::complex<double> before((x - w) - q * im_z, im_z);
    std::complex<double> after = decays_[j].factor * before;
    if (q != 0.0) {
      dissipated += 0.5 * mode.k * (square_of(before, q) - square_of(after, q));
    } else if (numbers.empty() || mode.r == 0.0) {
      dissipated += 0.5 * mode.k * std::norm(before) * decays_[j].loss;
    } else {
      // The stationary variance of both parts of z is kT/k.
      const double spread = std::sqrt(temperature() / mode.k * decays_[j].loss);
      const double first = numbers[mobility++], second = mode.w > 0.0 ? numbers[dashpot++] : 0.0;
      after += spread * std::complex(first, second);
      dissipated += 0.5 * mode.k * (std::norm(before) - std::norm(after));
    }
    w = x - after.real() - q * after.imag();
    if (mode.w > 0.0) p = mode.k / mode.w * after.imag();
  }
  return dissipated;
}

// With s = Im z the flow is u+ = (Re f + q Im f) u - (1 + q^2) Im f s, s+ = Im f u + (Re f - q Im f) s, f its factor;
// u = x - w and s = w_j p/k_j.
double PronyMemory::apply_transposed_flow(double t, Axis& axis) const {
  if (t != time_) cache_step_decays(t);
  double on_head = 0.0;
  for (std::size_t j = 0; j < modes_.size(); ++j) {
    const PronyTerm& mode = modes_[j];
    double& by_w = axis.p[static_cast<Eigen::Index>(j)];
    double& by_p = axis.w[static_cast<Eigen::Index>(j)];
    const double q = mode.b / mode.k, re = decays_[j].factor.real(), im = decays_[j].factor.imag();
    const double by_u = -by_w, by_s = mode.w > 0.0 ? mode.k / mode.w * by_p : 0.0;
    on_head += by_w;
    by_w = -((re + q * im) * by_u + im * by_s);
    on_head -= by_w;
    if (mode.w > 0.0) by_p = mode.w / mode.k * ((re - q * im) * by_s - (1.0 + q * q) * im * by_u);
  }
  return on_head;
}

std::optional<AnalyticKernel> PronyMemory::analytic_kernel(std::span<const double> times) const {
  AnalyticKernel result;
  for (const double t : times) {
    result.kernel.push_back(kernel_at(modes_, t));
  }
  if (temperature() == 0.0) {
    result.random_force.resize(times.size() * static_cast<std::size_t>(attachment().axes()));
  }
  return result;
}

EnvironmentProperties PronyMemory::describe() const {
  EnvironmentProperties properties = LumpedEnvironment::describe();
  properties.site_name = "mode";
  if (!is_realisable_) properties.damping = resistance_at(modes_, 0.0);
  properties.damping += damping_;
  properties.white_damping = damping_;
  properties.white_temperature = temperature();
  return properties;
}

void PronyMemory::cache_step_decays(double t) const {
  time_ = t;
  decays_.clear();
  for (const PronyTerm& mode : modes_) decays_.push_back({mode.propagator(t), -std::expm1(-2.0 * mode.r * t)});
}

}  // namespace bathline
