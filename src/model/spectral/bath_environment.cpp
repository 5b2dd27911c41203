// Stars and chains with a certificate.
// Tested by tests/command_line/kernels_test.py.
#include "model/spectral/bath_environment.hpp"

#include <fmt/format.h>

#include "model/certified.hpp"
#include "model/line/line.hpp"
#include "model/star/star.hpp"

namespace bathline {

namespace {

constexpr int steps_per_pass = 32;

/// What such a bath is called, one and many.
struct Words {
  const char *kind, *parts;
};

Certificate certificate_of(const std::string& name, const Bath& bath, const BathOptions& options, const Words& words) {
  Certificate certificate;
  const auto size = static_cast<double>(bath.star.size());
  certificate.sentence = fmt::format(
      "`{}` is a {} of {} {} up to {:.6g} rad/s{}: its kernel is right to {:.1e} of its absolute integral over {:.6g} "
      "s, of which {:.1e} was measured against the kernel itself on times that double, {:.1e} bounds what the Gauss "
      "rule leaves out and {:.1e} what lies at higher frequencies",
      name, words.kind, bath.star.size(), words.parts, bath.highest,
      options.choice.empty() ? "" : ", " + options.choice, bath.error(), options.until, bath.measured, bath.bound,
      bath.lost);
  certificate.entries = {
      {words.parts, "1", fmt::format("{} of the {}", words.parts, words.kind), size},
      {"kernel_error", "1", "absolute integral of the kernel's errors until the horizon, over that of the kernel",
       bath.error()},
      {"kernel_norm", "kg/s", "absolute integral of the kernel", bath.norm},
      {"kernel_bound", "1", "bound on what the Gauss rule leaves out of the kernel, for any density", bath.bound},
      {"kernel_lost", "1", "share of the kernel that lies above the highest frequency", bath.lost},
      {"horizon", "s", "until when the kernel's error holds", options.until},
      {"highest_frequency", "rad/s", "highest frequency that is left", bath.highest}};
  return certificate;
}

/// An environment like any other, which knows the kernel that it stands for.
template <class Base>
class Substitute final : public Base, public Certified {
 public:
  template <class... Rest>
  Substitute(std::shared_ptr<const Bath> bath, Certificate certificate, Rest&&... rest)
      : Base(std::forward<Rest>(rest)...), bath_(std::move(bath)), certificate_(std::move(certificate)) {}

  std::optional<Certificate> certificate() const override { return certificate_; }
  std::optional<MemoryFormulas> formulas(std::span<const double> times) const override {
    MemoryFormulas formulas = Base::formulas(times).value_or(MemoryFormulas());
    formulas.limit.clear();
    for (const double t : times) formulas.limit.push_back(bath_->kernel(t));
    if (!formulas.kernel.empty()) return formulas;
    for (const double t : times) formulas.kernel.push_back(kernel_at(bath_->star, t));
    return formulas;
  }

 private:
  std::shared_ptr<const Bath> bath_;
  Certificate certificate_;
};

}  // namespace

std::unique_ptr<Environment> make_star(std::string name, Attachment attachment, std::shared_ptr<const Bath> bath,
                                       const BathOptions& options, const Communicator& communicator) {
  Spectrum spectrum = table_spectrum(bath->star);
  spectrum.damping = bath->damping;
  spectrum.recurrence = options.until;
  Certificate certificate = certificate_of(name, *bath, options, {"star", "oscillators"});
  certificate.part = "oscillator";
  certificate.parts = {{"frequency", "rad/s", "frequency of every oscillator", {}},
                       {"stiffness", "N/m", "of the spring of every oscillator to the head", {}}};
  for (const auto& [frequency, stiffness] : bath->star) {
    certificate.parts[0].values.push_back(frequency);
    certificate.parts[1].values.push_back(stiffness);
  }
  return std::make_unique<Substitute<Star>>(std::move(bath), std::move(certificate), std::move(name),
                                            std::move(attachment), std::move(spectrum), options.temperature,
                                            steps_per_pass, communicator);
}

std::unique_ptr<Environment> make_chain(std::string name, Attachment attachment, std::shared_ptr<const Bath> bath,
                                        const BathOptions& options, const Communicator& communicator) {
  LineConstants constants;
  constants.far_end = FarEnd::free;
  LineOptions line;
  line.site = [bath](std::int64_t j) { return bath->chain[static_cast<std::size_t>(j)]; };
  line.substitute = {bath->damping, options.until};
  Certificate certificate = certificate_of(name, *bath, options, {"chain", "sites"});
  certificate.parts = {{"mass", "kg", "of every site", {}},
                       {"stiffness", "N/m", "of the spring before every site", {}}};
  for (const auto& [mass, stiffness] : bath->chain) {
    certificate.parts[0].values.push_back(mass);
    certificate.parts[1].values.push_back(stiffness);
  }
  const auto sites = static_cast<std::int64_t>(bath->chain.size());
  return std::make_unique<Substitute<Line>>(std::move(bath), std::move(certificate), std::move(name),
                                            std::move(attachment), constants, sites, communicator, std::move(line));
}

}  // namespace bathline
