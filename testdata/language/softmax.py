# Row softmax in two passes and in one, norms, scans, the largest elements of rows.
import tilelang
import tilelang.language as T
import torch


@tilelang.jit
def softmax(X, rows: int = 4):
    M, N = T.const("M, N")
    X: T.Tensor[[M, N], T.float32]
    Y = T.empty((M, N), T.float32)
    with T.Kernel(T.ceildiv(M, rows), threads=128) as bx:
        x = T.alloc_fragment((rows, N), T.float32)
        top = T.alloc_fragment((rows,), T.float32)
        total = T.alloc_fragment((rows,), T.float32)
        T.copy(X[bx * rows, 0], x)
        T.reduce_max(x, top, dim=1)
        for i, j in T.Parallel(rows, N):
            x[i, j] = T.exp(x[i, j] - top[i])
        T.reduce_sum(x, total, dim=1)
        for i, j in T.Parallel(rows, N):
            x[i, j] /= total[i]
        T.copy(x, Y[bx * rows, 0])
    return Y


@tilelang.jit
def online_softmax(X, width: int = 32):
    M, N = T.const("M, N")
    X: T.Tensor[[M, N], T.float32]
    Y = T.empty(M, N, dtype=T.float32)
    log2e = 1.44269504
    with T.Kernel(M, threads=32) as row:
        x = T.alloc_fragment((width,), T.float32)
        part = T.alloc_fragment((1,), T.float32)
        norm = T.alloc_fragment((1,), T.float32)
        T.fill(norm, -T.infinity(T.float32))
        for k in T.Pipelined(T.ceildiv(N, width), num_stages=1):
            T.copy(X[row, k * width], x)
            T.reduce_max(x, part, dim=0, clear=True)
            high = T.alloc_fragment((1,), T.float32)
            high[0] = part[0] * log2e
            for j in T.Parallel(width):
                x[j] = T.exp2(x[j] * log2e - high[0])
            T.reduce_sum(x, part, dim=0)
            norm[0] = high[0] + T.log2(T.exp2(norm[0] - high[0]) + part[0])
        for k in T.Pipelined(T.ceildiv(N, width), num_stages=1):
            T.copy(X[row, k * width], x)
            for j in T.Parallel(width):
                x[j] = T.exp2(x[j] * log2e - norm[0])
            T.copy(x, Y[row, k * width])
    return Y


@tilelang.jit(out_idx=[-1])
def rms_norm(M, N, rows=2, eps=1e-12):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float"), B: T.Tensor((M, N), "float")):
        with T.Kernel(T.ceildiv(M, rows), threads=128) as bx:
            a = T.alloc_fragment((rows, N), "float")
            squares = T.alloc_fragment((rows, N), "float")
            power = T.alloc_fragment((rows,), "float")
            T.copy(A[bx * rows : (bx + 1) * rows, :], a)
            for i, j in T.Parallel(rows, N):
                squares[i, j] = a[i, j] * a[i, j]
            T.reduce_sum(squares, power, dim=1)
            for i in T.Parallel(rows):
                power[i] = T.rsqrt(power[i] / N + eps)
            for i, j in T.Parallel(rows, N):
                a[i, j] *= power[i]
            T.copy(a, B[bx * rows : (bx + 1) * rows, :])

    return main


@tilelang.jit(out_idx=[3])
def layer_norm(M, N, eps=1e-5):
    @T.prim_func
    def main(
        X: T.Tensor((M, N), T.float16),
        gamma: T.Tensor((N,), T.float32),
        beta: T.Tensor((N,), T.float32),
        Y: T.Tensor((M, N), T.float16),
    ):
        with T.Kernel(M, threads=64) as row:
            x = T.alloc_fragment((N,), T.float32)
            d = T.alloc_fragment((N,), T.float32)
            mean = T.alloc_fragment((1,), T.float32)
            var = T.alloc_fragment((1,), T.float32)
            for j in T.Parallel(N):
                x[j] = T.cast(X[row, j], T.float32)
            T.reduce_sum(x, mean, dim=0)
            mean[0] = mean[0] / N
            for j in T.Parallel(N):
                d[j] = (x[j] - mean[0]) * (x[j] - mean[0])
            T.reduce_sum(d, var, dim=0)
            for j in T.Parallel(N):
                Y[row, j] = (x[j] - mean[0]) * T.rsqrt(var[0] / N + eps) * gamma[j] + beta[j]

    return main


@tilelang.jit(out_idx=[1])
def prefix_sums(M, N, width, backwards=False):
    @T.prim_func
    def main(X: T.Tensor((M, N), T.float32), Y: T.Tensor((M, N), T.float32)):
        with T.Kernel(T.ceildiv(N, width), M, threads=64) as (bx, by):
            x = T.alloc_shared((1, width), T.float32)
            T.copy(X[by, bx * width], x)
            T.cumsum(x, dim=1, reverse=backwards)
            T.copy(x, Y[by, bx * width])

    return main


@tilelang.jit(out_idx=[1, 2])
def top_k(M, N, k, rows=4):
    @T.prim_func
    def main(
        X: T.Tensor((M, N), T.float32),
        values: T.Tensor((M, k), T.float32),
        indices: T.Tensor((M, k), T.int32),
    ):
        with T.Kernel(T.ceildiv(M, rows), threads=64) as bx:
            x = T.alloc_fragment((rows, N), T.float32)
            place = T.alloc_fragment((rows, N), T.int32)
            best = T.alloc_fragment((rows,), T.float32)
            at = T.alloc_fragment((rows,), T.int32)
            T.copy(X[bx * rows, 0], x)
            for n in T.serial(k):
                T.fill(place, -1)
                T.reduce_max(x, best, dim=1, clear=True)
                for i, j in T.Parallel(rows, N):
                    place[i, j] = T.if_then_else(best[i] == x[i, j], j, place[i, j])
                T.reduce_max(place, at, dim=1, clear=True)
                for i, j in T.Parallel(rows, N):
                    x[i, j] = T.if_then_else(j == at[i], -T.infinity(T.float32), x[i, j])
                for i in T.Parallel(rows):
                    values[bx * rows + i, n] = best[i]
                    indices[bx * rows + i, n] = at[i]

    return main


x = torch.randn(12, 96)
softmax(x)
online_softmax(x)
rms_norm(10, 128)
layer_norm(7, 96)
prefix_sums(5, 96, 32)
prefix_sums(5, 96, 32, backwards=True)
top_k(8, 64, 5)
