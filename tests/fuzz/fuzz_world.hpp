// Start of MPI and PETSc, for one process, before the first input of a fuzz target.
#pragma once

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "builtin_catalogues.hpp"
#include "parallel/communicator.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

class FuzzWorld {
 public:
  enum class Petsc { started, left_to_runs };

  /// Called once, from LLVMFuzzerInitialize; the sessions end with the program.
  static void begin(Petsc petsc) {
    // Otherwise Open MPI handles the signals by which libFuzzer detects a crash.
    setenv("OMPI_MCA_opal_signal", "", 1);
    static const std::unique_ptr<FuzzWorld> world(new FuzzWorld(petsc));
    world_ = world.get();
    spdlog::set_level(spdlog::level::off);
  }
  static const Communicator& communicator() { return world_->session_.world(); }
  /// The program with its built-in catalogues; the first call takes a second.
  static const Program& program() {
    static const Program all(builtin_catalogues(), communicator());
    return all;
  }

 private:
  explicit FuzzWorld(Petsc petsc) {
    if (petsc == Petsc::started) {
      petsc_ = std::make_unique<PetscSession>(session_.world(), std::vector<std::string>{});
      petsc_->start();
    }
  }

  static inline const FuzzWorld* world_ = nullptr;
  MpiSession session_;
  std::unique_ptr<PetscSession> petsc_;
};

/// Aborts if the condition does not hold, which libFuzzer reports as a crash, with the input.
inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace bathline
