// Just-in-time compilation of programs.
#pragma once

#include <memory>

#include "formula/bytecode.hpp"

namespace bathline {

/// A program as machine code: writes all outputs but the last, which it returns.
using JitFunction = double (*)(const double* variables, double* outputs);

/// The compiled program. Up to 200 programs are kept, so that equal ones are compiled once; not thread-safe. Every
/// instruction of the bytecode becomes one of the processor, or a call of the function that `evaluate` calls, so the
/// results have the bits of `evaluate`. Null on processors other than x86-64 with FMA, in builds without AsmJit, and
/// where the system allows no executable memory.
std::shared_ptr<const JitFunction> jit_compile(const FormulaBytecode& bytecode);

}  // namespace bathline
