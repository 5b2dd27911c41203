// The stages of particles and nonlinear lines in one system, solved by PETSc's SNES.
//
// Rank 0 has the unknowns of the particles before those of its sites. With x_0 = C V for the head of a chain and
// G = h^2 A^ F'_0 A for the spring to it, the linear system is, besides the rows of the chain,
//
//   J_PP V - C^T G x_1 = r_P,   x_1 = constant + slope x_0:   (J_PP - C^T G slope C) V = r_P + C^T G constant
//
// Tested by tests/model/line/nonlinear_line_test.cpp.
#include "steppers/joint_stages.hpp"

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <utility>

#include "solve/snes_solver.hpp"

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class SnesJointStages final : public JointStages {
 public:
  SnesJointStages(const PartitionedRungeKutta& scheme, const Problem& problem, double h, ParticleStages* particles,
                  std::vector<JoinedLine> lines)
      : problem_(problem),
        h_(h),
        a_(scheme.a),
        a_hat_(scheme.a_hat),
        stages_(scheme.stages()),
        n_(problem.q.size()),
        unknowns_(n_ * scheme.stages()),
        particles_(particles),
        lines_(std::move(lines)),
        velocities_(VectorXd::Zero(unknowns_)),
        residual_(velocities_),
        jacobian_(MatrixXd::Zero(unknowns_, unknowns_)) {
    for (const JoinedLine& line : lines_) {
      for (int chain = 0; chain < line.stages->chains(); ++chain) heads_.push_back(head_of(line, chain));
      head_velocities_.push_back(MatrixXd::Zero(stages_, line.attachment->axes()));
    }
    x_.resize(static_cast<std::size_t>(offset(lines_.size())));
    solver_ = std::make_unique<SnesSolver>(
        static_cast<std::int64_t>(x_.size()),
        SnesSolver::Equations{.residual = [this](const double* x, double* r) { evaluate(x, r); },
                              .linearise = [this](const double* x) { linearise(x); },
                              .entries = [this](const SnesSolver::Add& add) { add_entries(add); },
                              .eliminate = [this](double* values) { eliminate(values); }},
        problem.communicator());
  }

  SnesSolver::Report step(const StageForces& environment_forces, VectorXd& velocities) override {
    given_ = &environment_forces;
    if (particles_ != nullptr) {
      particles_->begin(environment_forces, velocities_);
      std::copy(velocities_.begin(), velocities_.end(), x_.begin());
    }
    for (std::size_t line = 0; line < lines_.size(); ++line) lines_[line].stages->guess(x_.data() + offset(line));
    std::vector<double> residual(x_.size());
    evaluate(x_.data(), residual.data());
    SnesSolver::Report report = solver_->solve(x_, round_off());
    evaluate(x_.data(), residual.data());
    if (particles_ != nullptr) particles_->finish(report, velocities);
    return report;
  }

 private:
  int rank() const { return problem_.communicator().rank(); }
  // Places of unknowns, counted over all ranks.
  std::int64_t numbers_of(std::size_t line, std::int64_t sites) const {
    return sites * lines_[line].stages->chains() * lines_[line].stages->block();
  }
  std::int64_t place_of_rank(int rank) const {
    std::int64_t place = rank > 0 ? unknowns_ : 0;
    for (std::size_t line = 0; line < lines_.size(); ++line)
      place += numbers_of(line, lines_[line].stages->layout().first(rank));
    return place;
  }
  std::int64_t place(std::size_t line, int rank, int chain, std::int64_t site) const {
    std::int64_t place = place_of_rank(rank) + (rank == 0 ? unknowns_ : 0);
    for (std::size_t before = 0; before < line; ++before)
      place += numbers_of(before, lines_[before].stages->layout().count(rank));
    if (line == lines_.size()) return place;
    const NonlinearStages& stages = *lines_[line].stages;
    return place + (chain * stages.layout().count(rank) + site) * stages.block();
  }
  /// Among the numbers of this rank.
  std::int64_t offset(std::size_t line, int chain = 0) const {
    return place(line, rank(), chain, 0) - place_of_rank(rank());
  }
  /// C of a chain: the numbers of its head from the stage velocities of the particles.
  MatrixXd head_of(const JoinedLine& line, int chain) const {
    MatrixXd head = MatrixXd::Zero(line.stages->block(), unknowns_);
    const int strands = line.stages->block() / stages_;
    for (const Attachment::Term& term : line.attachment->terms()) {
      if (term.axis / strands != chain) continue;
      for (Index i = 0; i < stages_; ++i)
        head(term.axis % strands * stages_ + i, i * n_ + term.coordinate) += term.weight;
    }
    return head;
  }
  /// use(line, chain, its number among all chains).
  template <class Use>
  void for_each_chain(Use use) const {
    std::size_t number = 0;
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      for (int chain = 0; chain < lines_[line].stages->chains(); ++chain) use(line, chain, number++);
    }
  }
  /// G of the springs to the head of a chain. Rank 0 only.
  MatrixXd first_springs(std::size_t line, int chain) const {
    const NonlinearStages& stages = *lines_[line].stages;
    const int strands = stages.block() / stages_;
    MatrixXd springs = MatrixXd::Zero(stages.block(), stages.block());
    for (int strand = 0; strand < strands; ++strand) {
      springs.block(strand * stages_, strand * stages_, stages_, stages_) =
          h_ * h_ * a_hat_ * stages.head_stiffness().col(chain * strands + strand).asDiagonal() * a_;
    }
    return springs;
  }

  void evaluate(const double* x, double* residual) {
    if (particles_ != nullptr) velocities_ = Eigen::Map<const VectorXd>(x, unknowns_);
    problem_.communicator().broadcast(std::span<double>(velocities_.data(), static_cast<std::size_t>(unknowns_)));
    if (particles_ != nullptr) forces_ = *given_;
    std::vector<double> head;
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      const Attachment& attachment = *lines_[line].attachment;
      head.resize(static_cast<std::size_t>(attachment.axes()));
      for (Index i = 0; i < stages_; ++i) {
        attachment.project(velocities_.segment(i * n_, n_), head);
        for (Index axis = 0; axis < attachment.axes(); ++axis)
          head_velocities_[line](i, axis) = head[static_cast<std::size_t>(axis)];
      }
      NonlinearStages& stages = *lines_[line].stages;
      stages.evaluate(head_velocities_[line], x + offset(line), residual + offset(line));
      for (Index i = 0; i < stages_ && particles_ != nullptr; ++i) {
        for (Index axis = 0; axis < attachment.axes(); ++axis)
          head[static_cast<std::size_t>(axis)] = stages.head_forces()(i, axis);
        attachment.distribute(head, forces_.constant.segment(i * n_, n_));
      }
    }
    if (particles_ == nullptr) return;
    particles_->residual(forces_, velocities_, residual_);
    std::copy(residual_.begin(), residual_.end(), residual);
  }

  /// The 2-norm of the round-off of all residuals, the same on every rank.
  double round_off() const {
    double squares = 0.0;
    for (const JoinedLine& line : lines_) squares += line.stages->squared_scale();
    if (particles_ != nullptr) {
      const VectorXd momenta = problem_.p.cwiseAbs();
      squares += stages_ * momenta.squaredNorm() + h_ * h_ * forces_.constant.squaredNorm();
    }
    double sum = 0.0;
    for (const double part : problem_.communicator().gather_all(std::span<const double>(&squares, 1))) sum += part;
    return 4.0 * std::numeric_limits<double>::epsilon() * std::sqrt(sum);
  }

  void linearise(const double* x) {
    std::vector<double> residual(x_.size());
    evaluate(x, residual.data());
    for (const JoinedLine& line : lines_) line.stages->linearise();
    schur_.setZero(unknowns_, unknowns_);
    if (particles_ != nullptr) {
      particles_->matrix(jacobian_);
      for_each_chain([&](std::size_t line, int chain, std::size_t number) {
        jacobian_ += heads_[number].transpose() * first_springs(line, chain) * heads_[number];
      });
      schur_ = jacobian_;
    }
    is_factored_ = false;
  }

  void add_entries(const SnesSolver::Add& add) const {
    for (Index i = 0; i < unknowns_ && particles_ != nullptr; ++i) {
      for (Index j = 0; j < unknowns_; ++j) add(i, j, jacobian_(i, j));
    }
    for_each_chain([&](std::size_t line, int chain, std::size_t number) {
      const NonlinearStages& stages = *lines_[line].stages;
      const Layout& layout = stages.layout();
      const int here = rank(), block = stages.block();
      const auto add_block = [&](std::int64_t row, std::int64_t column, double sign, const MatrixXd& values) {
        for (Index i = 0; i < values.rows(); ++i) {
          for (Index j = 0; j < values.cols(); ++j) add(row + i, column + j, sign * values(i, j));
        }
      };
      const std::int64_t count = layout.count(here);
      for (std::int64_t site = 0; site < count; ++site) {
        const NonlinearStages::Row entries = stages.row(chain, site);
        const std::int64_t row = place(line, here, chain, site);
        add_block(row, row, 1.0, entries.diagonal);
        if (site > 0) {
          add_block(row, row - block, -1.0, entries.before);
        } else if (here > 0) {
          add_block(row, place(line, here - 1, chain, layout.count(here - 1) - 1), -1.0, entries.before);
        } else {
          add_block(row, 0, -1.0, entries.before * heads_[number]);
          add_block(0, row, -1.0, heads_[number].transpose() * first_springs(line, chain));
        }
        if (site + 1 < count) {
          add_block(row, row + block, -1.0, entries.behind);
        } else if (here + 1 < layout.active_ranks()) {
          add_block(row, place(line, here + 1, chain, 0), -1.0, entries.behind);
        }
      }
    });
  }

  void eliminate(double* values) {
    const auto of_chain = [&](std::size_t line, int chain) { return values + offset(line, chain); };
    VectorXd right = VectorXd::Zero(unknowns_);
    if (particles_ != nullptr) right = Eigen::Map<const VectorXd>(values, unknowns_);
    for_each_chain([&](std::size_t line, int chain, std::size_t number) {
      const HeadRelation& relation = lines_[line].stages->eliminate(chain, of_chain(line, chain));
      if (particles_ == nullptr) return;
      const MatrixXd pulls = heads_[number].transpose() * first_springs(line, chain);
      right += pulls * relation.constant.col(0);
      if (!is_factored_) schur_ -= pulls * relation.slope * heads_[number];
    });
    if (particles_ != nullptr) {
      if (!is_factored_) factors_.compute(schur_);
      right = factors_.solve(right);
      std::copy(right.begin(), right.end(), values);
    }
    is_factored_ = true;
    problem_.communicator().broadcast(std::span<double>(right.data(), static_cast<std::size_t>(unknowns_)));
    for_each_chain([&](std::size_t line, int chain, std::size_t number) {
      lines_[line].stages->substitute(chain, of_chain(line, chain), heads_[number] * right);
    });
  }

  const Problem& problem_;
  double h_;
  MatrixXd a_, a_hat_;
  int stages_;
  Index n_, unknowns_;  // of the particles
  ParticleStages* particles_;
  std::vector<JoinedLine> lines_;
  std::vector<MatrixXd> heads_;            // C, by chain
  std::vector<MatrixXd> head_velocities_;  // by line, stages x axes
  const StageForces* given_ = nullptr;     // of the other environments
  StageForces forces_;
  std::vector<double> x_;  // this rank's unknowns
  VectorXd velocities_, residual_;
  MatrixXd jacobian_, schur_;
  Eigen::PartialPivLU<MatrixXd> factors_;
  bool is_factored_ = false;
  std::unique_ptr<SnesSolver> solver_;
};

}  // namespace

std::unique_ptr<JointStages> make_joint_stages(const PartitionedRungeKutta& scheme, const Problem& problem, double h,
                                               ParticleStages* particles, std::vector<JoinedLine> lines) {
  return std::make_unique<SnesJointStages>(scheme, problem, h, particles, std::move(lines));
}

}  // namespace bathline
