# test: eval
# What the emitters of matrix instructions refuse is said at the program's own line.
import tilelang.language as T
from tilelang.cuda.intrinsics import TensorCoreIntrinEmitter, get_swizzle_layout


def narrow():
    e = TensorCoreIntrinEmitter(warp_row_tiles=8, warp_col_tiles=16)  # error: warp_row_tiles is a multiple of 16, not 8

    @T.prim_func
    def main(A: T.Tensor((16, 16), "float16")):
        with T.Kernel(1):
            T.clear(A)

    return main


@T.prim_func
def shapes(A: T.Tensor((16, 16), "float16")):
    with T.Kernel(1, threads=32):
        e = TensorCoreIntrinEmitter(warp_row_tiles=16, warp_col_tiles=16, block_row_warps=1, block_col_warps=1)
        c = T.alloc_local((8,), "float16")
        s = T.alloc_shared((2, 16, 16), "float16")
        e.stmatrix(c, s)  # error: the matrix that the warps store to has 2 or 4 dimensions, not 3
        e.mma(c, c)  # error: 'mma' needs a value for C_local_buf
        T.evaluate(get_swizzle_layout(0, 0, 8, "float16")[0])  # error: a row has to be a multiple of 32 bytes, not 16


narrow()
