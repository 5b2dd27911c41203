// The stages of an implicit step of a nonlinear line.
//
//   R_ji = M_j V_ji - p_j - h sum_k a^_ik (F_{j+1,k} - F_jk - U'(W_jk) - C V_jk),   F_jk = V'(W_jk - W_{j-1,k}),
//   W_jk = w_j + h sum_l a_kl V_jl;   w+ = w + h b.V,   p+ = p + h b.F
//
// C is the dashpot of a matched far end. With G(x) = h^2 A^ diag(x) A a row of the derivative is
//
//   M + G(F'_j + F'_{j+1} + U'') beside -G(F'_j) and -G(F'_{j+1})
//
// for each strand. The last row couples the strands of a folded chain: by the spring between them, or, where the last
// site is shared, by the spring before that of the second strand, whose own last equation is that both are the same.
// Source: hairer2006, section II.2.
// Tested by tests/model/line/nonlinear_line_test.cpp.
#include "model/line/implicit/nonlinear_stages.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "parallel/halo.hpp"
#include "solve/block_line_elimination.hpp"

namespace bathline {

namespace {

template <int Strands, int S>
class Stages final : public ImplicitEnvironmentStepper, public NonlinearStages {
 public:
  static constexpr int B = Strands * S;
  using Elimination = BlockLineElimination<B>;
  using Block = Eigen::Matrix<double, S, S>;
  using Value = Eigen::Matrix<double, S, 1>;
  /// By site: of one number at every stage.
  using Values = Eigen::Matrix<double, S, Eigen::Dynamic>;

  Stages(LineState& line, const PartitionedRungeKutta& scheme, double h)
      : line_(line),
        law_(*line.options.law),
        h_(h),
        a_(scheme.a),
        a_hat_(scheme.a_hat),
        b_(scheme.b),
        halo_(line.layout, line.communicator, 1, line.axes * S),
        eliminations_(static_cast<std::size_t>(line.axes / Strands)),
        forces_(Eigen::MatrixXd::Zero(S, line.axes)),
        stiffness_(forces_) {
    for (int axis = 0; axis < line.axes; ++axis) {
      const auto zeros = [&](Eigen::Index more) { return Values(Values::Zero(S, rows() + more)); };
      axes_.push_back({Eigen::MatrixXd::Zero(rows() + 2, S), zeros(1), zeros(1), zeros(0), zeros(0)});
    }
  }

  // The step.
  bool condense(std::span<const double> head, StageResponse& response) override {
    line_.mark_active(line_.sites());
    heads_.assign(head.begin(), head.end());
    response.constant.setZero(S, line_.axes);
    response.damping.setZero(S, S);
    return true;
  }
  void back_substitute(const Eigen::MatrixXd&) override {
    for (int axis = 0; axis < line_.axes; ++axis) {
      double* const w = line_.own(line_.w[axis]);
      double* const p = line_.own(line_.p[axis]);
      for (std::int64_t j = 0; j < rows(); ++j) {
        const Value velocity = velocities(axis, j);
        w[j] += h_ * b_.dot(velocity);
        p[j] += h_ * b_.dot(force(axis, j));
        if (is_last(j)) line_.dissipated[axis] += h_ * line_.constants.dashpot * b_.dot(velocity.cwiseAbs2());
      }
    }
    // Both strands store a shared site.
    for (int axis = 0; axis < line_.axes && is_shared(rows() - 1); axis += 2) {
      const auto last = static_cast<std::size_t>(rows() - 1);
      line_.own(line_.w[axis + 1])[last] = line_.own(line_.w[axis])[last];
      line_.own(line_.p[axis + 1])[last] = line_.own(line_.p[axis])[last];
    }
  }

  int chains() const override { return line_.axes / Strands; }
  int block() const override { return B; }
  const Layout& layout() const override { return line_.layout; }
  void guess(double* velocities) const override {
    for_each_site([&](int axis, std::int64_t j) {
      const double mass = mass_of(axis, j);
      own(velocities, axis, j).setConstant(line_.own(line_.p[axis])[j] / mass);
    });
  }
  void evaluate(const Eigen::MatrixXd& head_velocities, const double* velocities, double* residual) override;
  const Eigen::MatrixXd& head_forces() const override { return forces_; }
  const Eigen::MatrixXd& head_stiffness() const override { return stiffness_; }
  double squared_scale() const override { return squared_scale_; }
  void linearise() override;
  Row row(int chain, std::int64_t site) const override {
    const typename Elimination::Row fixed = row_of(chain, site);
    return {fixed.before, fixed.diagonal, fixed.behind};
  }
  const HeadRelation& eliminate(int chain, double* values) override {
    return eliminations_[static_cast<std::size_t>(chain)].eliminate(values);
  }
  void substitute(int chain, double* values, const Eigen::VectorXd& head) const override {
    eliminations_[static_cast<std::size_t>(chain)].substitute(values, head);
  }

 private:
  /// At the last `evaluate`. A row of places more in front is for the head, and one behind for the far end; springs are
  /// before every site, and one behind the last.
  struct Axis {
    Eigen::MatrixXd places;  // by site, then stage
    Values pull, stiffness, held, held_stiffness;
  };

  std::int64_t rows() const { return line_.count; }
  bool is_last(std::int64_t j) const { return line_.at_far_end && j == rows() - 1; }
  bool is_shared(std::int64_t j) const { return Strands == 2 && line_.constants.shared == 1 && is_last(j); }
  double mass_of(int axis, std::int64_t j) const { return line_.site(line_.first_site() + j, line_.strand(axis)).mass; }
  template <class Number>
  auto own(Number* values, int axis, std::int64_t j) const {
    using Map = Eigen::Map<std::conditional_t<std::is_const_v<Number>, const Value, Value>>;
    return Map(values + ((axis / Strands) * rows() + j) * B + (axis % Strands) * S);
  }
  template <class Use>
  void for_each_site(Use use) const {
    for (int axis = 0; axis < line_.axes; ++axis) {
      for (std::int64_t j = 0; j < rows(); ++j) use(axis, j);
    }
  }
  const Axis& of(int axis) const { return axes_[static_cast<std::size_t>(axis)]; }
  Value velocities(int axis, std::int64_t j) const { return own(velocities_.data(), axis, j); }
  /// On a site at every stage.
  Value force(int axis, std::int64_t j) const {
    Value force = of(axis).pull.col(j + 1) - of(axis).pull.col(j) - of(axis).held.col(j);
    // The spring before the second strand's copy of a shared site acts on it, too, in the other direction.
    if (is_shared(j)) force -= of(axis ^ 1).pull.col(j);
    if (is_last(j)) force -= line_.constants.dashpot * velocities(axis, j);
    return force;
  }
  Block coupling(const Value& stiffness) const { return h_ * h_ * (a_hat_ * stiffness.asDiagonal() * a_); }
  typename Elimination::Row row_of(int chain, std::int64_t j) const;

  LineState& line_;
  const LineLaw& law_;
  double h_;
  Block a_, a_hat_;
  Value b_;
  Halo halo_;
  std::vector<Elimination> eliminations_;  // by chain
  std::vector<double> heads_;              // at the start of the step, by axis
  std::vector<double> velocities_;         // of the last `evaluate`
  std::vector<Axis> axes_;
  Eigen::MatrixXd forces_, stiffness_;
  double squared_scale_ = 0.0;
};

template <int Strands, int S>
void Stages<Strands, S>::evaluate(const Eigen::MatrixXd& head_velocities, const double* velocities, double* residual) {
  velocities_.assign(velocities, velocities + rows() * line_.axes * S);
  std::vector<double*> arrays;
  for (int axis = 0; axis < line_.axes; ++axis) {
    Eigen::MatrixXd& places = axes_[static_cast<std::size_t>(axis)].places;
    for (std::int64_t j = 0; j < rows(); ++j) {
      const Value change = h_ * (a_ * own(velocities, axis, j));
      places.row(j + 1) = change.array() + line_.own(line_.w[axis])[j];
    }
    for (int i = 0; i < S; ++i) arrays.push_back(places.col(i).data() + 1 - halo_.left());
  }
  halo_.exchange(arrays);
  squared_scale_ = 0.0;
  for (int axis = 0; axis < line_.axes && rows() > 0; ++axis) {
    Axis& now = axes_[static_cast<std::size_t>(axis)];
    const double direction = line_.strand(axis) == 1 ? -1.0 : 1.0;
    const bool has_spring_behind =
        !line_.at_far_end || line_.constants.far_end == FarEnd::fixed || (Strands == 2 && !is_shared(rows() - 1));
    for (int i = 0; i < S; ++i) {
      auto place = now.places.col(i);
      if (line_.at_head())
        place[0] = heads_[static_cast<std::size_t>(axis)] + h_ * a_.row(i).dot(head_velocities.col(axis));
      if (line_.at_far_end)
        place[rows() + 1] = Strands == 2 ? of(axis ^ 1).places(rows(), i) : line_.behind_last(place[rows()]);
      for (std::int64_t j = 0; j < rows() + (has_spring_behind ? 1 : 0); ++j) {
        const double stretch = direction * (place[j + 1] - place[j]);
        now.pull(i, j) = direction * law_.springs->derivative(stretch);
        now.stiffness(i, j) = law_.springs->second_derivative(stretch);
      }
      for (std::int64_t j = 0; j < rows() && law_.sites; ++j) {
        now.held(i, j) = law_.sites->derivative(place[j + 1]);
        now.held_stiffness(i, j) = law_.sites->second_derivative(place[j + 1]);
      }
    }
  }
  for (int axis = 0; axis < line_.axes && line_.at_head(); ++axis) {
    forces_.col(axis) = of(axis).pull.col(0);
    stiffness_.col(axis) = of(axis).stiffness.col(0);
  }
  for_each_site([&](int axis, std::int64_t j) {
    const double mass = mass_of(axis, j), p = line_.own(line_.p[axis])[j];
    auto rest = own(residual, axis, j);
    if (is_shared(j) && line_.strand(axis) == 1) {
      rest = mass * (this->velocities(axis, j) - this->velocities(axis ^ 1, j));
    } else {
      rest = mass * this->velocities(axis, j) - Value::Constant(p) - h_ * (a_hat_ * force(axis, j));
    }
    // The round-off of places changes the forces.
    const double place = std::abs(line_.own(line_.w[axis])[j]);
    const Axis& at = of(axis);
    const Value stiffness = at.stiffness.col(j) + at.stiffness.col(j + 1) + at.held_stiffness.col(j);
    const double terms = std::abs(p) + h_ * (at.pull.col(j).norm() + at.pull.col(j + 1).norm() + at.held.col(j).norm() +
                                             place * stiffness.norm());
    squared_scale_ += S * terms * terms;
  });
}

template <int Strands, int S>
typename Stages<Strands, S>::Elimination::Row Stages<Strands, S>::row_of(int chain, std::int64_t j) const {
  typename Elimination::Row row;
  row.before.setZero();
  row.diagonal.setZero();
  row.behind.setZero();
  for (int strand = 0; strand < Strands; ++strand) {
    const int axis = Strands * chain + strand, at = strand * S, other = (1 - strand) * S;
    auto diagonal = row.diagonal.template block<S, S>(at, at);
    const Block mass = mass_of(axis, j) * Block::Identity();
    if (is_shared(j) && strand == 1) {
      diagonal = mass;
      row.diagonal.template block<S, S>(at, other) = -mass;
      continue;
    }
    const Block before = coupling(of(axis).stiffness.col(j)), behind = coupling(of(axis).stiffness.col(j + 1));
    row.before.template block<S, S>(at, at) = before;
    diagonal = mass + before + behind + coupling(of(axis).held_stiffness.col(j));
    if (!is_last(j)) {
      row.behind.template block<S, S>(at, at) = behind;
      continue;
    }
    diagonal += h_ * line_.constants.dashpot * a_hat_;
    if constexpr (Strands == 2) {
      if (is_shared(j)) {
        const Block across = coupling(of(axis ^ 1).stiffness.col(j));
        row.diagonal.template block<S, S>(at, other) = across;
        row.before.template block<S, S>(at, other) = across;
      } else {
        row.diagonal.template block<S, S>(at, other) = -behind;
      }
    }
  }
  return row;
}

template <int Strands, int S>
void Stages<Strands, S>::linearise() {
  for (int chain = 0; chain < chains(); ++chain) {
    eliminations_[static_cast<std::size_t>(chain)].factor(line_.layout, line_.communicator,
                                                          [&](std::int64_t j) { return row_of(chain, j); });
  }
}

}  // namespace

std::unique_ptr<ImplicitEnvironmentStepper> make_nonlinear_stages(LineState& line, const PartitionedRungeKutta& scheme,
                                                                  double h) {
  const auto make = [&]<int S>() -> std::unique_ptr<ImplicitEnvironmentStepper> {
    if (line.is_folded()) return std::make_unique<Stages<2, S>>(line, scheme, h);
    return std::make_unique<Stages<1, S>>(line, scheme, h);
  };
  if (scheme.stages() == 1) return make.operator()<1>();
  if (scheme.stages() == 2) return make.operator()<2>();
  if (scheme.stages() == 3) return make.operator()<3>();
  throw std::invalid_argument("a nonlinear line supports 1 to 3 stages");
}

}  // namespace bathline
