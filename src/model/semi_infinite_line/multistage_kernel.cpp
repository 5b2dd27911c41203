// The Gauss rule, the continuation of e(z) along the radius, and what the sums leave of the kernel.
// Tested by tests/model/semi_infinite_line/multistage_kernel_test.cpp.
#include "model/semi_infinite_line/multistage_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "methods/stability_boundary.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using std::numbers::pi;
using Series = std::vector<double>;  // by powers

/// A, B and C of one mode.
template <class Number>
struct StepOfMode {
  using Matrix = Eigen::Matrix<Number, 2, 2>;
  using Row = Eigen::Matrix<Number, 1, 2>;

  StepOfMode(const KickDriftSequence& turns, Number e)
      : to_kick(static_cast<std::size_t>(turns.stages())), from_drift(to_kick) {
    for (std::size_t i = 0; i < to_kick.size(); ++i) {
      whole.row(0) += turns.drifts[i] * whole.row(1);
      to_kick[i] = whole.row(0);
      whole.row(1) -= turns.kicks[i] * e * whole.row(0);
    }
    Matrix rest = Matrix::Identity();
    for (std::size_t j = from_drift.size(); j-- > 0;) {
      rest.col(0) -= turns.kicks[j] * e * rest.col(1);
      from_drift[j] = rest.col(0).transpose();
      rest.col(1) += turns.drifts[j] * rest.col(0);
    }
  }

  Matrix whole = Matrix::Identity();
  std::vector<Row> to_kick, from_drift;
};

/// tr A as a polynomial of edge - e.
Series trace(const KickDriftSequence& turns, double edge) {
  const auto size = static_cast<std::size_t>(turns.stages()) + 1;
  Series trace(size);
  for (int column = 0; column < 2; ++column) {
    Series length(size), speed(size);
    (column == 0 ? length : speed)[0] = 1.0;
    for (int i = 0; i < turns.stages(); ++i) {
      const auto stage = static_cast<std::size_t>(i);
      for (std::size_t k = 0; k < size; ++k) length[k] += turns.drifts[stage] * speed[k];
      for (std::size_t k = size; k-- > 0;) {
        speed[k] -= turns.kicks[stage] * (edge * length[k] - (k > 0 ? length[k - 1] : 0.0));
      }
    }
    for (std::size_t k = 0; k < size; ++k) trace[k] += (column == 0 ? length : speed)[k];
  }
  return trace;
}

/// The polynomial without its constant, and its slope.
std::pair<Complex, Complex> rise(const Series& series, Complex x) {
  Complex value = 0.0, slope = 0.0;
  for (std::size_t k = series.size(); k-- > 1;) {
    value = (value + series[k]) * x;
    slope = slope * x + static_cast<double>(k) * series[k];
  }
  return {value, slope};
}

/// Exponentials of a kernel, from a rule for the integral along the radius that begins at the band's edge.
struct Cut {
  std::vector<double> depths;  ///< x of z = exp(i angle - x)
  Eigen::MatrixXcd drives, weights;
  double angle;
};

Cut along_radius(const KickDriftSequence& turns, double courant, int lag, const KernelAccuracy& accuracy) {
  const double edge = 4.0 * courant * courant;
  const Series of_gap = trace(turns, edge);
  const double angle = std::acos(std::clamp(0.5 * of_gap[0], -1.0, 1.0));
  const std::vector<BranchCutNode> found = branch_cut_quadrature(courant, lag, accuracy);
  std::vector<BranchCutNode> nodes(found);
  std::sort(nodes.begin(), nodes.end(),
            [](const BranchCutNode& one, const BranchCutNode& other) { return one.x < other.x; });
  Cut cut{{},
          {turns.stages(), static_cast<Index>(nodes.size())},
          {turns.stages(), static_cast<Index>(nodes.size())},
          angle};
  constexpr Complex i(0.0, 1.0);
  constexpr double stride = 0.02;
  // gap = edge - e begins as that times x.
  Complex gap = 0.0, root_before = std::polar(1.0, -0.25 * pi);
  double before = 0.0;
  for (std::size_t m = 0; m < nodes.size(); ++m) {
    const int strides = std::max(1, static_cast<int>(std::ceil((nodes[m].x - before) / stride)));
    for (int k = 1; k <= strides; ++k) {
      const double x = before + (nodes[m].x - before) * k / strides;
      const Complex risen = -4.0 * std::sin(angle + 0.5 * i * x) * std::sin(0.5 * i * x);
      if (gap == 0.0) gap = risen / of_gap[1];
      for (int step = 0; step < 40; ++step) {
        const auto [value, slope] = rise(of_gap, gap);
        const Complex change = (value - risen) / slope;
        gap -= change;
        if (std::abs(change) < 1e-15 * std::abs(gap)) break;
      }
      const Complex root = std::sqrt(gap / (edge - gap));
      root_before = std::real(root * std::conj(root_before)) < 0.0 ? -root : root;
    }
    before = nodes[m].x;
    const Complex z = std::exp(i * angle - before);
    const StepOfMode<Complex> step(turns, edge - gap);
    const Eigen::Matrix2cd projector = step.whole - Eigen::Matrix2cd::Identity() / z;
    Index row = 0, column = 0;
    projector.cwiseAbs().maxCoeff(&row, &column);
    const Complex slope = -rise(of_gap, gap).second;  // by e
    const Complex weight = nodes[m].weight * root_before / (pi * courant * courant * slope) *
                           std::exp((lag - 1.0) * (i * angle - before)) / projector(row, column);
    cut.depths.push_back(before);
    const auto mode = static_cast<Index>(m);
    for (Index stage = 0; stage < turns.stages(); ++stage) {
      const auto at = static_cast<std::size_t>(stage);
      cut.weights(stage, mode) = weight * step.to_kick[at] * projector.col(column);
      cut.drives(stage, mode) = step.from_drift[at] * projector.row(row).transpose();
    }
  }
  return cut;
}

/// Sums over all drifts, the largest of all kicks.
double size_of(const KickDriftSequence& turns, const Eigen::MatrixXd& sizes) {
  const Eigen::Map<const Eigen::VectorXd> drifts(turns.drifts.data(), turns.stages());
  return (sizes * drifts.cwiseAbs()).maxCoeff();
}

/// exp(-i n angle) times the kernel's analytic signal, at a lag of `behind` + the cut's own.
Eigen::MatrixXcd amplitude(const Cut& cut, double behind) {
  Eigen::VectorXcd factors(static_cast<Index>(cut.depths.size()));
  for (std::size_t m = 0; m < cut.depths.size(); ++m) {
    factors[static_cast<Index>(m)] = std::exp(-behind * cut.depths[m]);
  }
  return cut.weights * factors.asDiagonal() * cut.drives.transpose();
}

/// The sum of the errors of all lags that `exact` has.
double error_over(const KickDriftSequence& turns, const Cut& cut, int lag, const std::vector<Eigen::MatrixXd>& exact) {
  double error = 0.0;
  for (int n = lag; n < static_cast<int>(exact.size()); ++n) {
    const Eigen::MatrixXd found = (std::polar(1.0, (n - lag) * cut.angle) * amplitude(cut, n - lag)).real();
    error += size_of(turns, (found - exact[static_cast<std::size_t>(n)]).cwiseAbs());
  }
  return error;
}

/// Value by value over the steps of `exact`, and then against a finer rule on a logarithmic grid.
KernelCertificate certify(const KickDriftSequence& turns, double courant, const Cut& cut, int lag,
                          const std::vector<Eigen::MatrixXd>& exact, const KernelAccuracy& accuracy) {
  KernelCertificate certificate{.exponentials = static_cast<int>(cut.depths.size()), .horizon = accuracy.horizon};
  certificate.uniform_error = certificate.lowest = std::numeric_limits<double>::quiet_NaN();
  const Eigen::Map<const Eigen::VectorXd> drifts(turns.drifts.data(), turns.stages());
  for (const Eigen::MatrixXd& right : exact) certificate.norm += (right * drifts).cwiseAbs().maxCoeff();
  certificate.error = error_over(turns, cut, lag, exact);
  const Cut finer = along_radius(turns, courant, lag, {.error = 1e-3 * accuracy.error, .horizon = accuracy.horizon});
  constexpr double ratio = 1.04;
  for (auto from = static_cast<double>(exact.size()); from < accuracy.horizon; from *= ratio) {
    const double to = std::min(accuracy.horizon, ratio * from);
    const auto error = [&](double n) {
      return size_of(turns, (amplitude(cut, n - lag) - amplitude(finer, n - lag)).cwiseAbs());
    };
    certificate.error += (to - from) * std::max(error(from), error(to));
    certificate.norm += (to - from) * 2.0 / pi * (amplitude(finer, to - lag) * drifts).cwiseAbs().maxCoeff();
  }
  certificate.error /= certificate.norm;
  return certificate;
}

/// The shortest lag from which on the exponentials are right to `enough`, or as right as can be.
std::pair<Cut, int> with_shortest_lag(const KickDriftSequence& turns, double courant, const KernelAccuracy& accuracy,
                                      const std::vector<Eigen::MatrixXd>& exact, double enough) {
  std::pair<Cut, int> best{{}, 0};
  double least = std::numeric_limits<double>::infinity();
  for (const int lag : {8, 12, 16, 24, 32, 48, 64, 96}) {
    if (2 * lag > static_cast<int>(exact.size())) break;
    Cut cut = along_radius(turns, courant, lag, accuracy);
    const double error = error_over(turns, cut, lag, exact);
    if (best.second > 0 && !(error < least)) continue;
    best = {std::move(cut), lag};
    least = error;
    if (error < enough) break;
  }
  return best;
}

}  // namespace

std::optional<KickDriftSequence> kick_drift_sequence_of(const ExplicitScheme& scheme) {
  const std::vector<Substep>& substeps = scheme.substeps;
  const auto is_drift = [](const Substep& one) { return one.kind == Substep::Kind::drift; };
  const auto is_kick = [](const Substep& one) { return one.kind == Substep::Kind::kick; };
  const auto is_other = [&](const Substep& one) { return !is_drift(one) && !is_kick(one); };
  if (!scheme.b.empty() || std::any_of(substeps.begin(), substeps.end(), is_other)) return std::nullopt;
  const auto first = std::find_if(substeps.begin(), substeps.end(), is_drift);
  const auto last = std::find_if(substeps.rbegin(), substeps.rend(), is_kick);
  if (first == substeps.end() || last == substeps.rend()) return std::nullopt;
  // A step may begin with kicks, which belong to the last one of the step before, or end with a drift.
  std::vector<Substep> turned(substeps);
  std::rotate(turned.begin(),
              turned.begin() + (is_kick(substeps.front()) ? first - substeps.begin() : substeps.rend() - last),
              turned.end());
  KickDriftSequence turns;
  bool drifts = false;
  for (const Substep& one : turned) {
    if (is_drift(one) && !drifts) {
      turns.drifts.push_back(one.weight);
    } else if (is_drift(one)) {
      turns.drifts.back() += one.weight;
    } else if (drifts) {
      turns.kicks.push_back(one.weight);
    } else {
      turns.kicks.back() += one.weight;
    }
    drifts = is_drift(one);
  }
  return turns;
}

double max_courant(const KickDriftSequence& turns) {
  const Series of_minus_e = trace(turns, 0.0);
  const auto is_beyond = [&](double e) {
    const auto [value, slope] = rise(of_minus_e, -e);
    return slope.real() <= 0.0 || value.real() <= -4.0;
  };
  // No splitting is stable beyond Stoermer-Verlet as often as it kicks, for which e is 4.
  const double most = 4.0 * turns.stages() * turns.stages() + 1.0;
  return 0.5 * std::sqrt(std::min(most, find_stability_boundary(is_beyond, 1e-3, most)));
}

std::vector<Eigen::MatrixXd> exact_multistage_kernel(const KickDriftSequence& turns, double courant, int count) {
  const Index stages = turns.stages();
  std::vector<Eigen::MatrixXd> kernel(static_cast<std::size_t>(count), Eigen::MatrixXd::Zero(stages, stages));
  // As many nodes as degrees of e, in pairs of the same e.
  const int pairs = turns.stages() * (count + 1) / 2 + 1;
  for (int node = 1; node <= pairs; ++node) {
    const double f = node * pi / (2 * pairs + 1), cosine = std::cos(f), sine = std::sin(f);
    const double weight = 4.0 / (2 * pairs + 1) * sine * sine, e = 4.0 * courant * courant * cosine * cosine;
    const StepOfMode<double> step(turns, e);
    Eigen::MatrixXd rows(stages, 2), now(2, stages);
    for (Index i = 0; i < stages; ++i) {
      rows.row(i) = step.to_kick[static_cast<std::size_t>(i)];
      now.col(i) = step.from_drift[static_cast<std::size_t>(i)].transpose();
    }
    for (int n = 1; n < count; ++n) {
      kernel[static_cast<std::size_t>(n)].noalias() += weight * rows * now;
      now = step.whole * now;
    }
    for (Index j = 0; j < stages && count > 0; ++j) {
      double length = 1.0, speed = 0.0;
      for (Index i = j; i < stages; ++i) {
        const auto stage = static_cast<std::size_t>(i);
        if (i > j) length += turns.drifts[stage] * speed;
        kernel.front()(i, j) += weight * length;
        speed -= turns.kicks[stage] * e * length;
      }
    }
  }
  return kernel;
}

MultistageKernel make_multistage_kernel(const KickDriftSequence& turns, double courant, double tolerance,
                                        double horizon) {
  const int count = std::clamp(1700 / turns.stages(), 96, 192);
  const std::vector<Eigen::MatrixXd> exact = exact_multistage_kernel(turns, courant, count);
  // The sum of the kernel's absolute values is near 1.6/c.
  const double wanted = tolerance * 1.6 / courant;
  KernelAccuracy accuracy{.error = 0.1 * wanted, .horizon = std::max(horizon, 1.0)};
  MultistageKernel best;
  // Next to the largest Courant number a point with tr A' = 0 is next to the edge, and the rule needs more nodes.
  for (int attempt = 0; attempt < 4; ++attempt, accuracy.error *= 1e-15) {
    const auto [cut, lag] = with_shortest_lag(turns, courant, accuracy, exact, 0.5 * wanted);
    const KernelCertificate found = certify(turns, courant, cut, lag, exact, accuracy);
    if (attempt > 0 && !(found.error < best.certificate.error)) break;
    best = {.first = {exact.begin(), exact.begin() + lag},
            .bases = {},
            .drives = cut.drives,
            .weights = cut.weights,
            .certificate = found};
    for (const double depth : cut.depths) best.bases.push_back(std::exp(Complex(-depth, cut.angle)));
    if (found.error <= tolerance) break;
  }
  return best;
}

}  // namespace bathline
