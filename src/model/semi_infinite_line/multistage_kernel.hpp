// The memory of the semi-infinite line under a composition, which has several kicks a step: a matrix kernel over steps.
//
//   F_i^k = -lambda sum_{n >= 0} sum_j K_ij(n) D_j^{k-n},   i a kick of a step, D_j the head's displacement in drift j
//
// The extensions of the springs form a semi-infinite line with a free end, with modes y'' = -E y, 0 < E < 4 Omega^2. A
// drift of the head reduces all of them by D_j, and kick i depends on their sum. With the matrix A of a step, the row
// B_i from the start of a step to the extension at kick i, and the column C_j, the state at the end of a step due to a
// reduction in drift j, all polynomials in e = h^2 E,
//
//   K_ij(n) = (2/pi) integral sin^2 f B_i A^{n-1} C_j df,   e = 4 c^2 cos^2 f,   f from 0 to pi,   n >= 1
//
// As long as the phase of a step increases with the frequency of the mode, f can be replaced by the angle Theta(e) with
// tr A = z + 1/z, z = exp(i Theta), and the path of integration can be deformed into the two radii that end at the band
// edges. A^{n-1} becomes z^{n-1} (A - 1/z)/(z - 1/z) there, of rank one, so that all stages share the exponentials.
// Points with tr A' = 0 near the radii affect only the first lags, which are stored directly.
// Source: the projector onto an eigenvector is linear algebra; the kernel, the path and the sums are ours.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <optional>
#include <vector>

#include "methods/scheme.hpp"
#include "model/semi_infinite_line/certificate.hpp"

namespace bathline {

/// Alternating drifts and kicks of a periodic sequence of steps: drift j precedes kick j, and the last kick of a step
/// precedes the first drift of the next one. Weights are in steps.
struct KickDriftSequence {
  std::vector<double> drifts, kicks;

  int stages() const { return static_cast<int>(kicks.size()); }
  bool operator==(const KickDriftSequence&) const = default;
};
/// Nothing for a scheme with other substeps.
std::optional<KickDriftSequence> kick_drift_sequence_of(const ExplicitScheme& scheme);

/// The Courant number h sqrt(lambda/M) below which the phase of a step increases with the frequency of a line's mode.
double max_courant(const KickDriftSequence& sequence);

struct MultistageKernel {
  std::vector<Eigen::MatrixXd> first;       ///< K(0), of which only j <= i is used, K(1), ...
  std::vector<std::complex<double>> bases;  ///< K_ij(n) = Re sum_m weights_im drives_jm bases_m^(n - lag), n >= lag
  Eigen::MatrixXcd drives, weights;         ///< stages x exponentials
  KernelCertificate certificate;            ///< errors are sums over all drifts of a step; transforms are not evaluated

  int lag() const { return static_cast<int>(first.size()); }
};

/// K(0), ... K(count - 1) by the Gauss rule for this weight, which is exact to round-off.
std::vector<Eigen::MatrixXd> exact_multistage_kernel(const KickDriftSequence& sequence, double courant, int count);
/// `tolerance` bounds the certificate's error up to `horizon` steps; `courant` must be below max_courant.
MultistageKernel make_multistage_kernel(const KickDriftSequence& sequence, double courant, double tolerance,
                                        double horizon);

}  // namespace bathline
