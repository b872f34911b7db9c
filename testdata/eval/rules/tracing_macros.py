# Macros become part of the kernel where they are called: scalars by value, buffers, regions and T.Ref by reference.
# test: eval
# test: roundtrip
import tilelang
import tilelang.language as T


@T.macro
def by_value(buffer, value, part):
    buffer[0] = 1
    # `value` was read before the store.
    buffer[1] = value
    T.fill(part, 0)


@T.macro
def by_reference(x: T.Ref, y: T.Ref):
    x = y + 1
    y += 2


@T.macro
def rebinds(x):
    x = x + 1
    return x


@T.macro
def doubled(x):
    two = x * 2
    return two


@T.macro
def pair(x):
    return x + 1, x + 2


@T.macro
def with_default(buffer, n=3, *, at=0):
    for i in range(n):
        buffer[at + i] = i


# CHECK-LABEL: func @calls
@T.prim_func
def calls(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=32) as bx:
        # CHECK: %[[VALUE:[0-9]+]] = load %A, %c0
        # CHECK: store %A, %c0{{[_0-9]*}}, %c1
        # CHECK: store %A, %c1{{[_0-9]*}}, %[[VALUE]]
        # CHECK: %[[PART:[0-9]+]] = region %A, %c8
        # CHECK: fill %[[PART]], %c0
        by_value(A, A[0], A[8:16])
        # CHECK: %v = alloc {scope="local.var"} : local i32[1]
        # CHECK: store %v, %c0{{[_0-9]*}}, %c5{{[_0-9]*}}
        v = T.alloc_var("int32", 5)
        # CHECK: %[[Y:[0-9]+]] = load %A, %c4
        # CHECK: %[[SUM:[0-9]+]] = add %[[Y]], %c1
        # CHECK: store %v, %c0{{[_0-9]*}}, %[[SUM]]
        # CHECK: %[[AGAIN:[0-9]+]] = load %A, %c4
        # CHECK: %[[MORE:[0-9]+]] = add %[[AGAIN]], %c2
        # CHECK: store %A, %c4{{[_0-9]*}}, %[[MORE]]
        by_reference(v, A[4])
        # Without T.Ref a variable goes by value: the assignment inside binds a name of the macro.
        # CHECK: load %v, %c0
        # CHECK-NOT: store %v
        # CHECK: store %A, %c9
        A[9] = rebinds(v)
        # CHECK: load %A, %c6
        # CHECK: %two = mul
        # CHECK: store %A, %c5{{[_0-9]*}}, %two
        A[5] = doubled(A[6])
        # CHECK: add %bx, %c1
        # CHECK: add %bx, %c2
        a, b = pair(bx)
        A[7] = a * b
        # CHECK: for %c0{{[_0-9]*}}, %c3
        with_default(A)
        # CHECK: for %c0{{[_0-9]*}}, %c2
        with_default(A, 2, at=40)


# A plain function of Python computes with what it is given; a macro may be made by one.
def offset(i):
    if i > 2:
        return i * 10
    return i


def make_store(value):
    @T.macro
    def store(buffer, i):
        buffer[i] = value

    return store


# CHECK-LABEL: func @closures
@T.prim_func
def closures(A: T.Tensor((64,), "int32")):
    store = make_store(9)
    with T.Kernel(1, threads=32) as bx:
        # CHECK: store %A, %bx, %c9
        store(A, bx)
        # CHECK: store %A, %{{[0-9a-z_]+}}, %c1
        A[offset(4)] = 1
        A[offset(2)] = 2


# Methods with a subscript store become part of the kernel, the others are Python.
@T.meta_class
class Cell:
    def __init__(self, buffer, at):
        self.buffer = buffer
        self.at = at

    def put(self, value):
        self.buffer[self.at] = value

    def shifted(self, by):
        return Cell(self.buffer, self.at + by)


# CHECK-LABEL: func @objects
@T.prim_func
def objects(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=32) as bx:
        cell = Cell(A, 1)
        # CHECK: store %A, %c1{{[_0-9]*}}, %bx
        cell.put(bx)
        # CHECK: store %A, %c4{{[_0-9]*}}, %c2
        cell.shifted(3).put(2)
