# T.ws, and conditions on nothing but the thread index, are sections; an elif chain lies side by side.
# test: eval
# test: roundtrip
# CHECK-LABEL: func @sections
# CHECK: ws {lo=128, hi=384}
# CHECK: ws {lo=0, hi=128}
# CHECK: ws {lo=0, hi=1}
# CHECK: ws {lo=0, hi=32}
# CHECK: ws {lo=32, hi=64}
# CHECK: ws {lo=128, hi=256}
# CHECK: ws {lo=288, hi=320}
# CHECK-NOT: ws
# CHECK: %[[C:[0-9]+]] = eq
# CHECK: if %[[C]]
# CHECK: mbarrier_arrive %bar, %c1
import tilelang.language as T


@T.prim_func
def sections(A: T.Tensor((8,), "int32")):
    with T.Kernel(1, threads=384) as bx:
        bar = T.alloc_barrier([384] * 2)
        tx = T.get_thread_binding()
        with T.ws(1, 2):
            T.mbarrier_arrive(bar[0])
        with T.ws(0):
            if tx == 0:
                T.mbarrier_arrive(bar[0])
        if tx < 32:
            T.mbarrier_arrive(bar[0])
        elif tx < 64:
            T.mbarrier_arrive(bar[0])
        elif 128 <= tx < 256:
            T.mbarrier_arrive(bar[0])
        if tx // 32 == 9:
            T.mbarrier_arrive(bar[0])
        if tx % 2 == 0:
            T.mbarrier_arrive(bar[1])
