// The memory of the half-infinite line as a composition sees it, which kicks several times a step: a matrix over steps.
//
//   F_i^k = -lambda sum_{n >= 0} sum_j K_ij(n) D_j^{k-n},   i a kick of a step, D_j how far the head moves in drift j
//
// The springs' lengths are a half-infinite line with a free end, of modes y'' = -E y, 0 < E < 4 Omega^2. A drift of the
// head shortens all of them by D_j, and kick i feels their sum: with A the matrix of a step, B_i that from its begin to
// the length at kick i, and C_j what a shortening in drift j is at its end, all polynomials in e = h^2 E,
//
//   K_ij(n) = (2/pi) integral sin^2 f B_i A^{n-1} C_j df,   e = 4 c^2 cos^2 f,   f from 0 to pi,   n >= 1
//
// As long as every faster mode turns further in a step, the angle Theta(e) with tr A = z + 1/z, z = exp(i Theta), can
// take the place of f, and the path of integration can be bent into the two radii that end at the band's edges. As
// A^{n-1} leaves z^{n-1} (A - 1/z)/(z - 1/z) there, of rank one, all stages share the exponentials. Where the radii
// pass by points at which tr A' = 0, the first lags know of these, and are taken as they are.
// Source: the projector onto an eigenvector is linear algebra; the kernel, the path and the sums are ours.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <optional>
#include <vector>

#include "methods/scheme.hpp"
#include "model/semi_infinite_line/certificate.hpp"

namespace bathline {

/// A step of kicks and drifts by turns, as part of many: drift j comes before kick j, and before the first drift the
/// last kick of the step before. Weights in steps.
struct KickDriftSequence {
  std::vector<double> drifts, kicks;

  int stages() const { return static_cast<int>(kicks.size()); }
  bool operator==(const KickDriftSequence&) const = default;
};
/// Nothing of a scheme of other substeps.
std::optional<KickDriftSequence> kick_drift_sequence_of(const ExplicitScheme& scheme);

/// The Courant number h sqrt(lambda/M) below which every faster mode of a line turns further in a step.
double max_courant(const KickDriftSequence& turns);

struct MultistageKernel {
  std::vector<Eigen::MatrixXd> first;       ///< K(0), of which only j <= i counts, K(1), ...
  std::vector<std::complex<double>> bases;  ///< K_ij(n) = Re sum_m weights_im drives_jm bases_m^(n - lag) beyond
  Eigen::MatrixXcd drives, weights;         ///< stages x exponentials
  KernelCertificate certificate;            ///< errors are sums over all drifts of a step; no transform is looked at

  int lag() const { return static_cast<int>(first.size()); }
};

/// K(0), ... K(count - 1) by the Gauss rule for this weight, which has them to round-off.
std::vector<Eigen::MatrixXd> exact_multistage_kernel(const KickDriftSequence& turns, double courant, int count);
/// `tolerance` is that of the certificate's error, until `horizon` steps; `courant` is below the largest.
MultistageKernel make_multistage_kernel(const KickDriftSequence& turns, double courant, double tolerance,
                                        double horizon);

}  // namespace bathline
