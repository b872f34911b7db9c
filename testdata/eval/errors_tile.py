# test: eval
# What the tile operations refuse of their arguments, and what may not stand in a parallel loop.
import tilelang.language as T


@T.prim_func
def reduced_shape(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        x = T.alloc_fragment((64, 32), "float32")
        y = T.alloc_fragment((64,), "float32")
        T.reduce_sum(x, y, dim=0)  # error: the result of the reduction of (64, 32) over dimension 0 has the shape (32) or (1, 32), not (64)


@T.prim_func
def reduced_type(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        x = T.alloc_fragment((64, 32), "float32")
        y = T.alloc_fragment((64,), "float32")
        T.reduce_bitand(x, y, dim=1)  # error: a reduction by bits takes an integer type, not float32


@T.prim_func
def atomic_order(A: T.Tensor((64,), "int32")):
    with T.Kernel(1) as bx:
        T.atomic_load(A[0], memory_order="release")  # error: T.atomic_load has no memory_order 'release'


@T.prim_func
def atomic_previous(A: T.Tensor((64,), "int32")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((64,), "int32")
        T.atomic_add(A, s, return_prev=True)  # error: return_prev of T.atomic_add is for one element, not a region


@T.prim_func
def gemm_types(A: T.Tensor((64,), "int32")):
    with T.Kernel(1) as bx:
        x = T.alloc_shared((64, 64), "float16")
        y = T.alloc_shared((64, 64), "bfloat16")
        c = T.alloc_fragment((64, 64), "float32")
        T.gemm(x, y, c)  # error: A of T.gemm has elements of float16, B of bfloat16


@T.prim_func
def gemm_pair(A: T.Tensor((64,), "int32")):
    with T.Kernel(1) as bx:
        x = T.alloc_shared((64, 64), "float16")
        c = T.alloc_tmem((64, 64), "float32")
        T.tcgen05_gemm(x, x, c, mbar=None, use_2cta=True)  # error: N of T.tcgen05_gemm differs: 128 and 64


@T.prim_func
def leader(A: T.Tensor((64,), "int32")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((64,), "int32")
        b = T.alloc_barrier(1)
        T.tma_copy(A, s, barrier=b, leader_scope_threads=33)  # error: leader_scope_threads is a positive multiple of 32, not 33


@T.prim_func
def prefers(A: T.Tensor((64,), "int32")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((64,), "int32")
        T.copy(A, s, prefer_instruction="tma", disable_tma=True)  # error: prefer_instruction="tma" with disable_tma=True


@T.prim_func
def gathers(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((4, 64), "float16")
        b = T.alloc_barrier(1)
        T.tma_gather4(A, s, 0, [1, 2, 3], barrier=b)  # error: 3 rows, not 4


@T.prim_func
def remote(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1) as bx:
        b = T.alloc_barrier(1)
        T.mbarrier_arrive(b, cta_id=1)  # error: cta_id is for barriers of T.alloc_cluster_barrier


@T.prim_func
def clusters(A: T.Tensor((64, 64), "float16")):
    with T.ClusterKernel(32, cluster_dims=(8, 4)) as bx:  # error: a cluster of 32 CTAs, more than 16
        A[0, 0] = 1


@T.prim_func
def view_bits(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((64, 64), "float16")
        v = T.view(s, (64, 64), "float32")  # error: the view has 131072 bits, what it views 65536


@T.prim_func
def registers(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1) as bx:
        T.set_max_nreg(25, 0)  # error: setmaxnreg takes a multiple of 8 from 24 to 256, not 25


@T.prim_func
def warps(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1) as bx:
        T.annotate_ws_schedule(T.WSSchedule(num_warps=6, roles=[], pipelines=[], scopes=[]))  # error: num_warps of T.WSSchedule is a positive multiple of 4, not 6


@T.prim_func
def bits(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1) as bx:
        A[0, 0] = T.reinterpret(A[0, 1], "float32")  # error: T.reinterpret of 16 bits as 32


@T.prim_func
def forever(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1) as bx:
        while 1:  # error: a `while` whose condition is always true
            A[0, 0] = 1


@T.prim_func
def loop_in_parallel(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1) as bx:
        for i in T.Parallel(64):
            A[i, 0] = 1
            for j in T.Parallel(64):  # error: a parallel loop inside a parallel loop has to be the only statement of it
                A[i, j] = 1


@T.prim_func
def tile_in_parallel(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((64,), "float16")
        for i in T.Parallel(64):
            T.copy(A[i, 0:64], s)  # error: T.copy inside T.Parallel


@T.prim_func
def fragment_index(A: T.Tensor((64, 64), "float16"), n: T.int32):
    with T.Kernel(1) as bx:
        f = T.alloc_fragment((64,), "float16")
        for i in T.Parallel(n):
            f[i] = 1  # error: 'i' of a parallel loop whose extent is known at run time only indexes the fragment 'f'


@T.prim_func
def local_index(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1) as bx:
        l = T.alloc_local((64,), "float16")
        for i in T.Parallel(64):
            l[i] = A[i, 0]  # error: 'i' of a parallel loop indexes the local buffer 'l', of which every thread has its own


@T.prim_func
def annotation(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1) as bx:
        T.clear(A, annotations={"a b": 1})  # error: unsupported: annotation 'a b' with an integer
