// The tile interpreter: runs tile IR over host tensors. It is the oracle that the simulator and a GPU are compared
// with.
//
// What a run means
//  * Outside of sections statements mean sequence: a tile operation there waits for all threads of the CTA. Sections
//    (`ws`) are coroutines; inside one, a tile operation waits for the section's threads, nothing else orders them but
//    barriers. Threads whose control or values differ are run separately, so a store by thread index means every
//    thread.
//  * A copy acts when it is issued. An asynchronous load expects and completes its bytes in one step. A product of two
//    CTAs is issued by the even one for both.
//  * Waits go by ordinals: the j-th wait of a thread on one mbarrier returns once phase j + f of it is complete, where
//    f is 0, or -1 if the thread's first wait there asks for parity 1 (which a fresh mbarrier lets through). All later
//    parities are ignored: a verifier judges them, the oracle does not believe them.
//  * No thread can go on and not all are done: a deadlock, reported with every blocked wait.
//  * T.copy reads 0 outside of its source and skips what is outside of its destination; so do element accesses of
//    global tensors. Any other access outside of a buffer is an error.
//  * Iterations of a parallel loop that update one element (x = x + y) count one after the other.
//  * Memory starts unwritten: NaN, or 0x5A5A... for integers.
//  * Cluster launch control hands out the clusters that were not started; which of them gets which is not determined.
// Numbers: number.h. A gemm sums in double and rounds to the accumulator's type once an operation. CTAs are
// independent and run on `threads` host threads; two CTAs that write one element leave either value.
// Not executed, and refused by name: functions in CUDA text, descriptors of matrix instructions and the raw
// instructions that take them, random generators other than Philox, shuffles of vectors, clusters along y or z,
// stochastic rounding to 8 bits and less, the address of memory that is not global.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "compiler/ir/ir.h"
#include "runtime/tensor.h"

namespace tc::ir {

using SymbolValues = std::vector<std::pair<std::string, int64_t>>;
struct InterpOptions {
  unsigned threads = 2;
  int64_t max_steps = 200'000'000;      // ops a CTA may execute
  std::span<runtime::Tensor> memory{};  // global memory that only pointers lead to
  SymbolValues symbols{};               // extents known at the launch; others are those of the tensors
};

// Addresses that kernels see: of parameter n, and of the n-th tensor of InterpOptions::memory.
constexpr uint64_t parameter_address(size_t n) { return uint64_t{n + 1} << 32; }
constexpr uint64_t memory_address(size_t n) { return uint64_t{n + 1} << 40; }

// `args`: one tensor a parameter, in order; a scalar is a tensor of one element. Outputs are written in place.
Status interpret(const Module& m, const Func& f, std::span<runtime::Tensor> args, const InterpOptions& options = {});

// The extents of a type of the function, for these values of its symbols (0: a symbol without a value).
std::vector<int64_t> shape_at_launch(const Module& m, const Func& f, const Type& type, const SymbolValues& symbols);

// The runtime's element type of the same name; nullopt for bool, which does not cross a launch.
std::optional<runtime::DType> runtime_dtype(DType type);

}  // namespace tc::ir
