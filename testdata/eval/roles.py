# test: eval
# test: roundtrip
# CHECK-LABEL: func @roles
# CHECK: ws {lo=128, hi=160}
# CHECK: store %s, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: ws {lo=160, hi=192}
# CHECK: if %{{[0-9]+}}
# CHECK: %{{[0-9]+}} = constant {value=2.0}
# CHECK: ws {lo=0, hi=128}
# CHECK: %{{[0-9]+}} = constant {value=3.0}
# CHECK: %{{[0-9]+}} = lt %tx, %c1{{[_0-9]*}}
# CHECK: logical_and
# CHECK-NEXT: if %{{[0-9]+}}
# Roles need not stand in the order of their threads: what comes after the first is of threads on both sides of it. A
# condition that also asks something else is a section of its threads with that as an `if` inside; single threads under
# such a condition are no role.
import tilelang.language as T


@T.prim_func
def roles(A: T.Tensor((8,), "float32")):
    with T.Kernel(2, threads=256) as bx:
        s = T.alloc_shared((8,), "float32")
        tx = T.get_thread_binding()
        if tx >= 128 and tx < 160:
            s[0] = A[0]
        elif bx == 0 and tx >= 160 and tx < 192:
            s[1] = 2.0
        elif tx < 128:
            s[2] = 3.0
        if tx < 1 and bx == 1:
            s[3] = 4.0
