// Compiles bytecode to machine code; AsmJit allocates the registers.
// Tested by tests/formula/program_test.cpp.
#include "formula/jit.hpp"

#ifdef BATHLINE_ASMJIT
#include <asmjit/x86.h>

#include <bit>
#include <cstdint>
#include <map>
#include <vector>
#endif

namespace bathline {

#ifdef BATHLINE_ASMJIT

namespace {

using enum Operation;
namespace x86 = asmjit::x86;

/// Emits the instructions of one program.
class Writer {
 public:
  Writer(x86::Compiler& compiler, const FormulaBytecode& bytecode) : compiler_(compiler), bytecode_(bytecode) {}

  void write() {
    asmjit::FuncNode* const function = compiler_.addFunc(asmjit::FuncSignatureT<double, const double*, double*>());
    variables_ = compiler_.newIntPtr();
    const x86::Gp outputs = compiler_.newIntPtr();
    function->setArg(0, variables_);
    function->setArg(1, outputs);
    for (const FormulaBytecode::Instruction& instruction : bytecode_.instructions)
      results_.push_back(result(instruction));
    for (std::size_t i = 0; i + 1 < bytecode_.outputs.size(); ++i) {
      compiler_.vmovsd(x86::ptr_64(outputs, static_cast<int>(i * sizeof(double))), number(bytecode_.outputs[i]));
    }
    compiler_.ret(number(bytecode_.outputs.back()));
    compiler_.endFunc();
  }

 private:
  x86::Xmm result(const FormulaBytecode::Instruction& instruction) {
    const asmjit::InstId opcode = opcode_of(instruction.operation);
    if (opcode == x86::Inst::kIdNone) return call(instruction);
    // Fused operations add the product to their target.
    const x86::Xmm target = operands(instruction.operation) == 3 ? copy(instruction.c) : compiler_.newXmmSd();
    const x86::Xmm a = number(instruction.a);
    if (instruction.operation == negate) {
      compiler_.emit(opcode, target, a, constant(-0.0));
    } else {
      compiler_.emit(opcode, target, a, operands(instruction.operation) == 1 ? a : number(instruction.b));
    }
    return target;
  }
  /// kIdNone for operations that are function calls.
  static asmjit::InstId opcode_of(Operation operation) {
    switch (operation) {
      case add:
        return x86::Inst::kIdVaddsd;
      case subtract:
        return x86::Inst::kIdVsubsd;
      case multiply:
        return x86::Inst::kIdVmulsd;
      case divide:
        return x86::Inst::kIdVdivsd;
      case negate:
        return x86::Inst::kIdVxorpd;
      case square_root:
        return x86::Inst::kIdVsqrtsd;
      case multiply_add:
        return x86::Inst::kIdVfmadd231sd;
      case multiply_subtract:
        return x86::Inst::kIdVfmsub231sd;
      case subtract_product:
        return x86::Inst::kIdVfnmadd231sd;
      default:
        return x86::Inst::kIdNone;
    }
  }
  x86::Xmm call(const FormulaBytecode::Instruction& instruction) {
    if (instruction.operation == sine) return sin_cos(instruction.a).sine;
    if (instruction.operation == cosine) return sin_cos(instruction.a).cosine;
    // The arguments must be emitted before the call.
    const int count = operands(instruction.operation);
    const x86::Xmm a = number(instruction.a), b = count > 1 ? number(instruction.b) : a,
                   c = count > 2 ? number(instruction.c) : a;
    asmjit::InvokeNode* node = nullptr;
    if (double (*const function)(double) = elementary_function(instruction.operation)) {
      compiler_.invoke(&node, reinterpret_cast<std::uintptr_t>(function), asmjit::FuncSignatureT<double, double>());
      node->setArg(0, a);
    } else {
      compiler_.invoke(&node, reinterpret_cast<std::uintptr_t>(&evaluate),
                       asmjit::FuncSignatureT<double, std::uint32_t, double, double, double>());
      node->setArg(0, asmjit::Imm(static_cast<std::uint32_t>(instruction.operation)));
      node->setArg(1, a);
      node->setArg(2, b);
      node->setArg(3, c);
    }
    const x86::Xmm target = compiler_.newXmmSd();
    node->setRet(0, target);
    return target;
  }
  struct SinCos {
    x86::Xmm sine, cosine;
  };
  /// Sine and cosine of the number in `slot`: one is rarely used without the other, its derivative.
  const SinCos& sin_cos(std::size_t slot) {
    const auto [entry, is_new] = sin_cos_.try_emplace(slot);
    SinCos& both = entry->second;
    if (!is_new) return both;
    const x86::Xmm a = number(slot);
    const x86::Mem memory = compiler_.newStack(sizeof(double), alignof(double));
    const x86::Gp cosine = compiler_.newIntPtr();
    compiler_.lea(cosine, memory);
    asmjit::InvokeNode* node = nullptr;
    compiler_.invoke(&node, reinterpret_cast<std::uintptr_t>(&sine_and_cosine),
                     asmjit::FuncSignatureT<double, double, double*>());
    node->setArg(0, a);
    node->setArg(1, cosine);
    both = {compiler_.newXmmSd(), compiler_.newXmmSd()};
    node->setRet(0, both.sine);
    compiler_.vmovsd(both.cosine, memory);
    return both;
  }

  /// The number in `slot`. Variables and constants are loaded where they are used, so that they occupy no register.
  x86::Xmm number(std::size_t slot) {
    if (slot >= bytecode_.first_result()) return results_[slot - bytecode_.first_result()];
    return copy(slot);
  }
  x86::Xmm copy(std::size_t slot) {
    if (slot >= bytecode_.variables && slot < bytecode_.first_result()) {
      return constant(bytecode_.constants[slot - bytecode_.variables]);
    }
    const x86::Xmm target = compiler_.newXmmSd();
    if (slot >= bytecode_.first_result()) {
      compiler_.vmovapd(target, results_[slot - bytecode_.first_result()]);
    } else {
      compiler_.vmovsd(target, x86::ptr_64(variables_, static_cast<int>(slot * sizeof(double))));
    }
    return target;
  }
  x86::Xmm constant(double value) {
    const x86::Xmm target = compiler_.newXmmSd();
    compiler_.vmovsd(target, compiler_.newDoubleConst(asmjit::ConstPoolScope::kLocal, value));
    return target;
  }

  x86::Compiler& compiler_;
  const FormulaBytecode& bytecode_;
  x86::Gp variables_;
  std::vector<x86::Xmm> results_;
  std::map<std::size_t, SinCos> sin_cos_;
};

/// Equal for programs of equal machine code alone.
std::vector<std::uint64_t> key_of(const FormulaBytecode& bytecode) {
  std::vector<std::uint64_t> key = {bytecode.variables, bytecode.constants.size(), bytecode.instructions.size()};
  for (const double constant : bytecode.constants) key.push_back(std::bit_cast<std::uint64_t>(constant));
  for (const auto& [operation, a, b, c] : bytecode.instructions)
    key.insert(key.end(), {static_cast<std::uint64_t>(operation), a, b, c});
  key.insert(key.end(), bytecode.outputs.begin(), bytecode.outputs.end());
  return key;
}

std::shared_ptr<const JitFunction> compile(const FormulaBytecode& bytecode) {
  static const auto runtime = std::make_shared<asmjit::JitRuntime>();
  if (!asmjit::CpuInfo::host().hasFeature(asmjit::CpuFeatures::X86::kFMA)) return nullptr;
  asmjit::CodeHolder code;
  if (code.init(runtime->environment()) != asmjit::kErrorOk) return nullptr;
  x86::Compiler compiler(&code);
  Writer(compiler, bytecode).write();
  JitFunction function = nullptr;
  if (compiler.finalize() != asmjit::kErrorOk || runtime->add(&function, &code) != asmjit::kErrorOk) return nullptr;
  return {new JitFunction(function), [owner = runtime](const JitFunction* pointer) {
            owner->release(*pointer);
            delete pointer;
          }};
}

}  // namespace

std::shared_ptr<const JitFunction> jit_compile(const FormulaBytecode& bytecode) {
  // Realisations of an ensemble and repeated runs build the same problem again and again.
  constexpr std::size_t max_kept = 200;
  static std::map<std::vector<std::uint64_t>, std::shared_ptr<const JitFunction>> kept;
  const std::vector<std::uint64_t> key = key_of(bytecode);
  if (const auto known = kept.find(key); known != kept.end()) return known->second;
  // Programs with other constants each time, as of fits, replace what is kept.
  if (kept.size() >= max_kept) kept.clear();
  return kept[key] = compile(bytecode);
}

#else

std::shared_ptr<const JitFunction> jit_compile(const FormulaBytecode&) { return nullptr; }

#endif

}  // namespace bathline
