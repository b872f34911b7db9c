# C = relu(A B), a software pipeline of copies and one gemm a step.
# Any M and N; K a multiple of 8 (rows of 16 bytes). Edge tiles read zeros and skip what lies outside of C.
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[2], pass_configs={"tl.disable_warp_specialized": True})
def gemm_relu(
    M=512,
    N=512,
    K=512,
    block_M=128,
    block_N=128,
    block_K=32,
    num_stages=3,
    dtype="float16",
    out_dtype="float16",
    accum_dtype="float32",
):
    assert K % 8 == 0, "rows of A have to be multiples of 16 bytes"

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((K, N), dtype),
        C: T.Tensor((M, N), out_dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)

            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)

            for i, j in T.Parallel(block_M, block_N):
                C_local[i, j] = T.max(C_local[i, j], 0)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def main():
    kernel = gemm_relu(1024, 1024, 1024)
    print(kernel.get_kernel_source())


if __name__ == "__main__":
    main()
