// Any texts, separated by NUL, as arguments of `--set`, applied to a recipe that has every section.
#include "reading.hpp"

namespace {

constexpr const char* recipe = R"(
title = "Two particles"
[system]
kind = "pair-potential"
masses = [1.0, 2.0]
potential = { kind = "quartic", k = 4.0, beta = 3.0 }
q0 = [0.0, 1.0]
v0 = [0.5, 0.0]
[[environments]]
name = "line"
kind = "spring-mass-line"
attach = 0
sites = 20
grid = "characteristic"
damping = 0.4
[[environments]]
kind = "heat-bath"
attach = 1
oscillators = 8
damping = 0.1
omega_max = 5.0
[time]
step = 0.05
steps = 10
[[integrators]]
method = "gamma"
gamma = 0.5
on = "closed"
name = "closed"
[output]
every = 2
[sweep]
time.step = [0.05, 0.025]
[[claims]]
name = "energy"
quantity = "closed.energy_total.last"
bounds = [0.0, 10.0]
)";

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  bathline::FuzzWorld::begin(bathline::FuzzWorld::Petsc::started);
  bathline::FuzzWorld::program();  // outside the time of the first input
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> settings{""};
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == 0) {
      settings.emplace_back();
    } else {
      settings.back() += static_cast<char>(data[i]);
    }
  }
  bathline::read_and_validate(recipe, settings);
  return 0;
}
