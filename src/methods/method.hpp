// An integrator as the catalogue knows it: its self-description, its properties and the scheme it stands for.
#pragma once  // Public: programs of others may include this header.

#include <functional>
#include <string>

#include "methods/scheme.hpp"
#include "recipe/catalogue.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// What a method promises on smooth problems; the property tests hold every method of the catalogue to it.
struct MethodProperties {
  int order = 0;            ///< 0: exact to the accuracy of the reference
  int order_damped = 0;     ///< on damped systems, where that is lower; else 0
  bool symplectic = false;  ///< on a closed system
  bool time_reversible = false;
  bool linear_invariants = true;
  bool quadratic_invariants = false;  ///< all of them, energy of a linear system included
  bool angular_momentum = false;      ///< of a central potential
  /// Largest h omega for which a harmonic oscillation stays bounded; 0: never bounded; infinity: always.
  double imaginary_axis_limit = 0.0;
  /// Largest h rate for which pure decay p' = -rate p stays bounded, for `on = "open"`; infinity: always.
  double real_axis_limit = 0.0;
};

/// What becomes of a method on an open system with noise.
struct LangevinSupport {
  bool takes_noise = false;
  /// What it gets right of the thermal state, or why it takes no noise: a sentence without its subject, the method.
  std::string statement = "says nothing of noise";
  /// The scheme with noise; empty where it is the same one.
  std::function<Scheme(const Section& options)> scheme = {};
};

/// One line of the catalogue.
struct Method {
  /// What a method advances: q and p of a mechanical system, or z beside them of a contact system. Methods for the
  /// former do so as well where their scheme has stages.
  enum class Domain { mechanical, contact, both };

  CatalogueEntry entry;
  std::function<Scheme(const Section& options)> scheme;
  std::function<MethodProperties(const Section& options)> properties;
  Domain domain = Domain::mechanical;
  /// The scheme where momenta are no constant masses times velocities; empty where that is the same one.
  std::function<Scheme(const Section& options)> lagrangian_scheme = {};
  LangevinSupport langevin = {};

  /// The scheme on an open system with noise.
  Scheme langevin_scheme(const Section& options) const {
    return langevin.scheme ? langevin.scheme(options) : scheme(options);
  }
};

/// Those of this program.
const Catalogue<Method>& methods();

/// Order, structure and stability limits of a method with its default options, in words.
std::string describe_properties(const Method& method);

}  // namespace bathline
