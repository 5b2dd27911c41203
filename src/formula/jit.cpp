// From steps to instructions of the processor; registers are allotted by AsmJit.
// Tested by tests/formula/program_test.cpp.
#include "formula/jit.hpp"

#ifdef BATHLINE_ASMJIT
#include <asmjit/x86.h>

#include <map>
#endif

namespace bathline {

#ifdef BATHLINE_ASMJIT

namespace {

using enum Operation;
namespace x86 = asmjit::x86;

/// Writes the instructions of one program.
class Writer {
 public:
  Writer(x86::Compiler& compiler, const FormulaBytecode& instructions) : compiler_(compiler), bytecode_(instructions) {}

  void write() {
    asmjit::FuncNode* const function = compiler_.addFunc(asmjit::FuncSignatureT<double, const double*, double*>());
    variables_ = compiler_.newIntPtr();
    const x86::Gp outputs = compiler_.newIntPtr();
    function->setArg(0, variables_);
    function->setArg(1, outputs);
    for (const FormulaBytecode::Instruction& step : bytecode_.instructions) results_.push_back(result(step));
    for (std::size_t i = 0; i + 1 < bytecode_.outputs.size(); ++i) {
      compiler_.vmovsd(x86::ptr_64(outputs, static_cast<int>(i * sizeof(double))), number(bytecode_.outputs[i]));
    }
    compiler_.ret(number(bytecode_.outputs.back()));
    compiler_.endFunc();
  }

 private:
  x86::Xmm result(const FormulaBytecode::Instruction& step) {
    const asmjit::InstId instruction = instruction_of(step.operation);
    if (instruction == x86::Inst::kIdNone) return called(step);
    // A fused product is added to what stands in its target.
    const x86::Xmm target = operands(step.operation) == 3 ? copy(step.c) : compiler_.newXmmSd();
    const x86::Xmm a = number(step.a);
    if (step.operation == negate) {
      compiler_.emit(instruction, target, a, constant(-0.0));
    } else {
      compiler_.emit(instruction, target, a, operands(step.operation) == 1 ? a : number(step.b));
    }
    return target;
  }
  /// None for what is called.
  static asmjit::InstId instruction_of(Operation operation) {
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
  x86::Xmm called(const FormulaBytecode::Instruction& step) {
    if (step.operation == sine) return sin_cos(step.a).sine;
    if (step.operation == cosine) return sin_cos(step.a).cosine;
    // Arguments come before the call in the stream of instructions.
    const int count = operands(step.operation);
    const x86::Xmm a = number(step.a), b = count > 1 ? number(step.b) : a, c = count > 2 ? number(step.c) : a;
    asmjit::InvokeNode* node = nullptr;
    if (double (*const function)(double) = elementary_function(step.operation)) {
      compiler_.invoke(&node, reinterpret_cast<std::uintptr_t>(function), asmjit::FuncSignatureT<double, double>());
      node->setArg(0, a);
    } else {
      compiler_.invoke(&node, reinterpret_cast<std::uintptr_t>(&evaluate),
                       asmjit::FuncSignatureT<double, std::uint32_t, double, double, double>());
      node->setArg(0, asmjit::Imm(static_cast<std::uint32_t>(step.operation)));
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
  /// Of the number in a place. One of the two is rarely without the other, which is its derivative.
  const SinCos& sin_cos(std::size_t place) {
    const auto [known, is_new] = sin_cos_.try_emplace(place);
    SinCos& both = known->second;
    if (!is_new) return both;
    const x86::Xmm a = number(place);
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

  /// What stands in a place. Variables and constants are read where they are needed, so that they occupy no register.
  x86::Xmm number(std::size_t place) {
    if (place >= bytecode_.first_result()) return results_[place - bytecode_.first_result()];
    return copy(place);
  }
  x86::Xmm copy(std::size_t place) {
    if (place >= bytecode_.variables && place < bytecode_.first_result()) {
      return constant(bytecode_.constants[place - bytecode_.variables]);
    }
    const x86::Xmm target = compiler_.newXmmSd();
    if (place >= bytecode_.first_result()) {
      compiler_.vmovapd(target, results_[place - bytecode_.first_result()]);
    } else {
      compiler_.vmovsd(target, x86::ptr_64(variables_, static_cast<int>(place * sizeof(double))));
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

}  // namespace

std::shared_ptr<const JitFunction> jit_compile(const FormulaBytecode& instructions) {
  static const auto runtime = std::make_shared<asmjit::JitRuntime>();
  if (!asmjit::CpuInfo::host().hasFeature(asmjit::CpuFeatures::X86::kFMA)) return nullptr;
  asmjit::CodeHolder code;
  if (code.init(runtime->environment()) != asmjit::kErrorOk) return nullptr;
  x86::Compiler compiler(&code);
  Writer(compiler, instructions).write();
  JitFunction function = nullptr;
  if (compiler.finalize() != asmjit::kErrorOk || runtime->add(&function, &code) != asmjit::kErrorOk) return nullptr;
  return {new JitFunction(function), [keeps = runtime](const JitFunction* pointer) {
            keeps->release(*pointer);
            delete pointer;
          }};
}

#else

std::shared_ptr<const JitFunction> jit_compile(const FormulaBytecode&) { return nullptr; }

#endif

}  // namespace bathline
