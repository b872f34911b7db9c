# test: eval
# test: roundtrip
# CHECK-LABEL: func @layouts
# CHECK: launch %c1{{[_0-9]*}} {threads=64}{{.*}} |%bx: i32
# CHECK: %s = alloc : shared f16[32, 64]
# CHECK: %t = alloc : shared f16[32, 64]
# CHECK: %u = alloc : shared f16[32, 64]
# CHECK: %f = alloc : fragment f32[32, 64]
# CHECK: layout %s {kind="layout"}{{.*}} |%i0: i32, %i1: i32
# CHECK: yield %i0, %{{[0-9]+}}
# CHECK: layout %t {kind="swizzled_layout", k_major=0}
# CHECK: layout %u {kind="layout"}{{.*}} |%i0_1: i32, %i1_1: i32
# CHECK: yield %{{[0-9]+}}
# CHECK: layout %f {kind="fragment"}{{.*}} |%i0_2: i32, %i1_2: i32
# CHECK: yield %{{[0-9]+}}, %{{[0-9]+}}
# CHECK: annotate %A, %{{[0-9]+}} {kind="safe_value"}
# CHECK: annotate %A {kind="l2_hit_ratio", ratio=0.5}
# CHECK: annotate {kind="min_blocks_per_sm", count=2}
# CHECK: parallel %c32{{[_0-9]*}}, %c64{{[_0-9]*}} {tag=1}{{.*}} |%i: i32, %j: i32
# CHECK: loop_layout {kind="fragment"}{{.*}} |%i0_3: i32, %i1_3: i32
# CHECK: yield %i0_3, %i1_3
# CHECK: store %f, %i, %j, %{{[0-9]+}}
# A layout's function is traced into its block; those of the library keep name and parameters.
import tilelang
import tilelang.language as T
from tilelang.layout import make_swizzled_layout


def rotated(x):
    return T.Layout(x.shape, lambda i, j: [i, (j + i) % 64])


@T.prim_func
def layouts(A: T.Tensor((32, 64), "float32")):
    with T.Kernel(1, threads=64) as bx:
        s = T.alloc_shared((32, 64), "float16")
        t = T.alloc_shared((32, 64), "float16")
        u = T.alloc_shared((32, 64), "float16")
        f = T.alloc_fragment((32, 64), "float32")
        T.annotate_layout(
            {
                s: rotated(s),
                t: make_swizzled_layout(t, k_major=False),
                u: lambda i, j: i * 64 + j,
                f: T.Fragment((32, 64), forward_thread_fn=lambda i, j: i * 2 + j // 32, forward_index_fn=lambda i, j: j % 32),
            }
        )
        T.annotate_safe_value({A: -1})
        T.annotate_l2_hit_ratio({A: 0.5})
        T.annotate_min_blocks_per_sm(2)
        own = T.Fragment((32, 64), forward_fn=lambda i, j: (i, j))
        for i, j in T.Parallel(32, 64, loop_layout=own, annotations={"tag": 1}):
            f[i, j] = A[i, j]
