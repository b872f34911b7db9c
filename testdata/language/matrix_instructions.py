# Products written with the instructions of a warp: the library's emitters for all types and transpositions, operands
# that lie in shared memory the way the instruction wants them, a sparse product instruction by instruction.
import tilelang
import tilelang.language as T
from tilelang.cuda.intrinsics import TensorCoreIntrinEmitter, make_mma_swizzle_layout
from tilelang.cuda.intrinsics.macro.mma_macro_generator import TensorCoreIntrinEmitterWithLadderTransform


@tilelang.jit
def product(A, B, dtype, out_dtype, trans_a=False, trans_b=True, warp_n: int = 16, chunk: int = 32):
    M, N, K = T.const("M, N, K")
    A: T.Tensor((K, M) if trans_a else (M, K), dtype)
    B: T.Tensor((N, K) if trans_b else (K, N), dtype)
    C = T.empty((M, N), out_dtype)
    emitter = TensorCoreIntrinEmitter(
        a_dtype=dtype,
        b_dtype=dtype,
        accum_dtype=out_dtype,
        a_transposed=trans_a,
        b_transposed=trans_b,
        block_row_warps=2,
        block_col_warps=2,
        warp_row_tiles=32,
        warp_col_tiles=warp_n,
        chunk=chunk,
    )
    block_m, block_n = 64, 2 * warp_n
    with T.Kernel(T.ceildiv(N, block_n), T.ceildiv(M, block_m), threads=emitter.threads) as (bx, by):
        a = T.alloc_shared((chunk, block_m) if trans_a else (block_m, chunk), dtype)
        b = T.alloc_shared((block_n, chunk) if trans_b else (chunk, block_n), dtype)
        a_regs = T.alloc_local((emitter.warp_rows * emitter.local_size_a,), dtype)
        b_regs = T.alloc_local((emitter.warp_cols * emitter.local_size_b,), dtype)
        c_regs = T.alloc_local((emitter.warp_rows * emitter.warp_cols * emitter.local_size_out,), out_dtype)
        T.annotate_layout({a: make_mma_swizzle_layout(a)})
        T.clear(c_regs)
        for k in T.serial(T.ceildiv(K, chunk)):
            if trans_a:
                T.copy(A[k * chunk, by * block_m], a)
            else:
                T.copy(A[by * block_m, k * chunk], a)
            if trans_b:
                T.copy(B[bx * block_n, k * chunk], b)
            else:
                T.copy(B[k * chunk, bx * block_n], b)
            for ki in T.serial(chunk // emitter.micro_size_k):
                emitter.ldmatrix_a(a_regs, a, ki)
                emitter.ldmatrix_b(b_regs, b, ki)
                emitter.mma(a_regs, b_regs, c_regs)
        emitter.stmatrix(c_regs, C, by, bx)
    return C


@tilelang.jit
def prepared(A, B):
    """B lies in tiles of 16 x 16, each in the order of the lanes; the result is stored in tiles too."""
    M, N, K = T.const("M, N, K")
    A: T.Tensor((M, K), T.float16)
    B: T.Tensor((N // 16, K // 16, 16, 16), T.float16)
    C = T.empty((M // 16, N // 16, 16, 16), T.float32)
    emitter = TensorCoreIntrinEmitterWithLadderTransform(
        accum_dtype=T.float32,
        b_transposed=True,
        block_row_warps=1,
        block_col_warps=2,
        warp_row_tiles=32,
        warp_col_tiles=16,
        chunk=32,
        transform_kind_b=3,
    )
    with T.Kernel(1, threads=emitter.threads):
        a = T.alloc_shared((M, K), T.float16)
        b = T.alloc_shared((N // 16, K // 16, 16, 16), T.float16)
        c = T.alloc_shared((M // 16, N // 16, 16, 16), T.float32)
        a_regs = T.alloc_local((emitter.warp_rows * emitter.local_size_a,), T.float16)
        b_regs = T.alloc_local((emitter.warp_cols * emitter.local_size_b,), T.float16)
        c_regs = T.alloc_local((emitter.warp_rows * emitter.warp_cols * emitter.local_size_out,), T.float32)
        T.copy(A, a)
        T.copy(B, b)
        T.clear(c_regs)
        for ki in T.serial(K // 16):
            emitter.ldmatrix_a(a_regs, a, ki)
            emitter.ldmatrix_b(b_regs, b, ki)
            emitter.mma(a_regs, b_regs, c_regs)
        emitter.stmatrix(c_regs, c)
        T.copy(c, C)
    return C


@tilelang.jit
def sparse(A, E, B, selector: int = 0):
    """One m16n8k16 product of one warp: A holds two of every four elements of a row, E which."""
    A: T.Tensor((16, 8), T.float16)
    E: T.Tensor((32,), T.uint32)
    B: T.Tensor((8, 16), T.float16)
    C = T.empty((16, 8), T.float32)
    with T.Kernel(1, threads=32):
        lane = T.get_thread_binding()
        a = T.alloc_local((4,), T.float16)
        b = T.alloc_local((4,), T.float16)
        c = T.alloc_local((4,), T.float32)
        e = T.alloc_local((1,), T.uint32)
        e[0] = E[lane]
        for i in T.serial(4):
            a[i] = A[lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2]
            b[i] = B[lane // 4, lane % 4 * 2 + i % 2 + i // 2 * 8]
            c[i] = 0
        T.ptx_mma_sp(
            "float32", "m16n8k16", "row", "col", "fp16", "fp16", "fp32", a.data, 0, b.data, 0, c.data, 0, e.data, 0, selector, False
        )
        for i in T.serial(4):
            C[lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2] = c[i]
    return C


if __name__ == "__main__":
    half = {"dtype": T.float16, "out_dtype": T.float32}
    product.compile(M=64, N=32, K=64, **half)
    product.compile(M=64, N=32, K=32, trans_a=True, **half)
    product.compile(M=128, N=64, K=80, trans_b=False, **half)
    product.compile(M=64, N=32, K=32, trans_a=True, trans_b=False, **half)
    product.compile(M=64, N=16, K=32, warp_n=8, **half)
    product.compile(M=64, N=32, K=64, dtype=T.int8, out_dtype=T.int32)
    product.compile(M=64, N=32, K=64, dtype=T.int8, out_dtype=T.int32, trans_a=True, trans_b=False)
    product.compile(M=64, N=32, K=32, dtype=T.float32, out_dtype=T.float32)
    product.compile(M=64, N=32, K=32, dtype=T.float32, out_dtype=T.float32, trans_a=True, trans_b=False)
    product.compile(M=64, N=32, K=32, dtype=T.float64, out_dtype=T.float64, chunk=16)
    product.compile(M=64, N=32, K=64, dtype=T.float8_e4m3fn, out_dtype=T.float32)
    product.compile(M=64, N=32, K=32, dtype=T.float16, out_dtype=T.float16)
    prepared.compile(M=32, N=32, K=32)
    sparse.compile()
    sparse.compile(selector=3)
