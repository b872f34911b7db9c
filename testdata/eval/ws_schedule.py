# test: eval
# test: roundtrip
# CHECK-LABEL: func @schedule
# CHECK: launch %c1{{[_0-9]*}} {threads=256}{{.*}} |%bx: i32
# CHECK: %s = alloc : shared f16[64, 64]
# CHECK: %f = alloc : fragment f16[64, 64]
# CHECK: for %c0{{[_0-9]*}}, %c4{{[_0-9]*}} {kind="serial", ws_op="loop"}{{.*}} |%k: i32
# CHECK: copy %{{[0-9]+}}, %s {ws_op="load"}
# CHECK: copy %s, %f {ws_op="use"}
# CHECK: copy %f, %{{[0-9]+}} {ws_op="use"}
# CHECK: ws_schedule {warps=8}
# CHECK: ws_role {name="loader", warps_lo=4, warps_hi=8, max_nreg=24}
# CHECK: ws_role {name="user", warps_lo=0, warps_hi=4, max_nreg=0}
# CHECK: ws_pipeline %s {name="p", depth=2}
# CHECK: ws_scope {id="tl.ws_scope_root"}
# CHECK: ws_instr {role="loader", op="loop"}
# CHECK: ws_instr {role="user", op="loop"}
# CHECK: ws_scope {id="loop"}
# CHECK: ws_instr {role="loader", sync="producer_acquire", pipeline="p", stage=0}
# CHECK: ws_instr {role="loader", op="load"}
# CHECK: ws_instr {role="loader", sync="producer_commit", pipeline="p", stage=0}
# CHECK: ws_instr {role="user", sync="consumer_wait", pipeline="p", stage=1}
# CHECK: ws_instr {role="user", op="use"}
# CHECK: ws_instr {role="user", sync="consumer_release", pipeline="p", stage=1}
# A schedule is written down as it is said; the operations it names carry their ids.
import tilelang.language as T


@T.prim_func
def schedule(A: T.Tensor((256, 64), "float16"), B: T.Tensor((256, 64), "float16")):
    with T.Kernel(1, threads=256) as bx:
        s = T.alloc_shared((64, 64), "float16")
        f = T.alloc_fragment((64, 64), "float16")
        for k in T.serial(4, annotations={T.WSID: "loop"}):
            T.copy(A[k * 64, 0], s, annotations={T.WSID: "load"})
            with T.ws_op("use"):
                T.copy(s, f)
                T.copy(f, B[k * 64, 0])
        T.annotate_ws_schedule(
            T.WSSchedule(
                num_warps=8,
                roles=[T.WSRole("loader", warps_lo=4, warps_hi=8, max_nreg=24), T.WSRole("user", warps_lo=0, warps_hi=4)],
                pipelines=[T.WSPipeline("p", [s], depth=2)],
                scopes=[
                    T.WSScope(T.WSScope.ROOT, {"loader": ["loop"], "user": ["loop"]}),
                    T.WSScope(
                        "loop",
                        {
                            "loader": [T.WSSync.producer_acquire("p"), "load", T.WSSync.producer_commit("p")],
                            "user": [T.WSSync.consumer_wait("p", stage=1), "use", T.WSSync.consumer_release("p", stage=1)],
                        },
                    ),
                ],
            )
        )
