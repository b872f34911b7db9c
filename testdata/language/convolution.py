# Convolution of an image NHWC as a matrix product over its columns.
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[2])
def convolution(N, H, W, C, F, kernel, stride, dilation, pad, tile=32, depth=16):
    out_h = (H + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    out_w = (W + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1

    @T.prim_func
    def main(
        image: T.Tensor((N, H, W, C), T.float16),
        weight: T.Tensor((kernel, kernel, C, F), T.float16),
        out: T.Tensor((N, out_h, out_w, F), T.float32),
    ):
        with T.Kernel(T.ceildiv(F, tile), T.ceildiv(N * out_h * out_w, tile), threads=128) as (bx, by):
            columns = T.alloc_shared((tile, depth), T.float16)
            filters = T.alloc_shared((depth, tile), T.float16)
            acc = T.alloc_fragment((tile, tile), T.float32)
            flat_weight = T.Tensor((kernel * kernel * C, F), T.float16, weight.data)
            flat_out = T.Tensor((N * out_h * out_w, F), T.float32, out.data)
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(kernel * kernel * C, depth), num_stages=2):
                for i, j in T.Parallel(tile, depth):
                    m = by * tile + i
                    p = k * depth + j
                    y = m % (out_h * out_w) // out_w * stride + p // (kernel * C) * dilation - pad
                    x = m % out_w * stride + p // C % kernel * dilation - pad
                    inside = (y >= 0) and (x >= 0) and (y < H) and (x < W) and (m < N * out_h * out_w)
                    columns[i, j] = T.if_then_else(inside, image[m // (out_h * out_w), y, x, p % C], 0)
                T.copy(flat_weight[k * depth, bx * tile], filters)
                T.gemm(columns, filters, acc)
            T.copy(acc, flat_out[by * tile, bx * tile])

    return main


convolution(2, 9, 8, 16, 32, 3, 1, 1, 1)
convolution(1, 11, 9, 8, 32, 3, 2, 1, 0)
