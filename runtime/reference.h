// The intended results that a manifest may name in its `check:` lines, computed on the host in double precision.
//   gemm M= N= K=   out[M,N] = A[M,K] * B[N,K]^T; A and B the first two inputs, out the first output, all dense;
//                   A=km, B=kn: that operand is stored transposed, as A[K,M] or B[K,N]
//   copy            the first output has the bytes of the first input (as many as the shorter one has)
//   sum             out[0] = sum of the first input
//   colsum          out[i] = sum over k < 4 of in[1024 k + i], i < 1024
//   attn S=         out = softmax(q k^T / 8) v for S rows of 64; q, k, v the first three inputs
// Fails: an unknown name, too few tensors, tensors too small.
#pragma once
#include <string>

#include "runtime/expected.h"
#include "runtime/manifest.h"
#include "runtime/tensor.h"

namespace tc::runtime {

// `tensors` as they were before the launch, one for each of the manifest; the answer has the name of the output.
Expected<Tensor> expected_output(const Manifest& manifest, const std::vector<Tensor>& tensors,
                                 const std::string& check);

}  // namespace tc::runtime
