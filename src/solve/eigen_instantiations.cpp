// The instances that solve/eigen_instantiations.hpp declares.
#include "solve/eigen_instantiations.hpp"

BATHLINE_EIGEN_INSTANTIATIONS()
