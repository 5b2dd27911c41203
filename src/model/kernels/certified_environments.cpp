// Stars and chains with a certificate.
// Tested by tests/command_line/kernels_test.py.
#include "model/kernels/certified_environments.hpp"

#include <fmt/format.h>

#include "model/certified.hpp"
#include "model/line/line.hpp"
#include "model/oscillator_bath/oscillator_bath.hpp"

namespace bathline {

namespace {

constexpr int steps_per_pass = 32;

/// What such a bath is called, one and many.
struct Words {
  const char *kind, *parts;
};

Certificate certificate_of(const std::string& name, const GaussRuleBath& bath, const BathOptions& options,
                           const Words& words) {
  Certificate certificate;
  const auto size = static_cast<double>(bath.star.size());
  certificate.sentence = fmt::format(
      "`{}` is a {} of {} {} up to {:.6g} rad/s{}: its kernel is right to {:.1e} of its absolute integral over {:.6g} "
      "s, of which {:.1e} was measured against the kernel itself on times that double, {:.1e} bounds what the Gauss "
      "rule leaves out and {:.1e} what lies at higher frequencies",
      name, words.kind, bath.star.size(), words.parts, bath.highest,
      options.choice.empty() ? "" : ", " + options.choice, bath.error(), options.horizon, bath.measured, bath.bound,
      bath.truncation_error);
  certificate.entries = {
      {words.parts, "1", fmt::format("{} of the {}", words.parts, words.kind), size},
      {"kernel_error", "1", "absolute integral of the kernel's errors until the horizon, over that of the kernel",
       bath.error()},
      {"kernel_norm", "kg/s", "absolute integral of the kernel", bath.norm},
      {"kernel_bound", "1", "bound on what the Gauss rule leaves out of the kernel, for any density", bath.bound},
      {"kernel_truncated", "1", "share of the kernel that lies above the highest frequency", bath.truncation_error},
      {"horizon", "s", "until when the kernel's error holds", options.horizon},
      {"highest_frequency", "rad/s", "highest frequency that is left", bath.highest}};
  return certificate;
}

/// The kernel that something stands for, and the one that it has.
struct Kernels {
  std::function<double(double)> exact, found;
};

Kernels kernels_of(const std::shared_ptr<const GaussRuleBath>& bath) {
  return {bath->kernel, [bath](double t) { return kernel_at(bath->star, t); }};
}

/// An environment like any other, which knows the kernel that it stands for.
template <class Base>
class WithCertificate : public Base, public Certified {
 public:
  template <class... Rest>
  WithCertificate(Kernels kernels, Certificate certificate, Rest&&... rest)
      : Base(std::forward<Rest>(rest)...), kernels_(std::move(kernels)), certificate_(std::move(certificate)) {}

  std::optional<Certificate> certificate() const override { return certificate_; }
  std::optional<AnalyticKernel> analytic_kernel(std::span<const double> times) const override {
    AnalyticKernel formulas = Base::analytic_kernel(times).value_or(AnalyticKernel());
    formulas.limit.clear();
    for (const double t : times) formulas.limit.push_back(kernels_.exact(t));
    if (!formulas.kernel.empty()) return formulas;
    for (const double t : times) formulas.kernel.push_back(kernels_.found(t));
    return formulas;
  }

 private:
  Kernels kernels_;
  Certificate certificate_;
};

/// A memory of exponentials, `Memory` with the noise that it has.
template <class Memory>
class ExponentialMemory final : public WithCertificate<Memory> {
 public:
  template <class... Rest>
  explicit ExponentialMemory(double damping, Rest&&... rest)
      : WithCertificate<Memory>(std::forward<Rest>(rest)...), damping_(damping) {}

 private:
  EnvironmentProperties describe() const override {
    EnvironmentProperties properties = WithCertificate<Memory>::describe();
    properties.damping = damping_;
    return properties;
  }
  std::optional<std::string> own_unsupported_reason(const Scheme& scheme) const override {
    const std::optional<std::string> why = WithCertificate<Memory>::own_unsupported_reason(scheme);
    if (!why || !this->is_classical()) return why;
    return *why + "; or give `" + this->name() + "` representation = \"star\"";
  }

  double damping_;
};

Certificate certificate_of(const std::string& name, const ExponentialSum& sum, const BathOptions& options) {
  Certificate certificate;
  certificate.sentence = fmt::format(
      "`{}` is {} exponential{}{}: its kernel is right to {:.1e} of its absolute integral over {:.6g} s, of which "
      "{:.1e} was measured against the kernel itself on times that double and {:.1e} lies at higher frequencies; the "
      "lowest real part of its transform is {:.1e} of that integral{}",
      name, sum.exponentials, sum.exponentials == 1 ? "" : "s", options.choice.empty() ? "" : ", " + options.choice,
      sum.error(), options.horizon, sum.measured, sum.truncation_error, sum.lowest,
      sum.damper > 0.0   ? fmt::format(", which a damper of {:.1e} mends", sum.damper)
      : sum.lowest < 0.0 ? ", which no damper within the tolerance mends: it is for that time alone"
                         : "");
  certificate.entries = {
      {"exponentials", "1", "complex exponentials of the kernel", static_cast<double>(sum.exponentials)},
      {"kernel_error", "1", "absolute integral of the kernel's errors until the horizon, over that of the kernel",
       sum.error()},
      {"kernel_norm", "kg/s", "absolute integral of the kernel", sum.norm},
      {"kernel_truncated", "1", "share of the kernel that lies above the highest frequency", sum.truncation_error},
      {"horizon", "s", "until when the kernel's error holds", options.horizon},
      {"passivity", "1",
       "lowest real part of the transform, over the kernel's absolute integral; 0 where none "
       "is below 0",
       sum.lowest},
      {"damper", "1", "damper that was added to have none below 0, over the kernel's absolute integral", sum.damper}};
  if (options.noise) {
    certificate.sentence +=
        fmt::format("; the spectrum of its noise is right to {:.1e} of its largest value", options.noise->error());
    certificate.entries.push_back(
        {"noise_error", "1", "largest error of the noise's spectrum, over its largest value", options.noise->error()});
  }
  certificate.part = "mode";
  certificate.parts = {{"stiffness", "N/m", "of the cosine of every mode", {}},
                       {"sine", "N/m", "of the sine of every mode", {}},
                       {"rate", "1/s", "at which every mode dies down", {}},
                       {"frequency", "rad/s", "of every mode", {}}};
  for (const PronyTerm& mode : sum.modes) {
    const double values[] = {mode.k, mode.b, mode.r, mode.w};
    for (std::size_t i = 0; i < certificate.parts.size(); ++i) certificate.parts[i].values.push_back(values[i]);
  }
  return certificate;
}

}  // namespace

std::unique_ptr<Environment> make_star(std::string name, Attachment attachment,
                                       std::shared_ptr<const GaussRuleBath> bath, const BathOptions& options,
                                       const Communicator& communicator) {
  DiscreteSpectrum spectrum = table_spectrum(bath->star);
  spectrum.damping = bath->damping;
  spectrum.recurrence = options.horizon;
  Certificate certificate = certificate_of(name, *bath, options, {"star", "oscillators"});
  certificate.part = "oscillator";
  certificate.parts = {{"frequency", "rad/s", "frequency of every oscillator", {}},
                       {"stiffness", "N/m", "of the spring of every oscillator to the head", {}}};
  for (const auto& [frequency, stiffness] : bath->star) {
    certificate.parts[0].values.push_back(frequency);
    certificate.parts[1].values.push_back(stiffness);
  }
  return std::make_unique<WithCertificate<OscillatorBath>>(kernels_of(bath), std::move(certificate), std::move(name),
                                                           std::move(attachment), std::move(spectrum),
                                                           options.temperature, steps_per_pass, communicator);
}

std::unique_ptr<Environment> make_chain(std::string name, Attachment attachment,
                                        std::shared_ptr<const GaussRuleBath> bath, const BathOptions& options,
                                        const Communicator& communicator) {
  LineConstants constants;
  constants.far_end = FarEnd::free;
  LineOptions line{.temperature = options.temperature};
  line.site = [bath](std::int64_t j) { return bath->chain[static_cast<std::size_t>(j)]; };
  line.represented = {bath->damping, options.horizon};
  Certificate certificate = certificate_of(name, *bath, options, {"chain", "sites"});
  certificate.parts = {{"mass", "kg", "of every site", {}},
                       {"stiffness", "N/m", "of the spring before every site", {}}};
  for (const auto& [mass, stiffness] : bath->chain) {
    certificate.parts[0].values.push_back(mass);
    certificate.parts[1].values.push_back(stiffness);
  }
  const auto sites = static_cast<std::int64_t>(bath->chain.size());
  return std::make_unique<WithCertificate<Line>>(kernels_of(bath), std::move(certificate), std::move(name),
                                                 std::move(attachment), constants, sites, communicator,
                                                 std::move(line));
}

std::unique_ptr<Environment> make_exponential_memory(std::string name, Attachment attachment,
                                                     const std::shared_ptr<const ExponentialSum>& sum,
                                                     const BathOptions& options, const Communicator& communicator) {
  Certificate certificate = certificate_of(name, *sum, options);
  const Kernels kernels{sum->kernel, {}};
  if (options.noise == nullptr) {
    return std::make_unique<ExponentialMemory<PronyMemory>>(sum->damping, kernels, std::move(certificate),
                                                            std::move(name), std::move(attachment), sum->modes,
                                                            options.temperature, communicator);
  }
  return std::make_unique<ExponentialMemory<ColouredNoiseMemory>>(sum->damping, kernels, std::move(certificate),
                                                                  std::move(name), std::move(attachment), sum->modes,
                                                                  options.noise, communicator);
}

}  // namespace bathline
