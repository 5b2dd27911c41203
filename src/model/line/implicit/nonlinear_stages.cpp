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
// With V_1 = constant + slope V_0 the force on the head has the derivative F'_1 h A (slope - 1) by its velocities V_0.
// Source: hairer2006, section II.2.
// Tested by tests/model/line/nonlinear_line_test.cpp.
#include "model/line/implicit/nonlinear_stages.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "parallel/halo.hpp"
#include "solve/block_line_elimination.hpp"

namespace bathline {

namespace {

template <int Strands, int S>
class Stages final : public ImplicitEnvironmentStepper, public NonlinearResponse {
 public:
  Stages(LineState& line, const PartitionedRungeKutta& scheme, double h)
      : line_(line),
        law_(*line.options.law),
        h_(h),
        a_(scheme.a),
        a_hat_(scheme.a_hat),
        b_(scheme.b),
        halo_(line.layout, line.communicator, 1, line.axes * S),
        eliminations_(static_cast<std::size_t>(line.axes / Strands)) {
    for (int axis = 0; axis < line.axes; ++axis) {
      const auto zeros = [&](Eigen::Index more) { return Values(Values::Zero(S, rows() + more)); };
      axes_.push_back({Eigen::MatrixXd::Zero(rows() + 2, S), zeros(1), zeros(1), zeros(0), zeros(0)});
    }
    velocities_ = residual_ = Eigen::VectorXd::Zero(rows() * row_size());
    solver_ = std::make_unique<SnesSolver>(
        velocities_.size(),
        SnesSolver::Equations{
            .residual = [this](const double* x, double* r) { evaluate(x, r); },
            .linearise = [this](const double* x) { linearise(x); },
            .entries = [this](const SnesSolver::Add& add) { add_entries(add); },
            .eliminate = [this](double* values) { eliminate(values, Eigen::VectorXd::Zero(row_size())); }},
        line.communicator);
  }

  bool condense(std::span<const double> head, StageResponse& response) override {
    line_.mark_active(line_.sites());
    heads_.assign(head.begin(), head.end());
    head_velocities_.resize(0, 0);
    for_each_site([&](int axis, std::int64_t j) {
      own(velocities_.data(), axis, j).setConstant(line_.own(line_.p[axis])[j] / mass_of(axis, j));
    });
    response.constant.setZero(S, line_.axes);
    response.damping.setZero(S, S);
    return true;
  }
  NearVelocities respond(const Eigen::MatrixXd& head_velocities) override;
  void back_substitute(const Eigen::MatrixXd& head_velocities) override;

 private:
  static constexpr int B = Strands * S;  // numbers in a row of a chain: a site of each strand
  using Elimination = BlockLineElimination<B>;
  using Block = Eigen::Matrix<double, S, S>;
  using Value = Eigen::Matrix<double, S, 1>;
  /// By site: of one number at every stage.
  using Values = Eigen::Matrix<double, S, Eigen::Dynamic>;
  /// At the last `evaluate`. A row of places more in front is for the head, and one behind for the far end; springs are
  /// before every site, and one behind the last.
  struct Axis {
    Eigen::MatrixXd places;  // by site, then stage
    Values pull, stiffness, held, held_stiffness;
  };

  std::int64_t rows() const { return line_.count; }
  /// Numbers of all axes: unknowns are ordered by site, then axis, then stage.
  int row_size() const { return line_.axes * S; }
  int chains() const { return line_.axes / Strands; }
  bool is_last(std::int64_t j) const { return line_.at_far_end && j == rows() - 1; }
  bool is_shared(std::int64_t j) const { return Strands == 2 && line_.constants.shared == 1 && is_last(j); }
  double mass_of(int axis, std::int64_t j) const { return line_.site(line_.first_site() + j, line_.strand(axis)).mass; }
  template <class Number>
  auto own(Number* values, int axis, std::int64_t j) const {
    using Map = Eigen::Map<std::conditional_t<std::is_const_v<Number>, const Value, Value>>;
    return Map(values + j * row_size() + axis * S);
  }
  template <class Use>
  void for_each_site(Use use) const {
    for (int axis = 0; axis < line_.axes; ++axis) {
      for (std::int64_t j = 0; j < rows(); ++j) use(axis, j);
    }
  }
  const Axis& of(int axis) const { return axes_[static_cast<std::size_t>(axis)]; }
  /// On a site at every stage, where it has these velocities.
  Value force(int axis, std::int64_t j, const Value& velocity) const {
    Value force = of(axis).pull.col(j + 1) - of(axis).pull.col(j) - of(axis).held.col(j);
    // The spring before the second strand's copy of a shared site acts on it, too, in the other direction.
    if (is_shared(j)) force -= of(axis ^ 1).pull.col(j);
    if (is_last(j)) force -= line_.constants.dashpot * velocity;
    return force;
  }
  Block coupling(const Value& stiffness) const { return h_ * h_ * (a_hat_ * stiffness.asDiagonal() * a_); }
  typename Elimination::Row row_of(int chain, std::int64_t j) const;

  /// Of all sites at these velocities. @note Collective.
  void evaluate(const double* velocities, double* residual);
  /// The 2-norm of the round-off of the residual at the last `evaluate`, the same on every rank. @note Collective.
  double round_off() const;
  void linearise(const double* velocities) {
    evaluate(velocities, residual_.data());
    for (int chain = 0; chain < chains(); ++chain) {
      eliminations_[static_cast<std::size_t>(chain)].factor(line_.layout, line_.communicator,
                                                            [&](std::int64_t j) { return row_of(chain, j); });
    }
  }
  void add_entries(const SnesSolver::Add& add) const;
  /// Solves the linear system in place, where the head has these numbers.
  void eliminate(double* values, const Eigen::VectorXd& head) {
    for (int chain = 0; chain < chains(); ++chain)
      eliminations_[static_cast<std::size_t>(chain)].solve(values + chain * B, row_size(), head.segment<B>(chain * B));
  }
  /// Velocities change linearly with those of the head after the first response in a step.
  void set_head_velocities(const Eigen::MatrixXd& now) {
    if (head_velocities_.size() > 0) {
      residual_.setZero();
      eliminate(residual_.data(), (now - head_velocities_).reshaped());
      velocities_ += residual_;
    }
    head_velocities_ = now;
  }

  LineState& line_;
  const LineLaw& law_;
  double h_;
  Block a_, a_hat_;
  Value b_;
  Halo halo_;
  std::vector<Elimination> eliminations_;  // by chain
  std::vector<double> heads_;              // at the start of the step, by axis
  Eigen::MatrixXd head_velocities_;        // stages x axes; empty before the first response
  Eigen::VectorXd velocities_, residual_;
  std::vector<Axis> axes_;
  std::unique_ptr<SnesSolver> solver_;
};

template <int Strands, int S>
NonlinearResponse::NearVelocities Stages<Strands, S>::respond(const Eigen::MatrixXd& head_velocities) {
  set_head_velocities(head_velocities);
  evaluate(velocities_.data(), residual_.data());
  const SnesSolver::Report report =
      solver_->solve({velocities_.data(), static_cast<std::size_t>(velocities_.size())}, round_off());
  linearise(velocities_.data());
  NearVelocities response{report, Eigen::MatrixXd::Zero(S, line_.axes), Eigen::MatrixXd::Zero(row_size(), row_size())};
  for (int axis = 0; axis < line_.axes && line_.at_head(); ++axis) {
    response.forces.col(axis) = of(axis).pull.col(0);
    const int chain = axis / Strands;
    auto damping = response.damping.block<S, B>(axis * S, chain * B);
    damping.template middleCols<S>(axis % Strands * S).setIdentity();
    damping -= eliminations_[static_cast<std::size_t>(chain)].slope().template middleRows<S>(axis % Strands * S);
    damping = (of(axis).stiffness.col(0).asDiagonal() * (h_ * a_) * damping).eval();
  }
  return response;
}

template <int Strands, int S>
void Stages<Strands, S>::back_substitute(const Eigen::MatrixXd& head_velocities) {
  set_head_velocities(head_velocities);
  evaluate(velocities_.data(), residual_.data());
  for_each_site([&](int axis, std::int64_t j) {
    const Value velocity = own(velocities_.data(), axis, j);
    line_.own(line_.w[axis])[j] += h_ * b_.dot(velocity);
    line_.own(line_.p[axis])[j] += h_ * b_.dot(force(axis, j, velocity));
    if (is_last(j)) line_.dissipated[axis] += h_ * line_.constants.dashpot * b_.dot(velocity.cwiseAbs2());
  });
  // Both strands store a shared site.
  for (int axis = 0; axis < line_.axes && is_shared(rows() - 1); axis += 2) {
    for (auto* fields : {&line_.w, &line_.p})
      line_.own((*fields)[axis + 1])[rows() - 1] = line_.own((*fields)[axis])[rows() - 1];
  }
}

template <int Strands, int S>
void Stages<Strands, S>::evaluate(const double* velocities, double* residual) {
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
  for (int axis = 0; axis < line_.axes && rows() > 0; ++axis) {
    Axis& now = axes_[static_cast<std::size_t>(axis)];
    const double direction = line_.strand(axis) == 1 ? -1.0 : 1.0;
    const bool has_spring_behind =
        !line_.at_far_end || line_.constants.far_end == FarEnd::fixed || (Strands == 2 && !is_shared(rows() - 1));
    for (int i = 0; i < S; ++i) {
      auto place = now.places.col(i);
      if (line_.at_head())
        place[0] = heads_[static_cast<std::size_t>(axis)] + h_ * a_.row(i).dot(head_velocities_.col(axis));
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
  for_each_site([&](int axis, std::int64_t j) {
    const Value velocity = own(velocities, axis, j);
    const double mass = mass_of(axis, j);
    auto rest = own(residual, axis, j);
    if (is_shared(j) && line_.strand(axis) == 1) {
      rest = mass * (velocity - own(velocities, axis ^ 1, j));
    } else {
      rest = mass * velocity - Value::Constant(line_.own(line_.p[axis])[j]) - h_ * (a_hat_ * force(axis, j, velocity));
    }
  });
}

template <int Strands, int S>
double Stages<Strands, S>::round_off() const {
  double squares = 0.0, sum = 0.0;
  for_each_site([&](int axis, std::int64_t j) {
    // The round-off of places changes the forces.
    const double place = std::abs(line_.own(line_.w[axis])[j]), p = std::abs(line_.own(line_.p[axis])[j]);
    const Axis& at = of(axis);
    const Value stiffness = at.stiffness.col(j) + at.stiffness.col(j + 1) + at.held_stiffness.col(j);
    const double terms =
        p + h_ * (at.pull.col(j).norm() + at.pull.col(j + 1).norm() + at.held.col(j).norm() + place * stiffness.norm());
    squares += S * terms * terms;
  });
  for (const double part : line_.communicator.gather_all({&squares, 1})) sum += part;
  return 4.0 * std::numeric_limits<double>::epsilon() * std::sqrt(sum);
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
void Stages<Strands, S>::add_entries(const SnesSolver::Add& add) const {
  for (std::int64_t j = 0; j < rows(); ++j) {
    for (int chain = 0; chain < chains(); ++chain) {
      const std::int64_t site = line_.first_site() + j, row = site * row_size() + chain * B;
      const typename Elimination::Row entries = row_of(chain, j);
      for (int i = 0; i < B * B; ++i) {
        const std::int64_t column = row + i / B;
        add(row + i % B, column, entries.diagonal(i));
        if (site > 0) add(row + i % B, column - row_size(), -entries.before(i));
        if (!is_last(j)) add(row + i % B, column + row_size(), -entries.behind(i));
      }
    }
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
