# Names: what an assignment does depends on what the name stands for and on what is assigned.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @binding
@T.prim_func
def binding(A: T.Tensor((64,), "int32"), n: T.int32):
    # Before the launch a pure expression stays one.
    # CHECK: %[[V1:[0-9]+]] = mul %n, %c2{{[_0-9]*}} : i32
    # CHECK: %m = add %[[V1]], %c1{{[_0-9]*}} : i32
    m = n * 2 + 1
    # Numbers, texts, lists and tuples stay Python's; an integer of int32 is one of them.
    three = T.int32(3)
    rows = [1, 2, 3]
    # CHECK: launch %m {threads=32}{{.*}}|%bx: i32|
    with T.Kernel(m, threads=32) as bx:
        # A symbolic scalar is evaluated where it is bound: the store after it changes nothing.
        # CHECK: %x = load %A, %bx : i32
        x = A[bx]
        # CHECK: store %A, %bx, %c7{{[_0-9]*}}
        A[bx] = 7
        # CHECK: store %A, %c0{{[_0-9]*}}, %x
        A[0] = x
        # A region is an alias of what it names, a buffer another name.
        part = A[8:16]
        # CHECK: constant {value=5} : i32
        # CHECK: %[[V2:[0-9]+]] = region %A, %c8{{[_0-9]*}}, %c8{{[_0-9]*}} : tile i32[8]
        # CHECK: fill %[[V2]], %{{[0-9]+}}
        T.fill(part, three + rows[1])
        alias = A
        # CHECK: store %A, %c1{{[_0-9]*}}, %m
        alias[1] = m
        # An augmented assignment binds the name anew.
        # CHECK: %x_1 = add %x, %c5{{[_0-9]*}} : i32
        x += 5
        # CHECK: store %A, %c2{{[_0-9]*}}, %x_1
        A[2] = x


# CHECK-LABEL: func @variables
@T.prim_func
def variables(A: T.Tensor((64,), "int32"), n: T.int32):
    with T.Kernel(1, threads=32) as bx:
        # Element type, first value, scope: a single text behind the type is the scope, all else the first value.
        # CHECK: %a = alloc {scope="local.var"} : local i32[1]
        a = T.alloc_var("int32")
        # CHECK-NOT: store %a,
        # CHECK: %b = alloc {scope="local.var"} : local i32[1]
        # CHECK: store %b, %c0{{[_0-9]*}}, %c4{{[_0-9]*}}
        b = T.alloc_var("int32", 4)
        # CHECK: %c = alloc {scope="local.var"} : local f32[1]
        # CHECK: %[[V3:[0-9]+]] = cast %n : f32
        # CHECK: store %c, %c0{{[_0-9]*}}, %[[V3]]
        c = T.alloc_var("float32", init=n)
        # CHECK: %d = alloc {scope="local.var"} : local i32[1]
        d = T.alloc_var("int32", "local.var")
        # CHECK-NOT: store %d,
        # CHECK: %e = alloc {scope="local.var"} : local i32[1]
        # CHECK: store %e, %c0{{[_0-9]*}}, %c2{{[_0-9]*}}
        e = T.alloc_var(dtype="int32", init=2, scope="local.var")
        # CHECK: %f = alloc {scope="local.var"} : local i32[1]
        # CHECK: store %f, %c0{{[_0-9]*}}, %c3{{[_0-9]*}}
        f = T.alloc_var("int32", 3, "local.var")
        # An assignment to a variable stores; use of one loads.
        # CHECK: store %a, %c0{{[_0-9]*}}, %n
        a = n
        # Both sides of a tuple are read before the first is stored: a swap.
        # CHECK: %[[V4:[0-9]+]] = load %b, %c0{{[_0-9]*}} : i32
        # CHECK: %[[V5:[0-9]+]] = load %a, %c0{{[_0-9]*}} : i32
        # CHECK: store %a, %c0{{[_0-9]*}}, %[[V4]]
        # CHECK: store %b, %c0{{[_0-9]*}}, %[[V5]]
        a, b = b, a
        # CHECK: %[[V6:[0-9]+]] = load %a, %c0{{[_0-9]*}} : i32
        # CHECK: %[[V7:[0-9]+]] = cast %[[V6]] : f32
        # CHECK: store %c, %c0{{[_0-9]*}}, %[[V7]]
        c = a
        # CHECK: %[[V8:[0-9]+]] = load %d, %c0{{[_0-9]*}} : i32
        # CHECK: %[[V9:[0-9]+]] = add %[[V8]], %c1{{[_0-9]*}} : i32
        # CHECK: store %d, %c0{{[_0-9]*}}, %[[V9]]
        d += 1
        # CHECK: %saved = load %a, %c0{{[_0-9]*}} : i32
        saved = a
        # CHECK: store %a, %c0{{[_0-9]*}}, %c9{{[_0-9]*}}
        a = 9
        # CHECK: store %A, %c0{{[_0-9]*}}, %saved
        A[0] = saved
        for i in T.serial(4):
            # CHECK: %[[V10:[0-9]+]] = load %a, %c0{{[_0-9]*}} : i32
            # CHECK: %[[V11:[0-9]+]] = add %[[V10]], %i : i32
            # CHECK: store %a, %c0{{[_0-9]*}}, %[[V11]]
            a = a + i
        if n > 3:
            # CHECK: store %a, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}
            a = 0


# CHECK-LABEL: func @scopes
@T.prim_func
def scopes(A: T.Tensor((64,), "int32"), n: T.int32):
    with T.Kernel(1, threads=32) as bx:
        # A static condition opens no scope, a run-time one does: each branch has its own name.
        if 3 > 2:
            here = 5
        # CHECK: store %A, %c0{{[_0-9]*}}, %c5{{[_0-9]*}}
        A[0] = here
        # CHECK: %[[V12:[0-9]+]] = gt %n, %c2{{[_0-9]*}} : b1
        # CHECK: if %[[V12]]
        if n > 2:
            # CHECK: %y = load %A, %c1{{[_0-9]*}} : i32
            y = A[1]
            # CHECK: store %A, %c2{{[_0-9]*}}, %y
            A[2] = y
        else:
            # CHECK: %y_1 = load %A, %c3{{[_0-9]*}} : i32
            y = A[3]
            # CHECK: store %A, %c4{{[_0-9]*}}, %y_1
            A[4] = y
        # Chained targets take one value, nested ones unpack.
        # CHECK: %p = load %A, %c5{{[_0-9]*}} : i32
        p = q = A[5]
        # CHECK: %t = add %p, %c1{{[_0-9]*}} : i32
        (r, t), u = (p, q + 1), 3
        # CHECK: %[[V13:[0-9]+]] = add %p, %t : i32
        # CHECK: %[[V14:[0-9]+]] = add %[[V13]], %c3{{[_0-9]*}} : i32
        # CHECK: store %A, %c6{{[_0-9]*}}, %[[V14]]
        A[6] = r + t + u
        # CHECK: store %A, %c7{{[_0-9]*}}, %n
        # CHECK: store %A, %c8{{[_0-9]*}}, %n
        A[7] = A[8] = n
        # A test that binds.
        # CHECK: %w = load %A, %c9{{[_0-9]*}} : i32
        # CHECK: %[[V15:[0-9]+]] = gt %w, %c1{{[_0-9]*}} : b1
        # CHECK: if %[[V15]]
        if (w := A[9]) > 1:
            # CHECK: store %A, %c10{{[_0-9]*}}, %w
            A[10] = w
