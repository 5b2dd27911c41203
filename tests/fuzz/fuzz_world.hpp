// What every fuzz target starts before its first input: message passing and PETSc, for one process.
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

  /// Once, from LLVMFuzzerInitialize. Ends at the exit of the program.
  static void begin(Petsc petsc) {
    // Else OpenMPI would take the signals by which libFuzzer notices a crash.
    setenv("OMPI_MCA_opal_signal", "", 1);
    static const std::unique_ptr<FuzzWorld> world(new FuzzWorld(petsc));
    world_ = world.get();
    spdlog::set_level(spdlog::level::off);
  }
  static const Communicator& communicator() { return world_->session_.world(); }
  /// All that the program brings along; the first call takes a second.
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

/// Ends the program in a way that libFuzzer takes for a crash, and keeps the input of.
inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace bathline
