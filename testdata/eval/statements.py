# test: eval
# test: roundtrip
# CHECK-LABEL: func @statements
# CHECK: launch %c1{{[_0-9]*}} {threads=32}{{.*}} |%bx: i32
# CHECK: %s = alloc : shared i32[64, 32]
# CHECK: %i = alloc {scope="local.var"} : local i32[1]
# CHECK: store %i, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}
# CHECK: while
# CHECK: %choice = alloc : local b1[1]
# CHECK: if %{{[0-9]+}}
# CHECK: store %choice, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: store %choice, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}
# CHECK: condition %{{[0-9]+}}
# CHECK: store %i, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: if %{{[0-9]+}}
# CHECK: continue
# CHECK: store %A, %{{[0-9]+}}, %c2{{[_0-9]*}}, %c3{{[_0-9]*}}
# CHECK: for %c0{{[_0-9]*}}, %{{[0-9]+}} {kind="serial"}{{.*}} |%j: i32
# CHECK: store %A, %{{[0-9]+}}, %c3{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: for %c0{{[_0-9]*}}, %c2{{[_0-9]*}} {kind="serial"}{{.*}} |%p: i32
# CHECK: for %c0{{[_0-9]*}}, %c3{{[_0-9]*}} {kind="serial"}{{.*}} |%q: i32
# CHECK: store %A, %p, %q, %c4{{[_0-9]*}}
# CHECK: parallel %c64{{[_0-9]*}}{{.*}} |%p_1: i32
# CHECK: parallel %c32{{[_0-9]*}}{{.*}} |%q_1: i32
# CHECK: store %s, %p_1, %q_1, %{{[0-9]+}}
# CHECK: copy %{{[0-9]+}}, %{{[0-9]+}}
# CHECK: for %c0{{[_0-9]*}}, %c4{{[_0-9]*}} {kind="pipelined", num_stages=2, order=[0, 1], stage=[0, 1]}{{.*}} |%k: i32
# CHECK: copy %A, %s
# CHECK: copy %s, %A
# CHECK: for %c0{{[_0-9]*}}, %c8{{[_0-9]*}} {kind="unroll", tag=1, unroll_factor=4}{{.*}} |%u: i32
# CHECK: store %A, %u, %u, %c5{{[_0-9]*}}
# CHECK: %a = load %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}} : i32
# CHECK: %b = load %A, %c0{{[_0-9]*}}, %c1{{[_0-9]*}} : i32
# CHECK: store %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %b
# CHECK: store %A, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %a
# CHECK-LABEL: func @objects
# CHECK: launch %c1{{[_0-9]*}} {threads=32}{{.*}} |%bx: i32
# CHECK: alloc : local i32[1]
# CHECK: store %{{[0-9]+}}, %c0{{[_0-9]*}}, %c3{{[_0-9]*}}
# CHECK: store %A, %c0{{[_0-9]*}}, %{{[0-9]+}}
# while evaluates its condition anew; continue and break belong to the loop around them; a slice may have a length known
# at run time; T.grid is loops in each other, parallel loops nest directly.
import tilelang.language as T


@T.prim_func
def statements(A: T.Tensor((64, 32), "int32"), n: T.int32):
    with T.Kernel(1, threads=32) as bx:
        s = T.alloc_shared((64, 32), "int32")
        i = T.alloc_var("int32", 0)
        while i < n and A[i, 0] > 0:
            i += 1
            if A[i, 1] == 2:
                continue
            A[i, 2] = 3
        for j in T.serial(7, 0, -2):
            A[j, 3] = j
        for p, q in T.grid(2, 3):
            A[p, q] = 4
        for p in T.Parallel(64):
            for q in T.Parallel(32):
                s[p, q] = p + q
        T.copy(s[0:i, :], A[0:i, :])
        for k in T.Pipelined(4, num_stages=2, order=[0, 1], stage=[0, 1]):
            T.copy(A, s)
            T.copy(s, A)
        for u in T.unroll(8, unroll_factor=4, annotations={"tag": 1}):
            A[u, u] = 5
        a, b = A[0, 0], A[0, 1]
        A[0, 0], A[0, 1] = b, a


@T.meta_class
class Counter:
    def __init__(self, first):
        self.at = T.alloc_local((1,), "int32")
        self.first = first

    def reset(self):
        self.at[0] = self.first

    def value(self):
        return self.at[0] + 1


@T.prim_func
def objects(A: T.Tensor((4,), "int32")):
    with T.Kernel(1, threads=32) as bx:
        counter = Counter(3)
        counter.reset()
        A[0] = counter.value()
