// Stars, chains and exponentials with a certificate.
// Tested by tests/command_line/kernels_test.py.
#include "model/kernels/certified_environments.hpp"

#include <fmt/format.h>

#include "model/certified.hpp"
#include "model/line/line.hpp"
#include "model/modes/oscillator_bath.hpp"

namespace bathline {

namespace {

/// Names of the bath and of its parts in messages.
struct Words {
  const char *kind, *parts;
};

Certificate certificate_of(const std::string& name, const GaussRuleBath& bath, const BathOptions& options,
                           const Words& words) {
  Certificate certificate;
  const auto size = static_cast<double>(bath.star.size());
  certificate.sentence = fmt::format(
      "`{}` is a {} of {} {} up to {:.6g} rad/s{}: the relative error of its kernel is {:.1e} over {:.6g} s, of which "
      "{:.1e} was measured on intervals of doubling length, {:.1e} bounds the error of the Gauss rule and {:.1e} the "
      "part at higher frequencies",
      name, words.kind, bath.star.size(), words.parts, bath.highest,
      options.choice.empty() ? "" : ", " + options.choice, bath.error(), options.horizon, bath.measured, bath.bound,
      bath.truncation_error);
  certificate.entries = {
      {words.parts, "1", fmt::format("{} of the {}", words.parts, words.kind), size},
      {"kernel_error", "1", "absolute integral of the error of the kernel until the horizon, over that of the kernel",
       bath.error()},
      {"kernel_norm", "kg/s", "absolute integral of the kernel", bath.norm},
      {"kernel_bound", "1", "bound of the error of the Gauss rule, for any density", bath.bound},
      {"kernel_truncated", "1", "fraction of the kernel above the highest frequency", bath.truncation_error},
      {"horizon", "s", "until when the kernel's error holds", options.horizon},
      {"highest_frequency", "rad/s", "highest frequency of the kernel", bath.highest}};
  return certificate;
}

/// The kernel that is represented, and that of the representation.
struct Kernels {
  std::function<double(double)> exact, approximate;
};

Kernels kernels_of(const std::shared_ptr<const GaussRuleBath>& bath) {
  return {bath->kernel, [bath](double t) { return kernel_at(bath->star, t); }};
}

/// An environment with the kernel that it represents and a certificate.
template <class Base>
class WithCertificate : public Base, public Certified {
 public:
  template <class... Rest>
  WithCertificate(Kernels kernels, Certificate certificate, Rest&&... rest)
      : Base(std::forward<Rest>(rest)...), kernels_(std::move(kernels)), certificate_(std::move(certificate)) {}

  std::optional<Certificate> certificate() const override { return certificate_; }
  std::optional<AnalyticKernel> analytic_kernel(std::span<const double> times) const override {
    AnalyticKernel analytic = Base::analytic_kernel(times).value_or(AnalyticKernel());
    analytic.limit.clear();
    for (const double t : times) analytic.limit.push_back(kernels_.exact(t));
    if (!analytic.kernel.empty()) return analytic;
    for (const double t : times) analytic.kernel.push_back(kernels_.approximate(t));
    return analytic;
  }

 private:
  Kernels kernels_;
  Certificate certificate_;
};

/// A memory of exponentials; `Memory` determines its noise.
template <class Memory>
class ExponentialMemory final : public WithCertificate<Memory> {
 public:
  template <class... Rest>
  ExponentialMemory(double damping, std::function<bool()> has_star, Rest&&... rest)
      : WithCertificate<Memory>(std::forward<Rest>(rest)...), damping_(damping), has_star_(std::move(has_star)) {}

 private:
  EnvironmentProperties describe() const override {
    EnvironmentProperties properties = WithCertificate<Memory>::describe();
    properties.damping = damping_;
    return properties;
  }
  std::optional<std::string> own_unsupported_reason(const Scheme& scheme) const override {
    const std::optional<std::string> reason = WithCertificate<Memory>::own_unsupported_reason(scheme);
    if (!reason || !this->is_classical() || !has_star_()) return reason;
    return *reason + "; give `" + this->name() + "` representation = \"star\", which every method supports";
  }

  double damping_;
  std::function<bool()> has_star_;
};

Certificate certificate_of(const std::string& name, const ExponentialSum& sum, const BathOptions& options) {
  Certificate certificate;
  if (options.is_passive_fit) {
    certificate.sentence = fmt::format(
        "`{}` is {} decaying cosine{}, a passive kernel at a distance of {:.2g} over {:.6g} s from the one given: the "
        "integral of the absolute difference over that of the kernel",
        name, sum.exponentials, sum.exponentials == 1 ? "" : "s", sum.error(), options.horizon);
  } else {
    certificate.sentence = fmt::format(
        "`{}` is {} exponential{}{}: the relative error of its kernel is {:.1e} over {:.6g} s, of which {:.1e} was "
        "measured on intervals of doubling length and {:.1e} bounds the part at higher frequencies; the lowest real "
        "part "
        "of its transform is {:.1e} of the absolute integral of the kernel{}",
        name, sum.exponentials, sum.exponentials == 1 ? "" : "s", options.choice.empty() ? "" : ", " + options.choice,
        sum.error(), options.horizon, sum.measured, sum.truncation_error, sum.lowest,
        sum.damper > 0.0 ? fmt::format(", compensated by an added damper of {:.1e}", sum.damper)
        : sum.lowest < 0.0
            ? ", and no damper within the tolerance compensates it: the kernel is valid until that time only"
            : "");
  }
  certificate.entries = {
      {"exponentials", "1", "complex exponentials of the kernel", static_cast<double>(sum.exponentials)},
      {"kernel_error", "1", "absolute integral of the error of the kernel until the horizon, over that of the kernel",
       sum.error()},
      {"kernel_norm", "kg/s", "absolute integral of the kernel", sum.norm},
      {"kernel_truncated", "1", "fraction of the kernel above the highest frequency", sum.truncation_error},
      {"horizon", "s", "until when the kernel's error holds", options.horizon},
      {"passivity", "1",
       "lowest real part of the transform, over the absolute integral of the kernel; 0 if none is negative",
       sum.lowest},
      {"damper", "1", "added damper that makes none negative, over the absolute integral of the kernel", sum.damper}};
  if (options.noise) {
    certificate.sentence +=
        fmt::format("; the error of the spectrum of its noise is {:.1e} of the largest value", options.noise->error());
    certificate.entries.push_back({"noise_error", "1",
                                   "largest error of the spectrum of the noise, over the largest value",
                                   options.noise->error()});
  }
  certificate.part = "mode";
  certificate.parts = {{"stiffness", "N/m", "coefficient of the cosine of every term", {}},
                       {"sine", "N/m", "coefficient of the sine of every term", {}},
                       {"rate", "1/s", "decay rate of every term", {}},
                       {"frequency", "rad/s", "frequency of every term", {}}};
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
                       {"stiffness", "N/m", "stiffness of the spring between head and every oscillator", {}}};
  for (const auto& [frequency, stiffness] : bath->star) {
    certificate.parts[0].values.push_back(frequency);
    certificate.parts[1].values.push_back(stiffness);
  }
  return std::make_unique<WithCertificate<OscillatorBath>>(kernels_of(bath), std::move(certificate), std::move(name),
                                                           std::move(attachment), std::move(spectrum),
                                                           options.temperature, communicator);
}

std::unique_ptr<Environment> make_chain(std::string name, Attachment attachment,
                                        std::shared_ptr<const GaussRuleBath> bath, const BathOptions& options,
                                        const Communicator& communicator) {
  LineConstants constants;
  constants.far_end = FarEnd::free;
  LineOptions line{.temperature = options.temperature};
  line.table = {bath, &bath->chain};
  line.represented = {bath->damping, options.horizon};
  Certificate certificate = certificate_of(name, *bath, options, {"chain", "sites"});
  certificate.parts = {{"mass", "kg", "mass of every site", {}},
                       {"stiffness", "N/m", "stiffness of the spring before every site", {}}};
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
    return std::make_unique<ExponentialMemory<PronyMemory>>(
        sum->damping, options.has_star, kernels, std::move(certificate), std::move(name), std::move(attachment),
        sum->modes, options.temperature, communicator);
  }
  return std::make_unique<ExponentialMemory<ColouredNoiseMemory>>(
      sum->damping, options.has_star, kernels, std::move(certificate), std::move(name), std::move(attachment),
      sum->modes, options.noise, communicator);
}

}  // namespace bathline
