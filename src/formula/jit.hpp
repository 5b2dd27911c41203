// Programs as machine code.
#pragma once

#include <memory>

#include "formula/bytecode.hpp"

namespace bathline {

/// A program as a function of this processor: writes all outputs but the last and returns that one.
using JitFunction = double (*)(const double* variables, double* outputs);

/// The function that does these steps, which lives as long as somebody holds it. Every step is one instruction, or a
/// call of what `evaluate` calls, so the results have the bits of `evaluate`. Null where there is no such function: on
/// processors other than x86-64 with fused multiplication, in builds without AsmJit, and where the system lets no
/// program make code.
std::shared_ptr<const JitFunction> jit_compile(const FormulaBytecode& instructions);

}  // namespace bathline
