# Matrix products: all transpositions, split along K, a fixed number of CTAs that share the tiles' k steps, groups of
# rows with a matrix each.
import tilelang
import tilelang.language as T
import torch


@tilelang.jit
def matmul(A, B, trans_a: bool = False, trans_b: bool = False, tile: int = 32, depth: int = 32):
    M, N, K = T.const("M, N, K")
    if trans_a:
        A: T.Tensor((K, M), T.float16)
    else:
        A: T.Tensor((M, K), T.float16)
    if trans_b:
        B: T.Tensor((N, K), T.float16)
    else:
        B: T.Tensor((K, N), T.float16)
    C = T.empty((M, N), T.float32)
    with T.Kernel(T.ceildiv(N, tile), T.ceildiv(M, tile), threads=128) as (bx, by):
        a = T.alloc_shared((depth, tile) if trans_a else (tile, depth), T.float16)
        b = T.alloc_shared((tile, depth) if trans_b else (depth, tile), T.float16)
        c = T.alloc_fragment((tile, tile), T.float32)
        T.clear(c)
        for k in T.Pipelined(T.ceildiv(K, depth), num_stages=2):
            if trans_a:
                T.copy(A[k * depth, by * tile], a)
            else:
                T.copy(A[by * tile, k * depth], a)
            if trans_b:
                T.copy(B[bx * tile, k * depth], b)
            else:
                T.copy(B[k * depth, bx * tile], b)
            T.gemm(a, b, c, transpose_A=trans_a, transpose_B=trans_b)
        T.copy(c, C[by * tile, bx * tile])
    return C


@tilelang.jit
def split_k(A, B, C, parts: int = 4, tile: int = 32, depth: int = 16):
    M, N, K = T.const("M N K")
    A: T.Tensor((M, K), T.float16)
    B: T.Tensor((K, N), T.float16)
    C: T.Tensor((M, N), T.float32)
    share = K // parts
    with T.Kernel(T.ceildiv(N, tile), T.ceildiv(M, tile), parts, threads=128) as (bx, by, bz):
        a = T.alloc_shared((tile, depth), T.float16)
        b = T.alloc_shared((depth, tile), T.float16)
        c = T.alloc_fragment((tile, tile), T.float32)
        T.clear(c)
        for k in T.Pipelined(T.ceildiv(share, depth), num_stages=0):
            T.copy(A[by * tile : (by + 1) * tile, bz * share + k * depth : bz * share + (k + 1) * depth], a)
            T.copy(B[bz * share + k * depth, bx * tile], b)
            T.gemm(a, b, c)
        T.atomic_add(C[by * tile, bx * tile], c)


@tilelang.jit
def stream_k(A, B, C, workers: int = 3, tile: int = 32, depth: int = 16):
    M, N, K = T.const("M, N, K")
    A: T.Tensor((M, K), T.float16)
    B: T.Tensor((K, N), T.float16)
    C: T.Tensor((M, N), T.float32)
    steps = K // depth
    columns = N // tile
    total = (M // tile) * columns * steps
    share = (total + workers - 1) // workers
    with T.Kernel(workers, threads=128) as worker:
        a = T.alloc_shared((tile, depth), T.float16)
        b = T.alloc_shared((depth, tile), T.float16)
        c = T.alloc_fragment((tile, tile), T.float32)
        at = T.alloc_var(T.int32, init=worker * share)
        end = T.min((worker + 1) * share, total)
        while at < end:
            block = at // steps
            first = at % steps
            last = T.min(steps, first + end - at)
            T.clear(c)
            for k in T.serial(first, last):
                T.copy(A[block // columns * tile, k * depth], a)
                T.copy(B[k * depth, block % columns * tile], b)
                T.gemm(a, b, c)
            for i, j in T.Parallel(tile, tile):
                T.atomic_add(C[block // columns * tile + i, block % columns * tile + j], c[i, j])
            at += last - first


@tilelang.jit(out_idx=[3])
def grouped(total, groups, N, K, tile=16, depth=32):
    blocks = T.ceildiv(total, tile) + groups

    @T.prim_func
    def main(
        A: T.Tensor((total, K), "float16"),
        B: T.Tensor((groups, K, N), "float16"),
        offsets: T.Tensor((groups + 1,), "int32"),
        C: T.Tensor((total, N), "float16"),
    ):
        with T.Kernel(blocks, T.ceildiv(N, tile), threads=64) as (bx, by):
            a = T.alloc_shared((tile, depth), "float16")
            b = T.alloc_shared((depth, tile), "float16")
            c = T.alloc_fragment((tile, tile), "float32")
            group = T.alloc_var("int32", init=-1)
            start = T.alloc_var("int32", init=0)
            seen = T.alloc_var("int32", init=0)
            for g in range(groups):
                rows = offsets[g + 1] - offsets[g]
                here = T.ceildiv(rows, tile)
                if bx >= seen and bx < seen + here:
                    group = g
                    start = offsets[g] + (bx - seen) * tile
                seen += here
            if group >= 0:
                T.clear(c)
                for k in T.Pipelined(T.ceildiv(K, depth), num_stages=2):
                    T.copy(A[start : start + tile, k * depth : (k + 1) * depth], a)
                    T.copy(B[group, k * depth, by * tile], b)
                    T.gemm(a, b, c)
                for i, j in T.Parallel(tile, tile):
                    if start + i < offsets[group + 1]:
                        C[start + i, by * tile + j] = c[i, j]

    return main


def main():
    a, b = torch.randn(80, 96, dtype=torch.float16), torch.randn(96, 64, dtype=torch.float16)
    matmul(a, b)
    matmul(a.T, b, trans_a=True)
    matmul(a, b.T, trans_b=True)
    matmul(a.T, b.T, trans_a=True, trans_b=True)
    c = torch.zeros(64, 64)
    x, y = torch.randn(64, 128, dtype=torch.float16), torch.randn(128, 64, dtype=torch.float16)
    split_k(x, y, c)
    stream_k(x, y, c)
    grouped(70, 3, 48, 64)


if __name__ == "__main__":
    main()
