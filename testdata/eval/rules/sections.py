# Sections of warpgroups: threads 128 g <= tid < 128 (g + 1); neighbours are one.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @sections
@T.prim_func
def sections(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=512) as bx:
        # CHECK: ws {lo=0, hi=128}
        with T.ws(0):
            A[0] = 0
        # CHECK: ws {lo=128, hi=384}
        with T.ws(1, 2):
            A[1] = 0
        # CHECK: ws {lo=0, hi=512, ranges=[0, 128, 384, 512]}
        with T.ws(3, 0):
            A[2] = 0
        # CHECK: ws {lo=0, hi=384}
        with T.ws(2, 1, 0):
            # Of what comes here.
            # CHECK: ws {lo=128, hi=256}
            with T.ws(1):
                A[3] = 0
        # CHECK: call {name="set_max_nreg", count=240, increase=1}
        T.set_max_nreg(240, 1)
        # CHECK: call {name="set_max_nreg", count=232, increase=1}
        T.inc_max_nreg(232)
        # CHECK: call {name="set_max_nreg", count=40, increase=0}
        T.dec_max_nreg(40)
        # CHECK: annotate {kind="producer_reg_dealloc", count=24}
        T.annotate_producer_reg_dealloc()
        # CHECK: annotate {kind="consumer_reg_alloc", count=224}
        T.annotate_consumer_reg_alloc(224)
        # CHECK: annotate {kind="no_set_max_nreg"}
        T.no_set_max_nreg()
        # CHECK: annotate {kind="no_set_max_nreg"}
        T.disable_warp_group_reg_alloc()
