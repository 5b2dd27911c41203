// A numerically exact solution of ordinary differential equations, by PETSc's TS.
#include "solve/reference_integrator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/petsc_handle.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

struct ReferenceIntegrator::State {
  RightHandSide right_hand_side;
  int size = 0;
  TsHandle ts;
  VecHandle x;
  double from = 0.0;
  double step = 0.0;  // proposed by the controller; 0 before the first call
};

ReferenceIntegrator::ReferenceIntegrator(int size, RightHandSide right_hand_side) : state_(std::make_unique<State>()) {
  PetscSession::start_if_deferred();
  State& s = *state_;
  s.right_hand_side = std::move(right_hand_side);
  s.size = size;
  petsc_check(VecCreateSeq(PETSC_COMM_SELF, size, s.x.out()));
  petsc_check(TSCreate(PETSC_COMM_SELF, s.ts.out()));
  petsc_check(TSSetOptionsPrefix(s.ts.get(), "reference_"));
  petsc_check(TSSetProblemType(s.ts.get(), TS_NONLINEAR));
  petsc_check(TSSetType(s.ts.get(), TSRK));
  petsc_check(TSRKSetType(s.ts.get(), TSRK8VR));
  petsc_check(TSSetRHSFunction(
      s.ts.get(), nullptr,
      [](TS, PetscReal t, Vec x, Vec f, void* context) -> PetscErrorCode {
        return petsc_callback([&] {
          auto& state = *static_cast<State*>(context);
          const PetscScalar* from = nullptr;
          PetscScalar* to = nullptr;
          petsc_check(VecGetArrayRead(x, &from));
          petsc_check(VecGetArray(f, &to));
          const auto size = static_cast<std::size_t>(state.size);
          state.right_hand_side(state.from + t, {from, size}, {to, size});
          petsc_check(VecRestoreArray(f, &to));
          petsc_check(VecRestoreArrayRead(x, &from));
        });
      },
      &s));
  petsc_check(TSSetTolerances(s.ts.get(), 1e-15, nullptr, 1e-13, nullptr));
  petsc_check(TSSetExactFinalTime(s.ts.get(), TS_EXACTFINALTIME_MATCHSTEP));
  petsc_check(TSSetMaxSteps(s.ts.get(), 100000000));
  petsc_check(TSSetErrorIfStepFails(s.ts.get(), PETSC_FALSE));
  petsc_check(TSSetFromOptions(s.ts.get()));
}

ReferenceIntegrator::~ReferenceIntegrator() = default;

double ReferenceIntegrator::step() const { return state_->step; }
void ReferenceIntegrator::set_step(double step) { state_->step = step; }

bool ReferenceIntegrator::advance(std::span<double> x, double from, double duration) {
  State& s = *state_;
  s.from = from;  // PETSc's time begins at zero, so that steps at late times are not rounded
  PetscScalar* values = nullptr;
  petsc_check(VecGetArray(s.x.get(), &values));
  std::copy(x.begin(), x.end(), values);
  petsc_check(VecRestoreArray(s.x.get(), &values));
  petsc_check(TSSetTime(s.ts.get(), 0.0));
  petsc_check(TSSetStepNumber(s.ts.get(), 0));
  petsc_check(TSSetMaxTime(s.ts.get(), duration));
  // A step too short to change the time would be repeated for ever, so that steps have a lower limit.
  TSAdapt adapt = nullptr;
  petsc_check(TSGetAdapt(s.ts.get(), &adapt));
  petsc_check(TSAdaptSetStepLimits(adapt, 4.0 * std::numeric_limits<double>::epsilon() * duration, duration));
  const double step = s.step > 0.0 ? std::min(s.step, duration) : duration / 16.0;
  petsc_check(TSSetTimeStep(s.ts.get(), step));
  petsc_check(TSSetConvergedReason(s.ts.get(), TS_CONVERGED_ITERATING));
  // Such as a norm that is not finite.
  if (!petsc_failure(TSSolve(s.ts.get(), s.x.get()), 1).empty()) return false;
  TSConvergedReason reason;
  petsc_check(TSGetConvergedReason(s.ts.get(), &reason));
  // The last step is shortened to end on time; the step before it is the controller's proposal.
  PetscReal last = 0.0;
  petsc_check(TSGetTimeStep(s.ts.get(), &last));
  s.step = std::max(last, s.step);
  petsc_check(VecGetArray(s.x.get(), &values));
  std::copy_n(values, s.size, x.begin());
  petsc_check(VecRestoreArray(s.x.get(), &values));
  return reason > 0 && std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace bathline
