// Schemes as data: how they are put together and how far they reach.
#include "integrate/scheme.hpp"

namespace bathline {

int ExplicitScheme::reach(int steps) const {
  // A force carries the displacement of a neighbour over one site; a second force at the same positions does not carry
  // anything further.
  int reach = 0;
  bool moved = true;
  for (int step = 0; step < steps; ++step) {
    for (const Substep& substep : substeps) {
      if (substep.kind == Substep::Kind::drift) {
        moved = true;
      } else if (moved || substep.kind == Substep::Kind::stage) {
        ++reach;
        moved = false;
      }
    }
  }
  return reach;
}

ExplicitScheme splitting(std::vector<Substep> substeps) { return {std::move(substeps), {}, {}}; }

ExplicitScheme runge_kutta(std::vector<std::vector<double>> a, std::vector<double> b) {
  ExplicitScheme scheme;
  for (int stage = 0; stage < static_cast<int>(b.size()); ++stage) {
    scheme.substeps.push_back({Substep::Kind::stage, b[stage], false, stage});
  }
  scheme.a = std::move(a);
  scheme.b = std::move(b);
  return scheme;
}

}  // namespace bathline
