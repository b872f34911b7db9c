#!/bin/sh
# Compiles the kernels of this folder (or those named) to PTX, with nvcc and with clang; the results are committed. Debug sections are
# dropped (nothing reads them).
cd "$(dirname "$0")" || exit 1
for f in ${*:-*.cu}; do
  n=${f%.cu}
  nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -lineinfo -ptx -o "$n.nvcc.ptx" "$f" || exit 1
  clang++-22 -x cuda --cuda-device-only --cuda-gpu-arch=sm_90a --cuda-path="${CUDA:-/usr/local/cuda}" --cuda-feature=+ptx88 \
    -Wno-unknown-cuda-version -std=c++17 -O2 -gline-tables-only -S -o "$n.clang.ptx" "$f" || exit 1
  sed -i -e '/^[[:space:]]*\.section.*}/d' -e '/^[[:space:]]*\.section/,/^[[:space:]]*}/d' -e "s#\"$PWD/#\"testdata/sim/#" -e "s#\"[^\"]*/cuda[^\"]*/#\"cuda/#" \
    -e "s#\"[^\"]*/clang/[^\"]*/#\"clang/#" -e "s#\"testdata/sim/\./#\"testdata/sim/#" "$n.nvcc.ptx" "$n.clang.ptx"
done
