# A condition known when the kernel is built is Python's, with its short circuits; one that is not builds the kernel.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @conditions
@T.prim_func
def conditions(A: T.Tensor((64,), "int32"), n: T.int32, b: T.bool):
    with T.Kernel(1, threads=32) as bx:
        # CHECK-NOT: store %A, %c1
        if False and A[0] > 1:
            A[1] = 1
        if True or A[0] > 1:
            # CHECK: store %A, %c2{{[_0-9]*}}, %c2{{[_0-9]*}}
            A[2] = 2
        # A right side that reads memory is evaluated where it counts only.
        # CHECK: %[[V1:[0-9]+]] = gt %n, %c1{{[_0-9]*}} : b1
        # CHECK: %choice = alloc : local b1[1]
        # CHECK: if %[[V1]]
        # CHECK: %[[V2:[0-9]+]] = load %A, %n : i32
        # CHECK: %[[V3:[0-9]+]] = gt %[[V2]], %c1{{[_0-9]*}} : b1
        # CHECK: store %choice, %c0{{[_0-9]*}}, %[[V3]]
        # CHECK: store %choice, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}
        # CHECK: %[[V4:[0-9]+]] = load %choice, %c0{{[_0-9]*}} : b1
        # CHECK: if %[[V4]]
        if n > 1 and A[n] > 1:
            # CHECK: store %A, %c3{{[_0-9]*}}, %c3{{[_0-9]*}}
            A[3] = 3
        # A chain is `and` of its links, each operand evaluated once.
        # CHECK: %[[V5:[0-9]+]] = lt %c0{{[_0-9]*}}, %n : b1
        # CHECK: %[[V6:[0-9]+]] = lt %n, %c8{{[_0-9]*}} : b1
        # CHECK: %[[V7:[0-9]+]] = logical_and %[[V5]], %[[V6]] : b1
        # CHECK: if %[[V7]]
        if 0 < n < 8:
            # CHECK: store %A, %c4{{[_0-9]*}}, %c4{{[_0-9]*}}
            A[4] = 4
        # A conditional expression is lazy too.
        # CHECK: %[[V8:[0-9]+]] = lt %n, %c64{{[_0-9]*}} : b1
        # CHECK: %choice_1 = alloc : local i32[1]
        # CHECK: if %[[V8]]
        # CHECK: %[[V9:[0-9]+]] = load %A, %n : i32
        # CHECK: store %choice_1, %c0{{[_0-9]*}}, %[[V9]]
        # CHECK: store %choice_1, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}
        # CHECK: %[[V10:[0-9]+]] = load %choice_1, %c0{{[_0-9]*}} : i32
        # CHECK: store %A, %c5{{[_0-9]*}}, %[[V10]]
        A[5] = A[n] if n < 64 else 0
        # Without memory there is nothing to be lazy about.
        # CHECK: %[[V11:[0-9]+]] = lt %n, %c64{{[_0-9]*}} : b1
        # CHECK: %[[V12:[0-9]+]] = select %[[V11]], %n, %c0{{[_0-9]*}} : i32
        # CHECK: store %A, %c6{{[_0-9]*}}, %[[V12]]
        A[6] = n if n < 64 else 0
        # CHECK: store %A, %c7{{[_0-9]*}}, %c7{{[_0-9]*}}
        A[7] = 7 if 1 < 2 else A[n]
        # CHECK: %[[V13:[0-9]+]] = logical_not %b : b1
        # CHECK: if %[[V13]]
        if not b:
            # CHECK: store %A, %c8{{[_0-9]*}}, %c8{{[_0-9]*}}
            A[8] = 8
        v = 0 or n
        # CHECK: store %A, %c9{{[_0-9]*}}, %n
        A[9] = v
        # CHECK: %[[V14:[0-9]+]] = gt %n, %c3{{[_0-9]*}} : b1
        # CHECK: %w = logical_or %[[V14]], %b : b1
        w = n > 3 or b
        # CHECK: if %w
        if w:
            # CHECK: store %A, %c10{{[_0-9]*}}, %c1{{[_0-9]*}}
            A[10] = 1
        # CHECK: %[[V15:[0-9]+]] = eq %n, %c2{{[_0-9]*}} : b1
        # CHECK: if %[[V15]]
        elif n == 2:
            # CHECK: store %A, %c11{{[_0-9]*}}, %c1{{[_0-9]*}}
            A[11] = 1
        else:
            # CHECK: store %A, %c12{{[_0-9]*}}, %c1{{[_0-9]*}}
            A[12] = 1


# CHECK-LABEL: func @loops
@T.prim_func
def loops(A: T.Tensor((64,), "int32"), n: T.int32):
    with T.Kernel(1, threads=32) as bx:
        i = T.alloc_var("int32", 0)
        # CHECK: while
        # CHECK: %[[V16:[0-9]+]] = load %i, %c0{{[_0-9]*}} : i32
        # CHECK: %[[V17:[0-9]+]] = lt %[[V16]], %n : b1
        # CHECK: condition %[[V17]]
        while i < n:
            # CHECK: %[[V18:[0-9]+]] = load %i, %c0{{[_0-9]*}} : i32
            # CHECK: %[[V19:[0-9]+]] = add %[[V18]], %c1{{[_0-9]*}} : i32
            # CHECK: store %i, %c0{{[_0-9]*}}, %[[V19]]
            i += 1
            if i == 3:
                # CHECK: continue
                continue
            if i == 5:
                # CHECK: break
                break
        # CHECK-NOT: while
        while 1 > 2:
            A[0] = 0
        # range is T.serial.
        # CHECK: for %c0{{[_0-9]*}}, %c4{{[_0-9]*}} {kind="serial"}{{.*}}|%k: i32|
        for k in range(4):
            A[k] = 1
        # ceildiv(stop - start, step) times, the name is start + v * step.
        # CHECK: for %c0{{[_0-9]*}}, %{{[0-9]+}} {kind="serial"}{{.*}}|%k_1: i32|
        # CHECK: %[[V20:[0-9]+]] = mul %k_1, %c3{{[_0-9]*}} : i32
        # CHECK: %[[V21:[0-9]+]] = add %[[V20]], %c2{{[_0-9]*}} : i32
        for k in range(2, 9, 3):
            # CHECK: store %A, %[[V21]], %c2{{[_0-9]*}}
            A[k] = 2
        # CHECK: constant {value=4} : i32
        # CHECK: for %c0{{[_0-9]*}}, %{{[0-9]+}} {kind="serial"}{{.*}}|%k_2: i32|
        # CHECK: %[[V22:[0-9]+]] = mul %k_2, %cm2{{[_0-9]*}} : i32
        # CHECK: %[[V23:[0-9]+]] = add %[[V22]], %c7{{[_0-9]*}} : i32
        for k in T.serial(7, 0, -2):
            # CHECK: store %A, %[[V23]], %c3{{[_0-9]*}}
            A[k] = 3
        # CHECK: %[[V24:[0-9]+]] = sub %c16{{[_0-9]*}}, %n : i32
        # CHECK: %[[V25:[0-9]+]] = add %[[V24]], %c4{{[_0-9]*}} : i32
        # CHECK: %[[V26:[0-9]+]] = sub %[[V25]], %c1{{[_0-9]*}} : i32
        # CHECK: %[[V27:[0-9]+]] = floordiv %[[V26]], %c4{{[_0-9]*}} : i32
        # CHECK: for %c0{{[_0-9]*}}, %[[V27]] {kind="unroll"}{{.*}}|%k_3: i32|
        # CHECK: %[[V28:[0-9]+]] = mul %k_3, %c4{{[_0-9]*}} : i32
        # CHECK: %{{[0-9]+}} = add %[[V28]], %n : i32
        for k in T.unroll(n, 16, 4):
            A[k] = 4
