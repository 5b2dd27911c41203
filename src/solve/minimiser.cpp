// TAO's only home.
#include "solve/minimiser.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <petsctao.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "recipe/mistakes.hpp"
#include "solve/petsc_handle.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

namespace {

using Eigen::VectorXd;
using TaoHandle = PetscHandle<Tao, TaoDestroy>;

/// PETSc's options while the object lives: those of the user, and these where the user gives none.
class DefaultOptions {
 public:
  explicit DefaultOptions(const std::vector<std::pair<const char*, const char*>>& defaults) {
    for (const auto& [name, value] : defaults) {
      PetscBool is_given = PETSC_FALSE;
      petsc_check(PetscOptionsHasName(nullptr, nullptr, name, &is_given));
      if (is_given) continue;
      petsc_check(PetscOptionsSetValue(nullptr, name, value));
      added_.push_back(name);
    }
  }
  ~DefaultOptions() {
    for (const char* name : added_) PetscOptionsClearValue(nullptr, name);
  }
  DefaultOptions(const DefaultOptions&) = delete;
  DefaultOptions& operator=(const DefaultOptions&) = delete;

 private:
  std::vector<const char*> added_;
};

VectorXd values_of(Vec from) {
  PetscInt size = 0;
  const PetscScalar* values = nullptr;
  petsc_check(VecGetLocalSize(from, &size));
  petsc_check(VecGetArrayRead(from, &values));
  VectorXd to = Eigen::Map<const VectorXd>(values, size);
  petsc_check(VecRestoreArrayRead(from, &values));
  return to;
}

void store(const VectorXd& from, Vec to) {
  PetscScalar* values = nullptr;
  petsc_check(VecGetArrayWrite(to, &values));
  Eigen::Map<VectorXd>(values, from.size()) = from;
  petsc_check(VecRestoreArrayWrite(to, &values));
}

VecHandle make_vector(const VectorXd& values) {
  VecHandle vector;
  petsc_check(VecCreateSeq(PETSC_COMM_SELF, values.size(), vector.out()));
  store(values, vector.get());
  return vector;
}

/// A solver of TAO with its options, and what both kinds of problems have in common.
class Search {
 public:
  Search(const VectorXd& start, const Bounds& bounds, const SearchLimits& limits, const SearchProgress& progress)
      : limits_(limits), progress_(progress) {
    PetscSession::start_if_deferred();
    petsc_check(TaoCreate(PETSC_COMM_SELF, tao_.out()));
    x_ = make_vector(start);
    petsc_check(TaoSetSolution(tao(), x_.get()));
    if (bounds.lower.size() == 0) return;
    lower_ = make_vector(bounds.lower.cwiseMax(PETSC_NINFINITY));
    upper_ = make_vector(bounds.upper.cwiseMin(PETSC_INFINITY));
    petsc_check(TaoSetVariableBounds(tao(), lower_.get(), upper_.get()));
  }

  Tao tao() const { return tao_.get(); }

 protected:
  /// Reads PETSc's options, with those of `defaults` that the user does not give. The first of `types` is the default;
  /// any other is refused.
  void read_options(const std::vector<std::string>& types,
                    const std::vector<std::pair<const char*, const char*>>& defaults) {
    petsc_check(TaoSetType(tao(), types.front().c_str()));
    petsc_check(TaoSetTolerances(tao(), limits_.residual, 0.0, 0.0));
    petsc_check(TaoSetMaximumFunctionEvaluations(tao(), limits_.evaluations));
    petsc_check(TaoSetMaximumIterations(tao(), limits_.evaluations));
    const DefaultOptions scope(defaults);
    petsc_check(TaoSetFromOptions(tao()));
    const char* type = nullptr;
    petsc_check(TaoGetType(tao(), &type));
    if (std::find(types.begin(), types.end(), type) == types.end()) {
      throw UsageError(fmt::format("PETSc's option `-tao_type {}`: of TAO's methods this search takes {}", type,
                                   fmt::join(types, ", ")));
    }
    // From one mu to the next `blmvm` keeps its matrix; `bncg` would not evaluate the function at a new start.
    if (type == std::string(TAOBLMVM)) petsc_check(TaoSetRecycleHistory(tao(), PETSC_TRUE));
    PetscInt evaluations = 0, iterations = 0;
    petsc_check(TaoGetTolerances(tao(), &limits_.residual, nullptr, nullptr));
    petsc_check(TaoGetMaximumFunctionEvaluations(tao(), &evaluations));
    petsc_check(TaoGetMaximumIterations(tao(), &iterations));
    limits_.evaluations = static_cast<int>(evaluations);
    max_iterations_ = static_cast<int>(iterations);
    petsc_check(TaoSetConvergenceTest(
        iterating(),
        [](Tao tao, void* search) -> PetscErrorCode {
          return petsc_callback([&] {
            static_cast<Search*>(search)->report_progress();
            petsc_check(TaoDefaultConvergenceTest(tao, nullptr));
          });
        },
        this));
  }

  /// One solve; the state of the search is in `report_` afterwards, and TAO's reason returned.
  TaoConvergedReason solve() {
    const int before = report_.iterations;
    petsc_check(TaoSetMaximumIterations(tao(), std::max(max_iterations_ - before, 0)));
    petsc_check(TaoSetMaximumFunctionEvaluations(tao(), std::max(limits_.evaluations - report_.evaluations, 0)));
    iterations_before_ = before;
    const std::string failure = petsc_failure(TaoSolve(tao()), 1);
    const TaoConvergedReason reason = read_status();
    report_.reason = failure.empty() ? TaoConvergedReasons[reason] : failure;
    return reason;
  }

  /// Whether a limit of the user ended the search.
  static bool is_final(TaoConvergedReason reason) {
    return reason == TAO_DIVERGED_USER || reason == TAO_DIVERGED_MAXITS || reason == TAO_DIVERGED_MAXFCN;
  }

  SearchReport report_;
  SearchLimits limits_;

 private:
  TaoConvergedReason read_status() {
    PetscInt iterations = 0;
    TaoConvergedReason reason;
    petsc_check(TaoGetSolutionStatus(iterating(), &iterations, nullptr, &report_.residual, nullptr, nullptr, &reason));
    report_.iterations = iterations_before_ + static_cast<int>(iterations);
    report_.point.x = values_of(x_.get());
    at_iterate();
    return reason;
  }

  /// After every iteration and at the start of the first.
  void report_progress() {
    read_status();
    if (progress_ && std::exchange(reported_, report_.iterations) != report_.iterations) progress_(report_);
  }

  /// The solver that iterates.
  virtual Tao iterating() const { return tao(); }
  /// Completes `report_` by the function at the iterate.
  virtual void at_iterate() = 0;

  SearchProgress progress_;
  TaoHandle tao_;
  VecHandle x_, lower_, upper_;
  int max_iterations_ = 0, iterations_before_ = 0, reported_ = -1;
};

class AugmentedLagrangian final : public Search {
 public:
  AugmentedLagrangian(ConstrainedFunction& function, const SearchPoint& start, const Bounds& bounds,
                      const SearchLimits& limits, const SearchProgress& progress)
      : Search(start.x, bounds, limits, progress), function_(function), constraints_(start.multipliers) {
    report_.point = start;
    petsc_check(TaoSetObjectiveAndGradient(
        tao(), nullptr,
        [](Tao, Vec x, PetscReal* value, Vec gradient, void* context) -> PetscErrorCode {
          return petsc_callback([&] {
            auto& self = *static_cast<AugmentedLagrangian*>(context);
            *value = self.evaluate(values_of(x), gradient);
          });
        },
        this));
    // These need gradients alone and keep bounds.
    read_options({TAOBLMVM, TAOBNCG, TAOBQNLS, TAOBQNKLS, TAOBQNKTR, TAOBQNKTL},
                 {{"-tao_blmvm_mat_lmvm_scale_type", "scalar"}, {"-tao_blmvm_mat_lmvm_hist_size", "20"}});
  }

  SearchReport run() {
    SearchPoint& point = report_.point;
    const bool is_free = point.multipliers.size() == 0;
    // Early problems need not be solved further than their constraints are met.
    double last = std::numeric_limits<double>::infinity(), residual = is_free ? 0.0 : 1e-2;
    while (true) {
      residual = std::max(residual, limits_.residual);
      petsc_check(TaoSetTolerances(tao(), residual, 0.0, 0.0));
      const TaoConvergedReason reason = solve();
      if (report_.evaluations == 1 && !std::isfinite(value_)) break;
      point.multipliers += point.penalty * constraints_;
      report_.converged = report_.residual <= limits_.residual && report_.infeasibility <= limits_.infeasibility;
      const bool is_stuck = (reason < 0 || point.penalty > 1e12) && report_.infeasibility > 0.5 * last;
      if (report_.converged || is_free || is_final(reason) || is_stuck) break;
      if (report_.infeasibility > 0.25 * last) point.penalty *= 10.0;
      last = report_.infeasibility;
      residual *= 0.1;
    }
    return report_;
  }

 private:
  double evaluate(const VectorXd& x, Vec gradient) {
    evaluate(x);
    const SearchPoint& point = report_.point;
    const double sum = value_ + constraints_.dot(point.multipliers + 0.5 * point.penalty * constraints_);
    VectorXd slopes = VectorXd::Zero(x.size());
    if (std::isfinite(sum)) function_.gradient(point.multipliers + point.penalty * constraints_, slopes);
    store(slopes, gradient);
    return std::isfinite(sum) ? sum : std::numeric_limits<double>::infinity();
  }

  void evaluate(const VectorXd& x) {
    if (at_.size() == x.size() && at_ == x) return;
    at_ = x;
    ++report_.evaluations;
    value_ = function_.value(x, constraints_);
  }

  void at_iterate() override {
    evaluate(report_.point.x);  // the last evaluation already, unless a line search failed
    report_.value = value_;
    if (constraints_.size() > 0) report_.infeasibility = constraints_.lpNorm<Eigen::Infinity>();
  }

  ConstrainedFunction& function_;
  VectorXd at_;
  double value_ = 0.0;    // there
  VectorXd constraints_;  // there
};

class LeastSquares final : public Search {
 public:
  LeastSquares(const Residuals& function, int residuals, const VectorXd& start, const Bounds& bounds,
               const SearchLimits& limits, const SearchProgress& progress)
      : Search(start, bounds, limits, progress), function_(function) {
    report_.point.x = start;
    residuals_.setZero(residuals);
    slopes_.setZero(residuals, start.size());
    vector_ = make_vector(residuals_);
    petsc_check(MatCreateSeqDense(PETSC_COMM_SELF, residuals, start.size(), nullptr, matrix_.out()));
    petsc_check(TaoSetResidualRoutine(
        tao(), vector_.get(),
        [](Tao, Vec x, Vec values, void* context) -> PetscErrorCode {
          return petsc_callback([&] { static_cast<LeastSquares*>(context)->evaluate(values_of(x), values, nullptr); });
        },
        this));
    petsc_check(TaoSetJacobianResidualRoutine(
        tao(), matrix_.get(), matrix_.get(),
        [](Tao, Vec x, Mat matrix, Mat, void* context) -> PetscErrorCode {
          return petsc_callback([&] { static_cast<LeastSquares*>(context)->evaluate(values_of(x), nullptr, matrix); });
        },
        this));
    // Without a line search TAO accepts steps uphill.
    read_options({TAOBRGN},
                 {{"-tao_brgn_regularization_type", "lm"}, {"-tao_brgn_subsolver_tao_ls_type", "more-thuente"}});
  }

  SearchReport run() {
    report_.converged = solve() > 0;
    return report_;
  }

 private:
  void evaluate(const VectorXd& x, Vec values, Mat matrix) {
    evaluate(x);
    if (values != nullptr) return store(residuals_, values);
    PetscScalar* entries = nullptr;
    petsc_check(MatDenseGetArrayWrite(matrix, &entries));
    Eigen::Map<Eigen::MatrixXd>(entries, slopes_.rows(), slopes_.cols()) = slopes_;
    petsc_check(MatDenseRestoreArrayWrite(matrix, &entries));
    petsc_check(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    petsc_check(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  }

  /// TAO asks for residuals and Jacobian one after the other, which are evaluated together.
  void evaluate(const VectorXd& x) {
    if (at_.size() == x.size() && at_ == x) return;
    at_ = x;
    ++report_.evaluations;
    if (function_(x, residuals_, slopes_) && residuals_.allFinite() && slopes_.allFinite()) return;
    residuals_.setConstant(std::numeric_limits<double>::infinity());
    slopes_.setZero();
  }

  Tao iterating() const override {
    Tao subsolver = nullptr;
    petsc_check(TaoBRGNGetSubsolver(tao(), &subsolver));
    return subsolver;
  }

  void at_iterate() override {
    evaluate(report_.point.x);
    report_.value = 0.5 * residuals_.squaredNorm();
  }

  Residuals function_;
  VecHandle vector_;
  MatHandle matrix_;
  VectorXd at_, residuals_;
  Eigen::MatrixXd slopes_;  // there
};

}  // namespace

SearchReport minimise(ConstrainedFunction& function, SearchPoint start, const Bounds& bounds,
                      const SearchLimits& limits, const SearchProgress& progress) {
  return AugmentedLagrangian(function, start, bounds, limits, progress).run();
}

SearchReport least_squares(const Residuals& function, int residuals, VectorXd start, const Bounds& bounds,
                           const SearchLimits& limits, const SearchProgress& progress) {
  return LeastSquares(function, residuals, start, bounds, limits, progress).run();
}

namespace {

/// Throws UsageError unless `make` makes a search with PETSc's options, some of whose values PETSc alone knows.
template <class Make>
void check_options(Make make) {
  if (!PetscSession::runs()) return;
  try {
    make();
  } catch (const SolverError& error) {
    throw UsageError(fmt::format("invalid solver options: {}", error.what()));
  }
}

}  // namespace

void check_minimiser_options() {
  struct Zero final : ConstrainedFunction {
    double value(const VectorXd&, VectorXd&) override { return 0.0; }
    void gradient(const VectorXd&, VectorXd&) override {}
  } zero;
  check_options([&] { AugmentedLagrangian(zero, {.x = VectorXd::Zero(1)}, {}, {}, nullptr); });
}

void check_least_squares_options() {
  const auto zero = [](const VectorXd&, VectorXd&, Eigen::MatrixXd&) { return true; };
  check_options([&] { LeastSquares(zero, 1, VectorXd::Zero(1), {}, {}, nullptr); });
}

void query_minimiser_options() {
  // A study searches in one way or in none.
  try {
    check_minimiser_options();
  } catch (const UsageError&) {
    return check_least_squares_options();
  }
  try {
    check_least_squares_options();
  } catch (const UsageError&) {
  }
}

}  // namespace bathline
