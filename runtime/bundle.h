// A bundle: a folder with everything to run one kernel where a GPU is.
//   manifest.txt    the launch manifest; inputs are made by seed unless inputs/NAME.npy exists
//   kernel.ptx, kernel.cubin    one or both
//   expected.txt    a line an output (`#` begins a comment line):
//     NAME digest=<fnv1a hex>                        bit for bit
//     NAME samples=<count> tolerance=<r>             followed by `count` lines "index value"; accepted when the norm of
//                                                    the differences over the norm of the values is at most r
// Fails: an Error naming the file.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "runtime/manifest.h"
#include "runtime/tensor.h"

namespace tc::runtime {

struct ExpectedOutput {
  std::string tensor;
  std::string digest;  // empty: by samples
  double tolerance = 0;
  std::vector<std::pair<uint64_t, double>> samples;
};
struct Bundle {
  Manifest manifest;
  std::string ptx;  // empty: absent
  std::string cubin;
  std::vector<Tensor> given;  // inputs/NAME.npy
  std::vector<ExpectedOutput> expected;
};
Expected<Bundle> read_bundle(const std::string& folder);
// Writes to temporary names and renames; makes the folder.
Done write_bundle(const std::string& folder, const Bundle& bundle);

std::string print_expected(const std::vector<ExpectedOutput>& list);
Expected<std::vector<ExpectedOutput>> parse_expected(std::string_view text);
// Digest, or at most `samples` samples at fixed places spread over the tensor.
ExpectedOutput expect_bits(const Tensor& tensor);
ExpectedOutput expect_samples(const Tensor& tensor, uint64_t samples, double tolerance);

struct Comparison {
  bool equal = false;
  double error = 0;  // relative norm over the samples; 0 or 1 for a digest
  std::string detail;
};
Comparison compare(const Tensor& got, const ExpectedOutput& want);

}  // namespace tc::runtime
