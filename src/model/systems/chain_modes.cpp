// Energies of the normal modes of a chain by fast Fourier transforms.
//
// All three kinds of modes are those of a ring: a chain with fixed ends moves as a ring of 2(n+1) particles that is odd
// about both ends, one with free ends as a ring of 2n particles that is even. The discrete Fourier transform of such a
// ring has the magnitudes of the sine and cosine transforms of the chain, up to the factors below.
#include "model/systems/chain_modes.hpp"

#include <unsupported/Eigen/FFT>

#include <cmath>
#include <complex>
#include <memory>

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

class ChainModes {
 public:
  ChainModes(Index particles, ChainEnds ends, double mass, double stiffness)
      : ends_(ends),
        first_(ends == ChainEnds::fixed ? 1 : 0),
        ring_(VectorXd::Zero(ends == ChainEnds::fixed  ? 2 * (particles + 1)
                             : ends == ChainEnds::free ? 2 * particles
                                                       : particles)),
        kinetic_(ends == ChainEnds::ring ? particles / 2 + 1 : particles),
        elastic_(kinetic_.size()) {
    const auto length = static_cast<double>(ring_.size());
    for (Index i = 0; i < kinetic_.size(); ++i) {
      const Index k = i + first_;
      // The wave numbers k and -k have the same energy; k = 0 and the shortest wave are their own partners.
      const bool is_twice = k != 0 && 2 * k != ring_.size();
      // A chain has half the energy of the ring that continues it.
      const double weight = (is_twice ? 2.0 : 1.0) * (ends == ChainEnds::ring ? 1.0 : 0.5) / length;
      const double sine = std::sin(M_PI * static_cast<double>(k) / length);
      kinetic_[i] = 0.5 * mass * weight;
      elastic_[i] = 2.0 * stiffness * sine * sine * weight;
    }
  }

  int first() const { return static_cast<int>(first_); }
  Index size() const { return kinetic_.size(); }

  VectorXd energies(const VectorXd& q, const VectorXd& v) {
    return kinetic_.cwiseProduct(squares(v)) + elastic_.cwiseProduct(squares(q));
  }

 private:
  /// |F_k|^2 of the ring that continues the chain.
  VectorXd squares(const VectorXd& chain) {
    const Index n = chain.size();
    switch (ends_) {
      case ChainEnds::fixed:
        ring_.segment(1, n) = chain;
        ring_.tail(n) = -chain.reverse();
        break;
      case ChainEnds::free:
        ring_ << chain, chain.reverse();
        break;
      case ChainEnds::ring:
        ring_ = chain;
        break;
    }
    transform_.fwd(spectrum_, ring_);
    return spectrum_.segment(first_, size()).cwiseAbs2();
  }

  ChainEnds ends_;
  Index first_;
  VectorXd ring_;
  VectorXd kinetic_, elastic_;  // energy per |F_k|^2 of velocities and positions
  Eigen::FFT<double> transform_;
  Eigen::VectorXcd spectrum_;
};

}  // namespace

Observable mode_energies(int particles, ChainEnds ends, double mass, double stiffness) {
  const auto modes = std::make_shared<ChainModes>(particles, ends, mass, stiffness);
  return {.name = "mode_energy",
          .units = "J",
          .long_name = "energy of the normal modes of the harmonic chain",
          .size = static_cast<int>(modes->size()),
          .value = [modes](const VectorXd& q, const VectorXd& v, double) { return modes->energies(q, v); },
          .integrand = {},
          .dimension = "mode",
          .first = modes->first()};
}

}  // namespace bathline
