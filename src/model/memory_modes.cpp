// A memory: an environment that is nothing but a kernel of decaying oscillations, a few numbers on rank 0.
//
//   gamma(t) = sum_j k_j exp(-r_j t) cos(w_j t),   force on the head -integral gamma(t - s) x'(s) ds = -sum_j k_j Re
//   z_j z_j' = (-r_j + i w_j) z_j + x',   energy k_j |z_j|^2 / 2, of which r_j k_j |z_j|^2 is lost per time
//
// Mode j is a spring k_j in series with a dashpot k_j/r_j on a mass m_j = k_j/w_j^2 with a dashpot r_j m_j to the
// ground. The state is where the spring ends and how the mass moves, w_j = x - Re z_j and p_j = k_j/w_j Im z_j, so that
// w_j' = p_j/m_j + r_j (x - w_j), p_j' = k_j (x - w_j) - r_j p_j. Where anything decays, splittings take the modes' own
// motion exactly, in half steps before and after the particles' step; else the modes are oscillators like any others.
//
// At a temperature every mode has noise of its own, z_j' = (-r_j + i w_j) z_j + x' + (2 kT r_j/k_j)^(1/2) (white noise,
// one for each part), and starts from its Gibbs distribution: the force on a head that is held has the autocorrelation
// kT gamma(t). That is the noise of dashpot and slip.
// Source: farshi2018, eq. (36) for the kernel; the modes are ours.
// Tested by tests/model/memory_test.cpp.
#include "model/memory_modes.hpp"

#include <cmath>

namespace bathline {

namespace {

Assembly assembly_of(const std::vector<MemoryMode>& modes) {
  Assembly assembly;
  for (const auto& [k, r, w] : modes) {
    const int site = static_cast<int>(assembly.mass.size());
    const double mass = k / (w * w);
    assembly.mass.push_back(mass);
    assembly.to_head.emplace_back(site, k);
    if (r > 0.0) assembly.slips.emplace_back(site, r / k);
    if (r > 0.0 && std::isfinite(mass)) assembly.dashpots.emplace_back(site, r * mass);
  }
  return assembly;
}

}  // namespace

MemoryOfModes::MemoryOfModes(std::string name, Attachment attachment, std::vector<MemoryMode> modes, double temperature,
                             const Communicator& communicator)
    : LumpedEnvironment(std::move(name), std::move(attachment), assembly_of(modes), communicator, {}, temperature),
      modes_(std::move(modes)) {}

double MemoryOfModes::relax(double t, double x, std::span<const double> numbers, Axis& axis) const {
  if (t != time_) remember_decays(t);
  double lost = 0.0;
  std::size_t slip = 0, dashpot = sites().slips.size();
  for (std::size_t j = 0; j < modes_.size(); ++j) {
    const MemoryMode& mode = modes_[j];
    double& w = axis.w[static_cast<Eigen::Index>(j)];
    double& p = axis.p[static_cast<Eigen::Index>(j)];
    const std::complex<double> before(x - w, mode.w * p / mode.k);
    std::complex<double> after = decays_[j].factor * before;
    if (numbers.empty() || mode.r == 0.0) {
      lost += 0.5 * mode.k * std::norm(before) * decays_[j].loss;
    } else {
      // Both parts of z have the variance kT/k in the long run.
      const double spread = std::sqrt(temperature() / mode.k * decays_[j].loss);
      const double first = numbers[slip++], second = mode.w > 0.0 ? numbers[dashpot++] : 0.0;
      after += spread * std::complex(first, second);
      lost += 0.5 * mode.k * (std::norm(before) - std::norm(after));
    }
    w = x - after.real();
    if (mode.w > 0.0) p = mode.k / mode.w * after.imag();
  }
  return lost;
}

std::optional<MemoryFormulas> MemoryOfModes::formulas(std::span<const double> times) const {
  MemoryFormulas formulas;
  for (const double t : times) {
    double sum = 0.0;
    for (const MemoryMode& mode : modes_) sum += mode.k * mode.grown(t).real();
    formulas.kernel.push_back(sum);
  }
  if (temperature() == 0.0) {
    formulas.random_force.resize(times.size() * static_cast<std::size_t>(attachment().axes()));
  }
  return formulas;
}

EnvironmentFacts MemoryOfModes::describe() const {
  EnvironmentFacts facts = LumpedEnvironment::describe();
  facts.site_name = "mode";
  return facts;
}

void MemoryOfModes::remember_decays(double t) const {
  time_ = t;
  decays_.clear();
  for (const MemoryMode& mode : modes_) decays_.push_back({mode.grown(t), -std::expm1(-2.0 * mode.r * t)});
}

}  // namespace bathline
