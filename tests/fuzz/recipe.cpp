// Any text as a recipe: parsed, validated, its sweep expanded, and its experiment built.
#include "reading.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  bathline::FuzzWorld::begin(bathline::FuzzWorld::Petsc::started);
  bathline::FuzzWorld::program();  // outside the time of the first input
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bathline::read_and_validate(std::string(reinterpret_cast<const char*>(data), size), {});
  return 0;
}
