// Every integrator, one function a line; a new method adds its file and its line here and in catalogue.cpp.
#pragma once

#include <vector>

#include "methods/method.hpp"

namespace bathline {

Method gamma_method();
Method stoermer_verlet_method();
Method gjf_method();
Method baoab_method();
Method gauss_method();
Method lobatto_method();
Method explicit_euler_method();
Method implicit_euler_method();
Method rk4_method();
Method time_centred_method();
Method herglotz_method();
Method exact_method();
/// All symmetric compositions and splittings of the tables in compositions.cpp.
std::vector<Method> composition_methods();

}  // namespace bathline
