// Example of a user-defined environment: a nonlinear energy sink, a small mass on a stiffening spring with a dashpot to
// the ground.
//
//   m Q'' = f - c Q',   f = k (q_a - Q) + beta (q_a - Q)^3,   force on the particle -f
//
// Its linear part is a LumpedNetwork, the rest are nonlinear springs. Splittings and explicit Runge-Kutta methods, the
// ledger, checkpoints, ranks and stability limits follow from these; methods for linear environments are refused.
#include "command_line/run_program.hpp"
#include "model/lumped/lumped.hpp"
#include "builtin_catalogues.hpp"

using namespace bathline;

std::unique_ptr<Environment> build(const Section& section, const ParticleSystem& system, const RunTimes&,
                                   const Communicator& world, Mistakes& mistakes) {
  std::optional<Attachment> attachment = read_attachment(section, system, mistakes);
  if (!attachment) return nullptr;
  LumpedNetwork sink;
  sink.mass = {section.number("m")};
  sink.to_head = {{0, section.number("k")}};
  sink.dashpots = {{0, section.number("c")}};
  const double beta = section.number("beta");
  const auto stiffening = [beta](double x, const Eigen::VectorXd& w, Eigen::VectorXd& pulls) {
    const double stretch = x - w[0], square = stretch * stretch;
    pulls[0] += beta * square * stretch;
    return 0.25 * beta * square * square;
  };
  return std::make_unique<LumpedEnvironment>(section.text("name"), std::move(*attachment), std::move(sink), world,
                                             stiffening);
}

EnvironmentKind sink_kind() {
  return {{.name = "energy-sink",
           .summary = "nonlinear energy sink: a mass on a stiffening spring, with a dashpot",
           .equation = "m Q'' = k (q_a - Q) + beta (q_a - Q)^3 - c Q'",
           .source = "Vakakis, J. Vib. Acoust. 123 (2001) 324",
           .parameters =
               {attach_parameter("index of the damped particle, from 0"),
                {.name = "m", .units = "kg", .doc = "mass of the sink", .required = true, .bound = Bound::positive},
                {.name = "k", .units = "N/m", .doc = "linear stiffness", .required = true},
                {.name = "beta", .units = "N/m^3", .doc = "cubic stiffness", .required = true},
                {.name = "c", .units = "kg/s", .doc = "damping constant", .default_value = "0.0"}}},
          build};
}

int main(int argc, char** argv) {
  Catalogues catalogues = builtin_catalogues();
  catalogues.environments.add(sink_kind());
  return run_program(argc, argv, catalogues);
}
