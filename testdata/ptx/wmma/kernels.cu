// D = A B + C of one warp through <mma.h>; a kernel a type and shape, A row-major or column-major, B likewise.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
#define KERNEL(NAME, M, N, K, T, E, LA, LB, LDA, LDB, C)                                   \
  extern "C" __global__ void NAME(const E* a, const E* b, const C* c, C* d) {              \
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::LA> fa;                               \
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::LB> fb;                               \
    wmma::fragment<wmma::accumulator, M, N, K, C> fc;                                      \
    wmma::load_matrix_sync(fa, a, LDA);                                                    \
    wmma::load_matrix_sync(fb, b, LDB);                                                    \
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);                                 \
    wmma::mma_sync(fc, fa, fb, fc);                                                        \
    for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] + fc.x[i];                 \
    wmma::store_matrix_sync(d, fc, M, wmma::mem_col_major);                                \
  }
KERNEL(f16_16_rr, 16, 16, 16, half, half, row_major, row_major, 16, 16, float)
KERNEL(f16_16_cc, 16, 16, 16, half, half, col_major, col_major, 16, 16, float)
KERNEL(f16_32_rc, 32, 8, 16, half, half, row_major, col_major, 16, 16, float)
KERNEL(f16_8_cr, 8, 32, 16, half, half, col_major, row_major, 8, 32, float)
KERNEL(h16_16_rc, 16, 16, 16, half, half, row_major, col_major, 16, 16, half)
KERNEL(bf16_16_rc, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, row_major, col_major, 16, 16, float)
KERNEL(bf16_32_cr, 32, 8, 16, __nv_bfloat16, __nv_bfloat16, col_major, row_major, 32, 8, float)
KERNEL(s8_16_rr, 16, 16, 16, signed char, signed char, row_major, row_major, 16, 16, int)
KERNEL(u8_8_cc, 8, 32, 16, unsigned char, unsigned char, col_major, col_major, 8, 16, int)
KERNEL(s8_32_rc, 32, 8, 16, signed char, signed char, row_major, col_major, 16, 16, int)
KERNEL(tf32_16_rc, 16, 16, 8, wmma::precision::tf32, float, row_major, col_major, 8, 8, float)
KERNEL(tf32_16_cr, 16, 16, 8, wmma::precision::tf32, float, col_major, row_major, 16, 16, float)
KERNEL(f64_8_rr, 8, 8, 4, double, double, row_major, row_major, 4, 8, double)
KERNEL(f64_8_cc, 8, 8, 4, double, double, col_major, col_major, 8, 4, double)
extern "C" __global__ void s4_8(const void* a, const void* b, const int* c, int* d) {
  using namespace wmma::experimental;
  wmma::fragment<wmma::matrix_a, 8, 8, 32, precision::s4, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, precision::s4, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
  wmma::load_matrix_sync(fa, a, 32);
  wmma::load_matrix_sync(fb, b, 32);
  wmma::load_matrix_sync(fc, c, 8, wmma::mem_row_major);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] += fc.x[i];
  wmma::store_matrix_sync(d, fc, 8, wmma::mem_col_major);
}
extern "C" __global__ void b1_8(const void* a, const void* b, const int* c, int* d) {
  using namespace wmma::experimental;
  wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;
  wmma::load_matrix_sync(fa, a, 128);
  wmma::load_matrix_sync(fb, b, 128);
  wmma::load_matrix_sync(fc, c, 8, wmma::mem_row_major);
  wmma::bmma_sync(fc, fa, fb, fc, bmmaBitOpXOR);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] += fc.x[i];
  wmma::store_matrix_sync(d, fc, 8, wmma::mem_col_major);
}
