# Copies whose sides do not fit.
# test: eval
import tilelang.language as T


@T.prim_func
def copies(A: T.Tensor((256, 256), "float16"), D: T.Tensor((4, 64, 32), "float16"), x: T.float16):
    with T.Kernel(4) as bx:
        s = T.alloc_shared((64, 32), "float16")
        t = T.alloc_shared((32, 64), "float16")
        u = T.alloc_shared((4, 64, 32), "float16")
        T.copy(s, t)  # error: whole buffers of different shapes
        T.copy(A[0:64, 0:64], s[0:8, 0:8])  # error: the source of the copy has 64 x 64 elements, the destination 8 x 8
        T.copy(A[0:1, 0:32], s)  # error: the source of the copy has 32 elements, the destination 64 x 32
        T.copy(u, A[0, 0])  # error: dimensions
        T.copy(s, x)  # error: a buffer or a region
        T.copy(s)  # error: needs 'dst'
        T.copy(s, s[0:8:2, :])  # error: step
        T.copy(s, s[8:4, :])  # error: elements
        T.copy(A[0], s)  # error: 'A' has 2 dimensions, the subscript has 1
        T.copy(s, s, prefer_instruction="dma")  # error: prefer_instruction
        T.copy(s, s, prefer_instruction="tma", disable_tma=True)  # error: disable_tma
        T.copy(s, s, eviction_policy="evict_never")  # error: evict_never
        T.reshape(s, (64, 64))  # error: the view has 65536 bits, what it views 32768
        T.transpose(s, s)  # error: swapped
        for i in T.Parallel(4):
            T.copy(s, s)  # error: LANG-01
