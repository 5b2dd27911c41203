// The program bathline.
// Tested by tests/command_line/commands_test.py.
#include "command_line/run_program.hpp"
#include "builtin_catalogues.hpp"

int main(int argc, char** argv) { return bathline::run_program(argc, argv, bathline::builtin_catalogues()); }
