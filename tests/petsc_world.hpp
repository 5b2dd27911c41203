// PETSc for the whole of a test program that includes this header: started before the first test and finished after
// the last, while message passing still runs.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "solve/petsc_session.hpp"
#include "test_world.hpp"

namespace bathline {

class PetscWorld : public testing::Environment {
 public:
  void SetUp() override {
    session_ = std::make_unique<PetscSession>(test_world(), std::vector<std::string>{});
    PetscSession::start(test_world());
  }
  void TearDown() override { session_.reset(); }
  const PetscSession& session() const { return *session_; }

 private:
  std::unique_ptr<PetscSession> session_;
};

/// GoogleTest owns it; one per program however many files include this header.
inline PetscWorld* const petsc_world = [] {
  auto* world = new PetscWorld;
  testing::AddGlobalTestEnvironment(world);
  return world;
}();

}  // namespace bathline
