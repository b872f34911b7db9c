// target-kernels' attention forward, captured: -DHEADS=.. -DSEQ=.. -DFLAGS=.. -DCAUSAL=..
#include "capture.h"

#include <cuda_runtime.h>
static int captured(const void* fn, dim3 grid, dim3 block, void** args, size_t smem);
#define cudaGetDriverEntryPointByVersion(name, f, ...) (*(f) = (void*)&cuTensorMapEncodeTiled, 0)
#define cudaDeviceGetAttribute(p, ...) (*(p) = 132, cudaSuccess)
#define cudaFuncSetAttribute(...) cudaSuccess
#define cudaMemsetAsync(...) cudaSuccess
#define cudaGetLastError() 0
#define cudaLaunchKernel(fn, grid, block, args, smem, stream) captured(fn, grid, block, args, smem)
#include "attention_sm90.cu"
static const char* kernel_name;
static int captured(const void*, dim3 grid, dim3 block, void** args, size_t smem) {
  std::vector<capture::Param> params;
  for (int i = 0; i < 4; ++i) params.push_back(capture::param("map" + std::to_string(i), *(const CUtensorMap*)args[i]));
  params.push_back(capture::param("args", *(const Args*)args[4]));
  capture::launch(kernel_name, grid, block, dim3(1), smem, params);
  return 0;
}
int main(int argc, char** argv) {
  kernel_name = argc > 1 ? argv[1] : "attn";
  void* t[4];
  const char* names[] = {"q", "k", "v", "o"};
  for (int i = 0; i < 4; ++i)
    t[i] = capture::tensor(names[i], "f16", {HEADS, SEQ, 128}, i < 3 ? "role=in fill=normal" : "role=out");
  int* counter = (int*)capture::tensor("counter", "i32", {1}, "role=inout fill=zero");
  return attention_forward(t[0], t[1], t[2], t[3], counter, HEADS, SEQ, 0, CAUSAL, FLAGS, 1, nullptr);
}
