// Collocation methods: Gauss, and the pair Lobatto IIIA-IIIB.
//
//   Q_i = q + h sum_j a_ij V_j,  M V_i = p + h sum_j a^_ij f(Q_j, V_j),  q+ = q + h sum_i b_i V_i,
//   p+ = p + h sum_i b_i F_i
//
// Source: hairer2006, sections II.1.3 and II.2.2; martin2018, section 7 and marsden2001, section 2.6 for the pair as
// the variational integrator of a polynomial path on Lobatto nodes, forces included. Gauss: a^ = a, order 2s,
// symplectic, symmetric, conserves all quadratic invariants. Lobatto: a of IIIA, a^ of IIIB, order 2s - 2, symplectic,
// symmetric; s = 2 is the Stoermer-Verlet method. The orders hold on damped systems as well.
// Tested by tests/properties/order_test.cpp.
#include <limits>
#include <map>

#include "methods/catalogue.hpp"
#include "methods/stability_boundary.hpp"
#include "methods/tableau.hpp"
#include "solve/dense.hpp"

namespace bathline {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

PartitionedRungeKutta gauss(int stages) {
  const Eigen::VectorXd nodes = gauss_nodes(stages);
  const Eigen::MatrixXd a = collocation_matrix(nodes);
  return {.a = a, .a_hat = a, .b = collocation_weights(nodes)};
}

PartitionedRungeKutta lobatto(int stages) {
  const Eigen::VectorXd nodes = lobatto_nodes(stages);
  const Eigen::MatrixXd a = collocation_matrix(nodes);
  const Eigen::VectorXd b = collocation_weights(nodes);
  return {.a = a, .a_hat = symplectic_partner(a, b), .b = b};
}

/// Whether a step of size x grows on q' = p, p' = -q. The step matrix [a b; c d] of a symmetric method has a = d, and
/// its eigenvalues leave the unit circle where a^2 - 1 = b c is positive.
bool grows(const PartitionedRungeKutta& s, double x) {
  const Eigen::Index n = s.b.size();
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(n);
  const Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(n, n) + x * x * s.a_hat * s.a;
  const Lu solver(matrix);
  // Stage momenta for q = 0, p = 1 and for q = 1, p = 0.
  const Eigen::VectorXd from_p = solver.solve(ones), from_q = solver.solve(Eigen::VectorXd(-x * s.a_hat * ones));
  const double b = x * s.b.dot(from_p);
  const double c = -x * s.b.dot(ones + x * s.a * from_q);
  return b * c > 0.0;
}

int stages_of(const Section& options) { return static_cast<int>(options.integer("stages")); }

MethodProperties common() {
  MethodProperties result;
  result.symplectic = true;
  result.time_reversible = true;
  result.angular_momentum = true;
  result.real_axis_limit = infinity;
  return result;
}

MethodProperties gauss_properties(const Section& options) {
  MethodProperties result = common();
  result.order = 2 * stages_of(options);
  result.quadratic_invariants = true;
  result.imaginary_axis_limit = infinity;
  return result;
}

/// The lowest h omega above which oscillations grow. The search takes a tenth of a second, and every check of a case
/// asks for it.
double lobatto_limit(int stages) {
  static std::map<int, double> known;
  const auto [entry, is_new] = known.try_emplace(stages);
  if (is_new) {
    const PartitionedRungeKutta scheme = lobatto(stages);
    entry->second = find_stability_boundary([&](double x) { return grows(scheme, x); }, 1e-4, 100.0);
  }
  return entry->second;
}

MethodProperties lobatto_properties(const Section& options) {
  MethodProperties result = common();
  result.order = 2 * stages_of(options) - 2;
  result.imaginary_axis_limit = lobatto_limit(stages_of(options));
  return result;
}

/// The undamped stages between two half steps of the exact flow of damping and noise.
Scheme with_ou_outside(PartitionedRungeKutta scheme) {
  scheme.ou_outside = true;
  return scheme;
}
Scheme langevin_gauss(const Section& options) {
  const PartitionedRungeKutta scheme = gauss(stages_of(options));
  return scheme.stages() == 1 ? Scheme(scheme) : with_ou_outside(scheme);
}
Scheme langevin_lobatto(const Section& options) { return with_ou_outside(lobatto(stages_of(options))); }

const char* const notes =
    "Implicit: Newton's method for the stage velocities of the particles after the environments are eliminated, lines "
    "by a direct solver or, with -ksp_type and -pc_type, by one of PETSc's. ";

}  // namespace

Method gauss_method() {
  return {{.name = "gauss",
           .summary = "Gauss collocation: implicit, symplectic, symmetric, order 2 s",
           .equation = "Q_i = q + h sum_j a_ij V_j,  M V_i = p + h sum_j a_ij f(Q_j, V_j)\n"
                       "q+ = q + h sum_i b_i V_i,  p+ = p + h sum_i b_i f(Q_i, V_i)",
           .source = "hairer2006, section II.1.3",
           .aliases = {{"midpoint", {{"stages", "1"}}}, {"implicit-midpoint", {{"stages", "1"}}}},
           .keywords = {"gauss-legendre", "collocation", "implicit runge-kutta"},
           .parameters = {{.name = "stages",
                           .type = ValueType::integer,
                           .doc = "number of stages s; 1 is the midpoint rule",
                           .default_value = "2",
                           .choices = {"1", "2", "3", "4"}}},
           .notes = notes + std::string("Keeps its order on damped systems.")},
          [](const Section& options) { return Scheme(gauss(stages_of(options))); },
          gauss_properties,
          Method::Domain::mechanical,
          {},
          {.takes_noise = true,
           .statement = "applies damping and noise by the exact flow of p' = -C v + noise over h/2 before and after "
                        "its stages, which are then undamped: the Gibbs distribution is exact for a harmonic potential "
                        "and has an error of order 2 s for others. With one stage the damping stays in the stage, with "
                        "one impulse of covariance 2 h kT C, and harmonic potentials are as exact",
           .scheme = langevin_gauss}};
}

Method lobatto_method() {
  return {
      {.name = "lobatto",
       .summary = "Lobatto IIIA-IIIB pair: implicit, variational, symplectic, symmetric, order 2 s - 2",
       .equation = "Q_i = q + h sum_j a_ij V_j,  M V_i = p + h sum_j a^_ij f(Q_j, V_j)\n"
                   "q+ = q + h sum_i b_i V_i,  p+ = p + h sum_i b_i f(Q_i, V_i),  b_i a^_ij + b_j a_ji = b_i b_j",
       .source = "martin2018, section 7; hairer2006, section II.2.2",
       .keywords = {"trapezoidal", "trapezoidal rule", "variational integrator"},
       .parameters = {{.name = "stages",
                       .type = ValueType::integer,
                       .doc = "number of stages s; 2 is the Stoermer-Verlet method",
                       .default_value = "3",
                       .choices = {"2", "3", "4", "5"}}},
       .notes = notes +
                std::string("The discrete Lagrange-d'Alembert principle on polynomial paths: keeps its order "
                            "on damped systems. With two stages it is the discrete action by the trapezoidal rule "
                            "(variational trapezoidal), not the implicit trapezoidal rule of differential equations.")},
      [](const Section& options) { return Scheme(lobatto(stages_of(options))); },
      lobatto_properties,
      Method::Domain::mechanical,
      {},
      {.takes_noise = true,
       .statement = "applies damping and noise by the exact flow of p' = -C v + noise over h/2 before and after its "
                    "stages, which are then undamped: the Gibbs distribution has an error of order 2 s - 2",
       .scheme = langevin_lobatto}};
}

}  // namespace bathline
