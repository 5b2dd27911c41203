// Runge-Kutta stages of modes, eliminated once. With X = x 1 + h a V the head at the stages, Z = X - W the stretches
// and P the momenta there, mu = mobility k and d = dashpot/m,
//
//   W = w 1 + h a (P/m + mu Z),   P = p 1 + h a^ (k Z - d P),   force on the head at the stages -k Z
//
// so that, with G = (1 + h d a^)^-1 and N = (1 + h mu a + h^2 k/m a G a^)^-1,
//
//   Z = N (X - w 1 - h/m a G 1 p),   P = G (p 1 + h k a^ Z),
//   w+ = w + h b.(P/m + mu Z),       p+ = p + h b.(k Z - d P).
//
// The matrix M of the step from (w, p) has the determinant 1 where nothing decays and the pair is symplectic. Then it
// is p += s w, w += t p, p += u w, with s = (M_ww - 1)/M_wp, t = M_wp and u = (M_pp - 1)/M_wp: these keep volumes
// exactly in floating-point numbers, in which products of M grow or decay. Source: hairer2006, section II.2; the
// elimination is ours. Tested by tests/model/modes/modes_test.cpp.
#include <Eigen/LU>

#include "model/modes/mode_pass.hpp"

namespace bathline {

namespace {

/// Numbers of all modes for w and for p.
struct Rows {
  AlignedVector w, p;
};

class StagePass final : public ModePass {
 public:
  StagePass(ModesState& modes, const PartitionedRungeKutta& scheme, double h);
  std::vector<double> prepare(int) override;

 private:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 16, 16>;
  using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 16, 1>;
  void run(std::size_t begin, std::size_t end, int steps, std::span<const double> inputs,
           std::span<double> sums) override;
  void advance(std::size_t begin, std::size_t end, const double* heads, double* w, double* p) const;
  /// Sets the rows of mode j, and adds its responses.
  void eliminate(std::size_t j, std::span<double> responses);
  void set_shears();

  PartitionedRungeKutta scheme_;
  double h_;
  bool has_shears_;
  Rows to_w_, to_p_;                // M_ww and M_wp, M_pw and M_pp; shears: t and s, -, u
  std::vector<Rows> drive_, read_;  // by stage
};

StagePass::StagePass(ModesState& modes, const PartitionedRungeKutta& scheme, double h)
    : ModePass(modes), scheme_(scheme), h_(h) {
  inputs_ = sums_per_step_ = scheme.stages();
  for (int i = 0; i < inputs_; ++i) plan_.push_back({i, i + 1});
  const Eigen::MatrixXd product = scheme.b.asDiagonal() * scheme.a_hat + (scheme.b.asDiagonal() * scheme.a).transpose();
  has_shears_ = product.isApprox(scheme.b * scheme.b.transpose(), 1e-13);
}

std::vector<double> StagePass::prepare(int) {
  const auto stages = static_cast<std::size_t>(inputs_);
  const auto allocate = [&](Rows& rows) {
    rows.w.resize(modes_.padded());
    rows.p.resize(modes_.padded());
  };
  allocate(to_w_);
  allocate(to_p_);
  for (std::vector<Rows>* rows : {&drive_, &read_}) {
    rows->resize(stages);
    for (Rows& row : *rows) allocate(row);
  }
  modes_.sum.allocate(inputs_ * inputs_);
  for (std::int64_t j = 0; j < modes_.sum.count(); ++j)
    eliminate(static_cast<std::size_t>(j), modes_.sum.leaf(j / modes_.sum.leaf_size()));
  std::vector<double> through(stages * stages), responses(stages * (stages + 1));
  modes_.sum.reduce(through);
  for (std::size_t i = 0; i < through.size(); ++i) responses[i + i / stages + 1] = through[i];
  set_shears();
  return responses;
}

void StagePass::eliminate(std::size_t j, std::span<double> responses) {
  const double h = h_;
  const Mode mode = modes_.table.mode(modes_.sum.first() + static_cast<std::int64_t>(j));
  const double k = mode.k, inverse_mass = mode.inverse_mass();
  const double mu = mode.mobility_rate(), d = mode.dashpot_rate();
  has_shears_ = has_shears_ && mode.r == 0.0;
  const Matrix a = scheme_.a, a_hat = scheme_.a_hat, one = Matrix::Identity(a.rows(), a.rows());
  const Vector b = scheme_.b, ones = Vector::Ones(b.size());
  Matrix g = one;
  if (d != 0.0) g = Matrix(one + (h * d) * a_hat).inverse();
  const Matrix n = Matrix(one + (h * mu) * a + (h * h * k * inverse_mass) * a * g * a_hat).inverse();
  const Vector of_p = n * ((h * inverse_mass) * a * g * ones), of_w = n * ones;
  // The changes of w and p by Z, and those by p at Z = 0.
  const Vector momenta = (h * k) * a_hat.transpose() * g.transpose() * b;
  const Vector w_by_z = (h * inverse_mass) * momenta + (h * mu) * b, p_by_z = (h * k) * b - (h * d) * momenta;
  const double decay = b.dot(g * ones);
  const Vector w_by_x = n.transpose() * w_by_z, p_by_x = n.transpose() * p_by_z;
  to_w_.w[j] = -w_by_z.dot(of_w);
  to_w_.p[j] = h * inverse_mass * decay - w_by_z.dot(of_p);
  to_p_.w[j] = -p_by_z.dot(of_w);
  to_p_.p[j] = -h * d * decay - p_by_z.dot(of_p);
  for (Eigen::Index i = 0; i < b.size(); ++i) {
    const auto stage = static_cast<std::size_t>(i);
    drive_[stage].w[j] = w_by_x[i];
    drive_[stage].p[j] = p_by_x[i];
    read_[stage].w[j] = k * of_w[i];
    read_[stage].p[j] = k * of_p[i];
    for (Eigen::Index o = 0; o < b.size(); ++o) responses[static_cast<std::size_t>(i * b.size() + o)] -= k * n(o, i);
  }
}

/// Until here the rows have M - 1.
void StagePass::set_shears() {
  // Where the angle of a step is next to pi the shears would amplify round-off.
  constexpr double max_amplification = 1e6;
  bool is_bad = !has_shears_;
  for (std::size_t j = 0; j < modes_.padded(); ++j) {
    is_bad = is_bad || std::abs(to_w_.w[j] * to_p_.p[j]) > max_amplification * std::abs(to_w_.p[j] * to_p_.w[j]);
  }
  has_shears_ = !modes_.communicator.any(is_bad);
  for (std::size_t j = 0; j < modes_.padded(); ++j) {
    if (!has_shears_) {
      to_w_.w[j] += 1.0;
      to_p_.p[j] += 1.0;
    } else if (to_w_.p[j] != 0.0) {
      to_w_.w[j] /= to_w_.p[j];
      to_p_.w[j] = to_p_.p[j] / to_w_.p[j];
    } else {
      to_w_.w[j] = std::exchange(to_p_.w[j], 0.0);  // a spring to a fixed mass
    }
  }
}

void StagePass::advance(std::size_t begin, std::size_t end, const double* heads, double* w, double* p) const {
  for (std::size_t j = begin; j < end; j += simd_width) {
    SimdDouble at_w = load(w + j), at_p = load(p + j);
    if (has_shears_) {
      at_p = multiply_add(load(&to_w_.w[j]), at_w, at_p);
      at_w = multiply_add(load(&to_w_.p[j]), at_p, at_w);
      at_p = multiply_add(load(&to_p_.w[j]), at_w, at_p);
    } else {
      const SimdDouble from_w = at_w;
      at_w = multiply_add(load(&to_w_.w[j]), from_w, load(&to_w_.p[j]) * at_p);
      at_p = multiply_add(load(&to_p_.w[j]), from_w, load(&to_p_.p[j]) * at_p);
    }
    for (std::size_t i = 0; i < drive_.size(); ++i) {
      const SimdDouble x = splat(heads[i]);
      at_w = multiply_add(load(&drive_[i].w[j]), x, at_w);
      at_p = multiply_add(load(&drive_[i].p[j]), x, at_p);
    }
    store(at_w, w + j);
    store(at_p, p + j);
  }
}

void StagePass::run(std::size_t begin, std::size_t end, int steps, std::span<const double> inputs,
                    std::span<double> sums) {
  constexpr std::size_t chunk = 512;  // within the first-level cache
  const std::size_t stages = read_.size(), length = sums.size() / modes_.axes;
  for (; begin < end; begin += chunk) {
    const std::size_t next = std::min(end, begin + chunk);
    for (std::size_t axis = 0; axis < modes_.axes; ++axis) {
      double *const w = modes_.w[axis].data(), *const p = modes_.p[axis].data(), *sum = &sums[axis * length];
      for (int step = 0; step < steps; ++step)
        advance(begin, next,
                &inputs[(axis * static_cast<std::size_t>(steps) + static_cast<std::size_t>(step)) * stages], w, p);
      *sum += sum_of_products(modes_.stiffness.data(), w, begin, next);
      for (std::size_t i = 0; i < stages && length > 1; ++i) {
        *++sum +=
            sum_of_products(read_[i].w.data(), w, begin, next) + sum_of_products(read_[i].p.data(), p, begin, next);
      }
    }
  }
}

}  // namespace

std::unique_ptr<ModePass> make_stage_pass(ModesState& modes, const PartitionedRungeKutta& scheme, double h) {
  return std::make_unique<StagePass>(modes, scheme, h);
}

}  // namespace bathline
