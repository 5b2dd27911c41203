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
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "model/environment_catalogue.hpp"
#include "model/lumped.hpp"
#include "model/quantum_noise.hpp"
#include "model/spectral/recipe.hpp"

namespace bathline {

namespace {

struct Mode {
  double k, r, w;
  /// What a time of t makes of z = 1 with the head held.
  std::complex<double> grown(double t) const { return std::exp(t * std::complex(-r, w)); }
};

Assembly assembly_of(const std::vector<Mode>& modes) {
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

class Memory : public LumpedEnvironment {
 public:
  Memory(std::string name, Attachment attachment, std::vector<Mode> modes, double temperature,
         const Communicator& communicator)
      : LumpedEnvironment(std::move(name), std::move(attachment), assembly_of(modes), communicator, {}, temperature),
        modes_(std::move(modes)) {}

  bool relaxes_wholly() const override { return facts().loses_energy; }
  double relax(double t, double x, std::span<const double> numbers, Axis& axis) const override {
    if (t != time_) remember_decays(t);
    double lost = 0.0;
    std::size_t slip = 0, dashpot = sites().slips.size();
    for (std::size_t j = 0; j < modes_.size(); ++j) {
      const Mode& mode = modes_[j];
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

  /// A cold memory starts at rest, where it exerts no force on a head that is held.
  std::optional<MemoryFormulas> formulas(std::span<const double> times) const override {
    MemoryFormulas formulas;
    for (const double t : times) {
      double sum = 0.0;
      for (const Mode& mode : modes_) sum += mode.k * mode.grown(t).real();
      formulas.kernel.push_back(sum);
    }
    if (temperature() == 0.0) {
      formulas.random_force.resize(times.size() * static_cast<std::size_t>(attachment().axes()));
    }
    return formulas;
  }

 protected:
  EnvironmentFacts describe() const override {
    EnvironmentFacts facts = LumpedEnvironment::describe();
    facts.site_name = "mode";
    return facts;
  }

 private:
  /// What a time makes of z, and the part of its square that is lost.
  struct Decay {
    std::complex<double> factor;
    double loss;
  };
  void remember_decays(double t) const {
    time_ = t;
    decays_.clear();
    for (const Mode& mode : modes_) decays_.push_back({mode.grown(t), -std::expm1(-2.0 * mode.r * t)});
  }

  std::vector<Mode> modes_;
  // Those of the time that was asked for last: a run asks for one.
  mutable double time_ = -1.0;
  mutable std::vector<Decay> decays_;
};

/// Modes at rest, and the force of a quantum bath on their head: what they dissipate and what it brings balance.
class QuantumMemory final : public Memory {
 public:
  QuantumMemory(std::string name, Attachment attachment, const std::vector<Mode>& modes, double temperature,
                double hbar, const Communicator& communicator)
      : Memory(std::move(name), std::move(attachment), modes, 0.0, communicator),
        spectrum_(quantum_spectrum([modes](double w) { return friction_of(modes, w); }, temperature, hbar)),
        kt_(temperature) {}

  void prepare(const RandomKey& key) override {
    Memory::prepare(key);
    state_.numbers.begin({key.seed, key.realisation, first_stream + key.stream});
    state_.steps = 0.0;
    state_.dissipated.assign(axes().size(), 0.0);
  }
  std::vector<StateField> fields() override {
    std::vector<StateField> fields = Memory::fields();
    const bool is_here = communicator().is_root();
    fields.push_back({"steps", 0, 0, 1, {&state_.steps, is_here ? 1u : 0u}});
    double* const heat = state_.dissipated.data();
    for (int axis = 0; axis < attachment().axes(); ++axis) {
      fields.push_back({"heat", axis, 0, 1, {is_here ? heat + axis : nullptr, is_here ? 1u : 0u}});
    }
    return fields;
  }
  EnvironmentEnergy energy(std::span<const double> head) override {
    EnvironmentEnergy energy = Memory::energy(head);
    double heat = 0.0;
    for (const double of_axis : state_.dissipated) heat += of_axis;
    communicator().broadcast(std::span<double>(&heat, 1));
    energy.dissipated += heat;
    return energy;
  }
  std::unique_ptr<ImplicitMarch> implicit_march(const CollocationScheme& scheme, double h) override {
    return with_quantum_noise(Memory::implicit_march(scheme, h), QuantumNoise(spectrum_, h), h, state_);
  }

  /// Re g(i w) with g the transform of the kernel.
  static double friction_of(const std::vector<Mode>& modes, double w) {
    double sum = 0.0;
    for (const auto& [k, r, frequency] : modes) {
      const double below = w - frequency, above = w + frequency;
      sum += 0.5 * k * r * (1.0 / (r * r + below * below) + 1.0 / (r * r + above * above));
    }
    return sum;
  }

 private:
  /// Behind the streams of other noise.
  static constexpr std::uint32_t first_stream = 0xC0000000U;

  EnvironmentFacts describe() const override {
    EnvironmentFacts facts = Memory::describe();
    facts.temperature = kt_;
    return facts;
  }
  std::optional<std::string> own_obstacle(const Scheme& scheme) const override {
    const auto* stages = std::get_if<CollocationScheme>(&scheme);
    const bool is_midpoint =
        stages != nullptr && stages->stages() == 1 && stages->a == stages->a_hat && stages->a(0, 0) == 0.5;
    if (is_midpoint) return Memory::own_obstacle(scheme);
    return "and the quantum noise of `" + name() + "` is known for the midpoint rule alone; take `gamma` with 0.5";
  }

  std::function<double(double)> spectrum_;
  double kt_;
  QuantumState state_;
};

bool is_quantum(const Section& section) { return section.has("quantum") && section.boolean("quantum"); }

bool is_noisy_memory(const Section& section) {
  if (!section.has("rate")) return false;
  const std::vector<double>& rates = section.numbers("rate");
  return (section.number("temperature") > 0.0 || is_quantum(section)) &&
         std::any_of(rates.begin(), rates.end(), [](double r) { return r > 0.0; });
}

std::string why_not_white(const Section& section) {
  if (!is_quantum(section)) return "";
  return "has quantum noise, and that of a damper alone is infinite: run it closed, or leave `quantum` out";
}

std::unique_ptr<Environment> build_memory(const Section& section, const OpenSystem& system, const RunTimes& run,
                                          const Communicator& communicator, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  const std::vector<std::string> others = kernel_keys(section);
  const bool has_modes = section.has("stiffness") || section.has("rate") || section.has("frequency");
  const bool has_kernel = std::any_of(others.begin(), others.end(), [](const std::string& key) {
    return key.starts_with("kernel") || key.starts_with("spectral_density");
  });
  if (has_modes && !others.empty()) {
    mistakes.add(
        section.where(others.front()),
        fmt::format("`{}` has no meaning beside `stiffness`, `rate` and `frequency`; leave one or the others out",
                    others.front()));
    return nullptr;
  }
  if (has_kernel && is_quantum(section)) {
    mistakes.add(section.where("quantum"),
                 "quantum noise is known of modes alone: state `stiffness`, `rate` and "
                 "`frequency`, or leave `quantum` out");
    return nullptr;
  }
  if (has_kernel) return build_from_kernel(section, system, run, communicator, mistakes);
  for (const char* key : {"stiffness", "rate", "frequency"}) {
    if (section.has(key)) continue;
    mistakes.add(section.where("kind"), fmt::format("the memory's kernel is missing: give `stiffness`, `rate` and "
                                                    "`frequency` of its modes, or one of `kernel`, `kernel_file`, "
                                                    "`spectral_density` and `spectral_density_file`"));
    return nullptr;
  }
  const auto &k = section.numbers("stiffness"), &r = section.numbers("rate"), &w = section.numbers("frequency");
  if (k.empty() || r.size() != k.size() || w.size() != k.size()) {
    mistakes.add(section.where("stiffness"),
                 fmt::format("a mode needs a stiffness, a rate and a frequency, but there are {}, {} and {}; give as "
                             "many of each, at least one",
                             k.size(), r.size(), w.size()));
  }
  if (is_quantum(section) && std::find(r.begin(), r.end(), 0.0) != r.end()) {
    mistakes.add(section.where("rate"),
                 "a mode without `rate` gives no heat back: quantum noise is of modes that decay");
  }
  std::optional<Attachment> attachment = attachment_to_particle(section, system, mistakes);
  if (mistakes.count() > before) return nullptr;
  std::vector<Mode> modes;
  for (std::size_t j = 0; j < k.size(); ++j) modes.push_back({k[j], r[j], w[j]});
  if (is_quantum(section)) {
    return std::make_unique<QuantumMemory>(section.text("name"), std::move(*attachment), modes,
                                           section.number("temperature"), section.number("hbar"), communicator);
  }
  return std::make_unique<Memory>(section.text("name"), std::move(*attachment), std::move(modes),
                                  section.number("temperature"), communicator);
}

Parameter of_modes(const char* name, const char* units, const char* doc, Bound bound) {
  return {.name = name, .type = ValueType::numbers, .units = units, .doc = doc, .bound = bound};
}

}  // namespace

EnvironmentKind memory_environment_kind() {
  std::vector<Parameter> parameters = {
      attach_parameter("particle that remembers, from 0"),
      of_modes("stiffness", "N/m", "of every mode, what it adds to gamma(0)", Bound::positive),
      of_modes("rate", "1/s", "at which every mode dies down", Bound::nonnegative),
      of_modes("frequency", "rad/s", "of every mode", Bound::nonnegative)};
  for (Parameter& parameter : kernel_parameters()) parameters.push_back(std::move(parameter));
  parameters.push_back(
      {.name = "temperature",
       .units = "J",
       .doc = "kT of the start, and of the noise that belongs to modes; only 0 for chains, which start cold",
       .fallback = "0.0",
       .bound = Bound::nonnegative});
  parameters.push_back({.name = "quantum",
                        .type = ValueType::boolean,
                        .doc = "whether the noise of modes is that of a quantum bath, whose force has the spectrum "
                               "2 Re g(i w) (hbar w/2) coth(hbar w/(2 kT))",
                        .fallback = "false"});
  parameters.push_back({.name = "hbar",
                        .units = "J s",
                        .doc = "Planck's constant over 2 pi in the units of the recipe",
                        .fallback = "1.054571817e-34",
                        .bound = Bound::positive});
  return {
      {.name = "memory",
       .summary = "memory kernel around one particle: modes, a formula, a table or a spectral density",
       .equation = "m q_a'' + V'(q_a) + integral_0^t gamma(t-s) q_a'(s) ds = 0\n"
                   "gamma(t) = sum_j stiffness_j exp(-rate_j t) cos(frequency_j t),  or kernel,\n"
                   "or (2/pi) integral_0^inf J(w)/w cos(w t) dw,  J = spectral_density",
       .source = "farshi2018, section 4.3, eq. (36); gragg1984 for chains",
       .parameters = std::move(parameters),
       .notes =
           "Modes stand for the damper D = sum_j stiffness_j rate_j / (rate_j^2 + frequency_j^2), which a mode with "
           "neither rate nor frequency has none of. Where modes decay, splittings take their own motion exactly, "
           "in half steps around those of the particles: of order 2 at most, so compositions with steps backwards "
           "are refused, and so is `lobatto` with more than two stages. What the modes have dissipated stands in "
           "the ledger. With a temperature every mode has noise and starts from its Gibbs distribution: the force on a "
           "particle that is held has the autocorrelation kT gamma(t). On linear systems `gamma` with 0.5 and `gauss` "
           "then have the Gibbs distribution at any step, stoermer-verlet its positions, and `gamma` with 0 and 1 "
           "those of half a drift further or earlier. "
           "With `quantum` particles have the variances of quantum mechanics on linear systems, under the midpoint "
           "rule "
           "at any step; elsewhere this is the quasi-classical Langevin equation, which is no quantum mechanics of "
           "anharmonic motions. "
           "A kernel or a density becomes a bath without losses: the Gauss rule of some w_max T/4 frequencies, w_max "
           "the highest that counts and T = until, which is a star, or by the algorithm of Gragg and Harrod the "
           "line of unequal sites with the same kernel. Both are environments like any other, and the group "
           "certificate of a result says how good they are; they stand for the damper D = J(w)/w at w = 0. Until T "
           "nothing comes back; later it does. Peaks of a density much sharper than 1/T may be overlooked: they are "
           "oscillators of a `heat-bath`. The kernel is that of continuous time, which the steps of "
           "`stoermer-verlet`, `gamma` and `gauss` keep."},
      build_memory,
      is_noisy_memory,
      why_not_white};
}

}  // namespace bathline
