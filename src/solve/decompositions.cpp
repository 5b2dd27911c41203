// The instances that solve/decompositions.hpp declares.
#include "solve/decompositions.hpp"

BATHLINE_DECOMPOSITIONS()
