// The TOML parser of the fuzz targets, compiled with them.
#define TOML_IMPLEMENTATION 1
#include <toml++/toml.h>
