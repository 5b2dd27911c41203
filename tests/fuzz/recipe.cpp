// Any text as a recipe: read, validated, its sweep expanded, and the experiment made of it.
#include "reading.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  bathline::FuzzWorld::begin(bathline::FuzzWorld::Petsc::started);
  bathline::FuzzWorld::program();  // not in the time of the first input
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bathline::read_and_validate(std::string(reinterpret_cast<const char*>(data), size), {});
  return 0;
}
