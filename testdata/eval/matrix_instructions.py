# test: eval
# test: roundtrip
# Instructions of a warp and of a warpgroup by name: types and shapes are attributes, an index follows each operand.
# CHECK-LABEL: func @raw
# CHECK: %[[SRC:[0-9]+]] = region %s, %{{[a-z0-9_]+}}, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c8{{[_0-9]*}} : tile f16[1, 8]
# CHECK: %[[DST:[0-9]+]] = region %a, %c0{{[_0-9]*}}, %c8{{[_0-9]*}} : tile f16[8]
# CHECK: call %[[SRC]], %[[DST]] {name="ptx_ldmatrix", trans=1, num=4}
# CHECK: call %a, %c0{{[_0-9]*}}, %b, %c4{{[_0-9]*}}, %c, %c0{{[_0-9]*}} {name="ptx_mma", dtype="float32", shape="m16n8k16", A_layout="row", B_layout="col", A_dtype="fp16", B_dtype="fp16", C_dtype="fp32", saturate=0}
# CHECK: {name="ptx_mma_sp", {{.*}}shape="m16n8k16"
# CHECK: initialize_wgmma_descriptor
# CHECK: call %d, %{{[a-z0-9_]+}}, %d, %{{[a-z0-9_]+}}, %c, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} {name="ptx_wgmma_ss", dtype="float32", wgmma_prefix="m64n8k16", a_is_k_major=1, b_is_k_major=1, {{.*}}scale_in_a=1, scale_in_b=1}
import tilelang.language as T


@T.prim_func
def raw(A: T.Tensor((64, 16), "float16")):
    with T.Kernel(1, threads=128):
        s = T.alloc_shared((64, 16), "float16")
        a = T.alloc_local((8,), "float16")
        b = T.alloc_local((8,), "float16")
        c = T.alloc_local((4,), "float32")
        e = T.alloc_local((1,), "uint32")
        d = T.alloc_descriptor("wgmma")
        lane = T.get_thread_binding() % 32
        T.ptx_ldmatrix(T.bool(True), 4, T.access_ptr(s[lane, 0], "r", extent=8), T.access_ptr(a[0], "w", extent=8))
        T.ptx_mma("float32", "m16n8k16", "row", "col", "fp16", "fp16", "fp32", a.data, 0, b.data, 4, c.data, 0, T.bool(False))
        T.ptx_mma_sp(T.float32, "m16n8k16", "row", "col", "fp16", "fp16", "fp32", a.data, 0, b.data, 0, c.data, 0, e.data, 0, 1, False)
        T.initialize_wgmma_descriptor(d, s.access_ptr("r"), 1, 1, 64)
        T.ptx_wgmma_ss("float32", "m64n8k16", True, True, "fp16", "fp16", "fp32", d.data, 0, d.data, 0, c.data, 0, 1, 1, 1)


# A subscript may be a tuple that was made before, or hold one with a star.
# CHECK-LABEL: func @tuples
# CHECK: load %A, %bx, %c3{{[_0-9]*}}, %c5{{[_0-9]*}} : f32
# CHECK: load %A, %c1{{[_0-9]*}}, %bx, %c2{{[_0-9]*}} : f32
# CHECK: store %x, %c0{{[_0-9]*}}
@T.prim_func
def tuples(A: T.Tensor((8, 8, 8), "float32")):
    with T.Kernel(8, threads=32) as bx:
        x = T.alloc_local((1,), "float32")
        tail = (3, 5)
        x[0] = A[(bx,) + tail]
        at = (1, bx, 2)
        x[0] = A[at] + A[bx, *tail]
