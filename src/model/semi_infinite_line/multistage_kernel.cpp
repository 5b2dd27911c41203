// The Gauss rule, the continuation of e(z) along the radius, and the errors of the sums of exponentials.
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

/// A, B and C of a mode.
template <class Number>
struct ModeStep {
  using Matrix = Eigen::Matrix<Number, 2, 2>;
  using Row = Eigen::Matrix<Number, 1, 2>;

  ModeStep(const KickDriftSequence& sequence, Number e)
      : kick_rows(static_cast<std::size_t>(sequence.stages())), drift_columns(kick_rows) {
    for (std::size_t i = 0; i < kick_rows.size(); ++i) {
      step_matrix.row(0) += sequence.drifts[i] * step_matrix.row(1);
      kick_rows[i] = step_matrix.row(0);
      step_matrix.row(1) -= sequence.kicks[i] * e * step_matrix.row(0);
    }
    Matrix rest = Matrix::Identity();
    for (std::size_t j = drift_columns.size(); j-- > 0;) {
      rest.col(0) -= sequence.kicks[j] * e * rest.col(1);
      drift_columns[j] = rest.col(0).transpose();
      rest.col(1) += sequence.drifts[j] * rest.col(0);
    }
  }

  Matrix step_matrix = Matrix::Identity();
  std::vector<Row> kick_rows, drift_columns;
};

/// tr A as a polynomial in edge - e.
Series trace(const KickDriftSequence& sequence, double edge) {
  const auto size = static_cast<std::size_t>(sequence.stages()) + 1;
  Series trace(size);
  for (int column = 0; column < 2; ++column) {
    Series length(size), speed(size);
    (column == 0 ? length : speed)[0] = 1.0;
    for (int i = 0; i < sequence.stages(); ++i) {
      const auto stage = static_cast<std::size_t>(i);
      for (std::size_t k = 0; k < size; ++k) length[k] += sequence.drifts[stage] * speed[k];
      for (std::size_t k = size; k-- > 0;) {
        speed[k] -= sequence.kicks[stage] * (edge * length[k] - (k > 0 ? length[k - 1] : 0.0));
      }
    }
    for (std::size_t k = 0; k < size; ++k) trace[k] += (column == 0 ? length : speed)[k];
  }
  return trace;
}

/// Value of the polynomial without its constant term, and its derivative.
std::pair<Complex, Complex> evaluate_without_constant(const Series& series, Complex x) {
  Complex value = 0.0, derivative = 0.0;
  for (std::size_t k = series.size(); k-- > 1;) {
    value = (value + series[k]) * x;
    derivative = derivative * x + static_cast<double>(k) * series[k];
  }
  return {value, derivative};
}

/// Exponentials of a kernel, from a quadrature along the radius that ends at the band edge.
struct Cut {
  std::vector<double> depths;  ///< x of z = exp(i angle - x)
  Eigen::MatrixXcd drives, weights;
  double angle;
};

Cut radial_cut(const KickDriftSequence& sequence, double courant, int lag, const KernelAccuracy& accuracy) {
  const double edge = 4.0 * courant * courant;
  const Series trace_of_gap = trace(sequence, edge);
  const double angle = std::acos(std::clamp(0.5 * trace_of_gap[0], -1.0, 1.0));
  std::vector<BranchCutNode> nodes = branch_cut_quadrature(courant, lag, accuracy);
  std::sort(nodes.begin(), nodes.end(), [](const BranchCutNode& a, const BranchCutNode& b) { return a.x < b.x; });
  Cut cut{{},
          {sequence.stages(), static_cast<Index>(nodes.size())},
          {sequence.stages(), static_cast<Index>(nodes.size())},
          angle};
  constexpr Complex i(0.0, 1.0);
  constexpr double stride = 0.02;
  // gap = edge - e is proportional to x at first.
  Complex gap = 0.0, root_before = std::polar(1.0, -0.25 * pi);
  double before = 0.0;
  for (std::size_t m = 0; m < nodes.size(); ++m) {
    const int strides = std::max(1, static_cast<int>(std::ceil((nodes[m].x - before) / stride)));
    for (int k = 1; k <= strides; ++k) {
      const double x = before + (nodes[m].x - before) * k / strides;
      const Complex target = -4.0 * std::sin(angle + 0.5 * i * x) * std::sin(0.5 * i * x);
      if (gap == 0.0) gap = target / trace_of_gap[1];
      for (int step = 0; step < 40; ++step) {
        const auto [value, derivative] = evaluate_without_constant(trace_of_gap, gap);
        const Complex change = (value - target) / derivative;
        gap -= change;
        if (std::abs(change) < 1e-15 * std::abs(gap)) break;
      }
      const Complex root = std::sqrt(gap / (edge - gap));
      root_before = std::real(root * std::conj(root_before)) < 0.0 ? -root : root;
    }
    before = nodes[m].x;
    const Complex z = std::exp(i * angle - before);
    const ModeStep<Complex> step(sequence, edge - gap);
    const Eigen::Matrix2cd projector = step.step_matrix - Eigen::Matrix2cd::Identity() / z;
    Index row = 0, column = 0;
    projector.cwiseAbs().maxCoeff(&row, &column);
    const Complex derivative = -evaluate_without_constant(trace_of_gap, gap).second;  // by e
    const Complex weight = nodes[m].weight * root_before / (pi * courant * courant * derivative) *
                           std::exp((lag - 1.0) * (i * angle - before)) / projector(row, column);
    cut.depths.push_back(before);
    const auto mode = static_cast<Index>(m);
    for (Index stage = 0; stage < sequence.stages(); ++stage) {
      const auto index = static_cast<std::size_t>(stage);
      cut.weights(stage, mode) = weight * step.kick_rows[index] * projector.col(column);
      cut.drives(stage, mode) = step.drift_columns[index] * projector.row(row).transpose();
    }
  }
  return cut;
}

/// Sum over all drifts, maximum over all kicks.
double norm_over_drifts(const KickDriftSequence& sequence, const Eigen::MatrixXd& sizes) {
  const Eigen::Map<const Eigen::VectorXd> drifts(sequence.drifts.data(), sequence.stages());
  return (sizes * drifts.cwiseAbs()).maxCoeff();
}

/// exp(-i n angle) times the kernel's analytic signal, `steps` steps behind the lag of the cut.
Eigen::MatrixXcd amplitude(const Cut& cut, double steps) {
  Eigen::VectorXcd factors(static_cast<Index>(cut.depths.size()));
  for (std::size_t m = 0; m < cut.depths.size(); ++m) {
    factors[static_cast<Index>(m)] = std::exp(-steps * cut.depths[m]);
  }
  return cut.weights * factors.asDiagonal() * cut.drives.transpose();
}

/// Sum of the errors over all lags of `exact`.
double error_sum(const KickDriftSequence& sequence, const Cut& cut, int lag,
                 const std::vector<Eigen::MatrixXd>& exact) {
  double error = 0.0;
  for (int n = lag; n < static_cast<int>(exact.size()); ++n) {
    const Eigen::MatrixXd actual = (std::polar(1.0, (n - lag) * cut.angle) * amplitude(cut, n - lag)).real();
    error += norm_over_drifts(sequence, (actual - exact[static_cast<std::size_t>(n)]).cwiseAbs());
  }
  return error;
}

/// Compares value by value over the steps of `exact`, then with a finer quadrature on a logarithmic grid.
KernelCertificate certify(const KickDriftSequence& sequence, double courant, const Cut& cut, int lag,
                          const std::vector<Eigen::MatrixXd>& exact, const KernelAccuracy& accuracy) {
  KernelCertificate certificate{.exponentials = static_cast<int>(cut.depths.size()), .horizon = accuracy.horizon};
  certificate.uniform_error = certificate.lowest = std::numeric_limits<double>::quiet_NaN();
  const Eigen::Map<const Eigen::VectorXd> drifts(sequence.drifts.data(), sequence.stages());
  for (const Eigen::MatrixXd& value : exact) certificate.norm += (value * drifts).cwiseAbs().maxCoeff();
  certificate.error = error_sum(sequence, cut, lag, exact);
  const Cut finer = radial_cut(sequence, courant, lag, {.error = 1e-3 * accuracy.error, .horizon = accuracy.horizon});
  constexpr double ratio = 1.04;
  for (auto from = static_cast<double>(exact.size()); from < accuracy.horizon; from *= ratio) {
    const double to = std::min(accuracy.horizon, ratio * from);
    const auto error = [&](double n) {
      return norm_over_drifts(sequence, (amplitude(cut, n - lag) - amplitude(finer, n - lag)).cwiseAbs());
    };
    certificate.error += (to - from) * std::max(error(from), error(to));
    certificate.norm += (to - from) * 2.0 / pi * (amplitude(finer, to - lag) * drifts).cwiseAbs().maxCoeff();
  }
  certificate.error /= certificate.norm;
  return certificate;
}

/// The shortest lag behind which the error of the exponentials is below `sufficient`, or the most accurate one.
std::pair<Cut, int> choose_lag(const KickDriftSequence& sequence, double courant, const KernelAccuracy& accuracy,
                               const std::vector<Eigen::MatrixXd>& exact, double sufficient) {
  std::pair<Cut, int> best{{}, 0};
  double min_error = std::numeric_limits<double>::infinity();
  for (const int lag : {8, 12, 16, 24, 32, 48, 64, 96}) {
    if (2 * lag > static_cast<int>(exact.size())) break;
    Cut cut = radial_cut(sequence, courant, lag, accuracy);
    const double error = error_sum(sequence, cut, lag, exact);
    if (best.second > 0 && !(error < min_error)) continue;
    best = {std::move(cut), lag};
    min_error = error;
    if (error < sufficient) break;
  }
  return best;
}

}  // namespace

std::optional<KickDriftSequence> kick_drift_sequence_of(const ExplicitScheme& scheme) {
  const std::vector<Substep>& substeps = scheme.substeps;
  const auto is_drift = [](const Substep& substep) { return substep.kind == Substep::Kind::drift; };
  const auto is_kick = [](const Substep& substep) { return substep.kind == Substep::Kind::kick; };
  const auto is_other = [&](const Substep& substep) { return !is_drift(substep) && !is_kick(substep); };
  if (!scheme.b.empty() || std::any_of(substeps.begin(), substeps.end(), is_other)) return std::nullopt;
  const auto first = std::find_if(substeps.begin(), substeps.end(), is_drift);
  const auto last = std::find_if(substeps.rbegin(), substeps.rend(), is_kick);
  if (first == substeps.end() || last == substeps.rend()) return std::nullopt;
  // A step may begin with kicks, which are merged with the last kick of the step before, or end with a drift.
  std::vector<Substep> rotated(substeps);
  std::rotate(rotated.begin(),
              rotated.begin() + (is_kick(substeps.front()) ? first - substeps.begin() : substeps.rend() - last),
              rotated.end());
  KickDriftSequence sequence;
  bool drifts = false;
  for (const Substep& substep : rotated) {
    if (is_drift(substep) && !drifts) {
      sequence.drifts.push_back(substep.weight);
    } else if (is_drift(substep)) {
      sequence.drifts.back() += substep.weight;
    } else if (drifts) {
      sequence.kicks.push_back(substep.weight);
    } else {
      sequence.kicks.back() += substep.weight;
    }
    drifts = is_drift(substep);
  }
  return sequence;
}

double max_courant(const KickDriftSequence& sequence) {
  const Series trace_of_minus_e = trace(sequence, 0.0);
  const auto is_beyond = [&](double e) {
    const auto [value, derivative] = evaluate_without_constant(trace_of_minus_e, -e);
    return derivative.real() <= 0.0 || value.real() <= -4.0;
  };
  // No splitting with n kicks is stable beyond n steps of Stoermer-Verlet, whose limit is e = 4.
  const double max_e = 4.0 * sequence.stages() * sequence.stages() + 1.0;
  return 0.5 * std::sqrt(std::min(max_e, find_stability_boundary(is_beyond, 1e-3, max_e)));
}

std::vector<Eigen::MatrixXd> exact_multistage_kernel(const KickDriftSequence& sequence, double courant, int count) {
  const Index stages = sequence.stages();
  std::vector<Eigen::MatrixXd> kernel(static_cast<std::size_t>(count), Eigen::MatrixXd::Zero(stages, stages));
  // The degree in e determines the number of nodes, which come in pairs with the same e.
  const int pairs = sequence.stages() * (count + 1) / 2 + 1;
  for (int node = 1; node <= pairs; ++node) {
    const double f = node * pi / (2 * pairs + 1), cosine = std::cos(f), sine = std::sin(f);
    const double weight = 4.0 / (2 * pairs + 1) * sine * sine, e = 4.0 * courant * courant * cosine * cosine;
    const ModeStep<double> step(sequence, e);
    Eigen::MatrixXd rows(stages, 2), now(2, stages);
    for (Index i = 0; i < stages; ++i) {
      rows.row(i) = step.kick_rows[static_cast<std::size_t>(i)];
      now.col(i) = step.drift_columns[static_cast<std::size_t>(i)].transpose();
    }
    for (int n = 1; n < count; ++n) {
      kernel[static_cast<std::size_t>(n)].noalias() += weight * rows * now;
      now = step.step_matrix * now;
    }
    for (Index j = 0; j < stages && count > 0; ++j) {
      double length = 1.0, speed = 0.0;
      for (Index i = j; i < stages; ++i) {
        const auto stage = static_cast<std::size_t>(i);
        if (i > j) length += sequence.drifts[stage] * speed;
        kernel.front()(i, j) += weight * length;
        speed -= sequence.kicks[stage] * e * length;
      }
    }
  }
  return kernel;
}

MultistageKernel make_multistage_kernel(const KickDriftSequence& sequence, double courant, double tolerance,
                                        double horizon) {
  const int count = std::clamp(1700 / sequence.stages(), 96, 192);
  const std::vector<Eigen::MatrixXd> exact = exact_multistage_kernel(sequence, courant, count);
  // The sum of the kernel's absolute values is near 1.6/c.
  const double target_error = tolerance * 1.6 / courant;
  KernelAccuracy accuracy{.error = 0.1 * target_error, .horizon = std::max(horizon, 1.0)};
  MultistageKernel best;
  // Close to the largest Courant number a point with tr A' = 0 is close to the edge, and the quadrature needs more
  // nodes.
  for (int attempt = 0; attempt < 4; ++attempt, accuracy.error *= 1e-15) {
    const auto [cut, lag] = choose_lag(sequence, courant, accuracy, exact, 0.5 * target_error);
    const KernelCertificate certificate = certify(sequence, courant, cut, lag, exact, accuracy);
    if (attempt > 0 && !(certificate.error < best.certificate.error)) break;
    best = {.first = {exact.begin(), exact.begin() + lag},
            .bases = {},
            .drives = cut.drives,
            .weights = cut.weights,
            .certificate = certificate};
    for (const double depth : cut.depths) best.bases.push_back(std::exp(Complex(-depth, cut.angle)));
    if (certificate.error <= tolerance) break;
  }
  return best;
}

}  // namespace bathline
