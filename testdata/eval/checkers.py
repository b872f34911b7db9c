# Kernels that break a rule which is checked before lowering, and their twins that do not. What a release of TileLang says
# of each is in testdata/reference/checkers.tsv; tools/reference/checkers_check.py compares.
# test: eval
import tilelang
import tilelang.language as T

RACES = {"tl.disable_data_race_check": False}


@tilelang.jit
def nested_beside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                A[i] = 1.0
                for j in T.Parallel(8):  # error: LANG-01
                    B[i, j] = 1.0

    return main


@tilelang.jit
def nested_direct():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                for j in T.Parallel(8):
                    B[i, j] = 1.0

    return main


@tilelang.jit
def nested_direct_bound():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                x = i * 2
                for j in T.Parallel(8):  # error: LANG-01
                    B[x, j] = 1.0

    return main


@tilelang.jit
def nested_direct_static():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                x = 2
                for j in T.Parallel(8):
                    B[i, j + x] = 1.0

    return main


@tilelang.jit
def nested_through_serial():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                for k in T.serial(4):
                    for j in T.Parallel(8):  # error: LANG-01
                        B[i, j + k] = 1.0

    return main


@tilelang.jit
def nested_through_if():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                if i < n:
                    for j in T.Parallel(8):  # error: LANG-01
                        B[i, j] = 1.0

    return main


@tilelang.jit
def nested_two():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                for j in T.Parallel(4):  # error: LANG-01
                    B[i, j] = 1.0
                for j in T.Parallel(4):  # error: LANG-01
                    B[i, j + 4] = 1.0

    return main


@tilelang.jit
def nested_three():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                for j in T.Parallel(4):
                    for k in T.Parallel(4):
                        B[i, j * 4 + k] = 1.0

    return main


@tilelang.jit
def nested_last():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                for j in T.Parallel(4):
                    B[i, j] = 1.0
                    for k in T.Parallel(4):  # error: LANG-01
                        B[i, j * 4 + k] = 1.0

    return main


@tilelang.jit
def nested_static_if():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                if 1 < 2:
                    for j in T.Parallel(4):
                        B[i, j] = 1.0

    return main


@tilelang.jit
def serial_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                for j in T.serial(4):
                    B[i, j] = 1.0

    return main


@tilelang.jit
def vectorized_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                for j in T.vectorized(4):
                    B[i, j] = 1.0

    return main


@tilelang.jit
def parallel_in_serial():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for j in T.serial(4):
                for i in T.Parallel(8):
                    B[i, j] = 1.0

    return main


@tilelang.jit
def pipelined_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                for j in T.Pipelined(4, num_stages=2):  # error: LANG-01
                    B[i, j] = 1.0

    return main


@tilelang.jit
def pipelined_zero_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                for j in T.Pipelined(4):
                    B[i, j] = 1.0

    return main


@tilelang.jit
def pipelined_around():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for j in T.Pipelined(4, num_stages=2):
                for i in T.Parallel(8):
                    B[i, j] = 1.0

    return main


@tilelang.jit
def pipelined_inside_serial_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                for k in T.serial(2):
                    for j in T.Pipelined(4, num_stages=2):  # error: LANG-01
                        B[i, j + k] = 1.0

    return main


@tilelang.jit
def copy_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((64,), "float32")
            for i in T.Parallel(8):
                T.copy(A, s)  # error: LANG-01

    return main


@tilelang.jit
def copy_element_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                T.copy(B[i, 0], A[i])

    return main


@tilelang.jit
def fill_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((64,), "float32")
            for i in T.Parallel(8):
                T.fill(s, 0)  # error: LANG-01

    return main


@tilelang.jit
def gemm_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(a)
            T.clear(b)
            T.clear(c)
            for i in T.Parallel(8):
                T.gemm(a, b, c)  # error: LANG-01

    return main


@tilelang.jit
def reduce_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_fragment((64, 64), "float32")
            c = T.alloc_fragment((64,), "float32")
            T.clear(a)
            for i in T.Parallel(8):
                T.reduce_sum(a, c, dim=1)  # error: LANG-01

    return main


@tilelang.jit
def cumsum_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((64,), "float32")
            T.clear(a)
            for i in T.Parallel(8):
                T.cumsum(a)  # error: LANG-01

    return main


@tilelang.jit
def atomic_tile_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((64,), "float32")
            T.clear(a)
            for i in T.Parallel(8):
                T.atomic_add(A[0:64], a)  # error: LANG-01

    return main


@tilelang.jit
def atomic_element_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                T.atomic_add(A[i], 1.0)

    return main


@tilelang.jit
def print_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                T.print(A[i])

    return main


@tilelang.jit
def sync_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                T.sync_threads()  # error: T.sync_threads inside T.Parallel
                A[i] = 1.0

    return main


@tilelang.jit
def async_copy_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((64,), "float32")
            for i in T.Parallel(8):
                T.async_copy(A, s)  # error: LANG-01

    return main


@tilelang.jit
def while_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                k = T.alloc_var("int32", init=0)
                while k < 4:
                    B[i, k] = 1.0
                    k = k + 1

    return main


@tilelang.jit
def alloc_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                f = T.alloc_local((1,), "float32")
                f[0] = 1.0
                A[i] = f[0]

    return main


@tilelang.jit
def local_store():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((64,), "float32")
            for i in T.Parallel(64):
                l[i] = 1.0  # error: LANG-03

    return main


@tilelang.jit
def local_load():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((64,), "float32")
            for i in T.serial(64):
                l[i] = 1.0
            for i in T.Parallel(64):
                A[i] = l[i]  # error: LANG-03

    return main


@tilelang.jit
def local_two():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((64,), "float32")
            for i, j in T.Parallel(8, 8):
                l[i * 8 + j] = 1.0  # error: LANG-03

    return main


@tilelang.jit
def local_fixed():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((1,), "float32")
            l[0] = 2.0
            for i in T.Parallel(64):
                A[i] = l[0]

    return main


@tilelang.jit
def local_inner_loop():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((4,), "float32")
            for i in T.Parallel(64):
                for j in T.vectorized(4):
                    l[j] = 1.0
                A[i] = l[0]

    return main


@tilelang.jit
def local_bound():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((64,), "float32")
            for i in T.Parallel(64):
                x = i // 2
                l[x] = 1.0

    return main


@tilelang.jit
def local_outer_variable():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((4,), "float32")
            for k in T.serial(4):
                for i in T.Parallel(64):
                    l[k] = 1.0
                    A[i] = l[k]

    return main


@tilelang.jit
def local_through_memory():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((64,), "float32")
            for i in T.Parallel(64):
                l[I[i]] = 1.0  # error: LANG-03

    return main


@tilelang.jit
def local_in_value():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((4,), "float32")
            for i in T.Parallel(64):
                l[0] = A[i]
                A[i] = l[0] + 1.0

    return main


@tilelang.jit
def local_var_in_loop():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            v = T.alloc_var("float32", init=0.0)
            for i in T.Parallel(64):
                v = A[i]
                A[i] = v + 1.0

    return main


@tilelang.jit
def local_condition():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((64,), "float32")
            for i in T.serial(64):
                l[i] = 1.0
            for i in T.Parallel(64):
                if l[i] > 0.0:  # error: LANG-03
                    A[i] = 1.0

    return main


@tilelang.jit
def local_atomic():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((64,), "float32")
            for i in T.serial(64):
                l[i] = 1.0
            for i in T.Parallel(64):
                T.atomic_add(A[i], l[i])  # error: LANG-03

    return main


@tilelang.jit
def local_serial_in_parallel():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((64,), "float32")
            for i in T.Parallel(8):
                for j in T.serial(8):
                    l[i + j] = 1.0  # error: LANG-03

    return main


@tilelang.jit
def fragment_runtime():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64,), "float32")
            for i in T.Parallel(n):
                f[i] = 1.0  # error: LANG-02

    return main


@tilelang.jit
def fragment_runtime_load():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64,), "float32")
            T.clear(f)
            for i in T.Parallel(n):
                A[i] = f[i]  # error: LANG-02

    return main


@tilelang.jit
def fragment_known():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64,), "float32")
            for i in T.Parallel(64):
                f[i] = 1.0

    return main


@tilelang.jit
def fragment_min():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64,), "float32")
            for i in T.Parallel(T.min(n, 64)):
                f[i] = 1.0  # error: LANG-02

    return main


@tilelang.jit
def fragment_guarded():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64,), "float32")
            for i in T.Parallel(64):
                if i < n:
                    f[i] = 1.0

    return main


@tilelang.jit
def fragment_one_runtime():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64,), "float32")
            T.clear(f)
            for i, j in T.Parallel(64, n):
                B[i, j] = f[i]

    return main


@tilelang.jit
def fragment_one_runtime_used():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64, 64), "float32")
            T.clear(f)
            for i, j in T.Parallel(64, n):
                B[i, j] = f[i, j]  # error: LANG-02

    return main


@tilelang.jit
def fragment_runtime_other():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64,), "float32")
            T.clear(f)
            for i in T.Parallel(n):
                A[i] = f[0]

    return main


@tilelang.jit
def fragment_runtime_shared():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((64,), "float32")
            for i in T.Parallel(n):
                s[i] = 1.0

    return main


@tilelang.jit
def fragment_runtime_serial():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64,), "float32")
            T.clear(f)
            for i in T.Parallel(n):
                for j in T.serial(4):
                    A[i] = f[i] + j  # error: LANG-02

    return main


@tilelang.jit
def fragment_runtime_bound():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64,), "float32")
            T.clear(f)
            for i in T.Parallel(n):
                x = i // 2
                A[i] = f[x]  # error: LANG-02

    return main


@tilelang.jit
def fragment_runtime_condition():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64,), "float32")
            T.clear(f)
            for i in T.Parallel(n):
                if f[i] > 0.0:  # error: LANG-02
                    A[i] = 1.0

    return main


@tilelang.jit
def read_first():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64,), "float32")
            T.copy(f, A)

    return main


@tilelang.jit(pass_configs={"tl.disable_buffer_init_check": True})
def read_first_off():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64,), "float32")
            T.copy(f, A)

    return main


@tilelang.jit
def race_unasked():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                A[0] = T.cast(i, "float32")

    return main


@tilelang.jit(pass_configs=RACES)
def race_same_element():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                A[0] = T.cast(i, "float32")

    return main


@tilelang.jit(pass_configs=RACES)
def race_same_value():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                A[0] = 1.0

    return main


@tilelang.jit(pass_configs=RACES)
def race_halves():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                A[i // 2] = T.cast(i, "float32")

    return main


@tilelang.jit(pass_configs=RACES)
def race_none():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i, j in T.Parallel(8, 8):
                A[i * 8 + j] = T.cast(i, "float32")

    return main


@tilelang.jit(pass_configs=RACES)
def race_diagonal():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i, j in T.Parallel(8, 8):
                A[i + j] = T.cast(i, "float32")

    return main


@tilelang.jit(pass_configs=RACES)
def race_scattered():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                A[I[i]] = T.cast(i, "float32")

    return main


@tilelang.jit(pass_configs=RACES)
def race_guarded():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                if i == 3:
                    A[0] = T.cast(i, "float32")

    return main


@tilelang.jit(pass_configs=RACES)
def race_guarded_runtime():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                if i == n:
                    A[0] = T.cast(i, "float32")

    return main


@tilelang.jit(pass_configs=RACES)
def race_read_value():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                A[0] = B[i, 0]

    return main


@tilelang.jit(pass_configs=RACES)
def race_local():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((1,), "float32")
            for i in T.Parallel(64):
                l[0] = A[i]
                A[i] = l[0]

    return main


@tilelang.jit(pass_configs=RACES)
def race_shared():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            s = T.alloc_shared((64,), "int32")
            for i in T.Parallel(64):
                s[i % 8] = i

    return main


@tilelang.jit(pass_configs=RACES)
def race_fragment():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            f = T.alloc_fragment((64,), "int32")
            for i, j in T.Parallel(64, 8):
                f[i] = j

    return main


@tilelang.jit(pass_configs=RACES)
def race_serial_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(16):
                for j in T.serial(4):
                    A[i + j] = T.cast(i, "float32")

    return main


@tilelang.jit(pass_configs=RACES)
def race_serial_apart():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(16):
                for j in T.serial(4):
                    A[i * 4 + j] = T.cast(i, "float32")

    return main


@tilelang.jit(pass_configs=RACES)
def race_runtime_stride():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                A[i * n] = T.cast(i, "float32")

    return main


@tilelang.jit(pass_configs=RACES)
def race_runtime_offset():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(8):
                A[i + n] = T.cast(i, "float32")

    return main


@tilelang.jit(pass_configs=RACES)
def race_modulo():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(128):
                A[i % 64] = T.cast(i, "float32")

    return main


@tilelang.jit(pass_configs=RACES)
def race_rank_two():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i, j in T.Parallel(64, 64):
                B[j, i] = T.cast(i, "float32")

    return main


@tilelang.jit
def order_right():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 1, 1]):
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def order_short():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 1]):  # error: order for 2 statements, its body has 3
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def order_long():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2, 3], stage=[0, 1, 1, 1]):  # error: LANG-06
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def order_and_stage_differ():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 1]):  # error: an order for 3 statements and stages for 2
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def order_alone():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1]):
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def stage_alone():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, stage=[0, 1]):
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def order_repeated():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 0, 1], stage=[0, 1, 1]):  # error: LANG-06
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def order_outside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 5], stage=[0, 1, 1]):
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def order_negative():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, -1], stage=[0, 1, 1]):  # error: LANG-06
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def stage_negative():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[-1, 1, 1]):
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def stage_backwards():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[1, 0, 0]):  # error: LANG-06
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def order_backwards():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[2, 1, 0], stage=[0, 0, 0]):  # error: LANG-06
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def order_short_stages():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 1], num_stages=2):
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def bound_not_counted():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 1, 1]):
                x = k * 8
                T.copy(B[x, 0], a)
                T.copy(a, c)
                T.copy(c, B[x, 0])

    return main


@tilelang.jit
def bound_counted():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2, 3], stage=[0, 0, 1, 1]):  # error: LANG-06
                x = k * 8
                T.copy(B[x, 0], a)
                T.copy(a, c)
                T.copy(c, B[x, 0])

    return main


@tilelang.jit
def bound_long():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2, 3, 4], stage=[0, 0, 1, 1, 1]):  # error: LANG-06
                x = k * 8
                T.copy(B[x, 0], a)
                T.copy(a, c)
                T.copy(c, B[x, 0])

    return main


@tilelang.jit
def bound_read_not_counted():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 1, 1]):
                x = I[k]
                T.copy(B[x, 0], a)
                T.copy(a, c)
                T.copy(c, B[x, 0])

    return main


@tilelang.jit
def bound_read_counted():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2, 3], stage=[0, 0, 1, 1]):
                x = I[k]
                T.copy(B[x, 0], a)
                T.copy(a, c)
                T.copy(c, B[x, 0])

    return main


@tilelang.jit
def bound_written_counted():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 0, 0]):
                x = I[k]
                T.copy(B[x, 0], a)
                I[k + 1] = x

    return main


@tilelang.jit
def bound_written_not_counted():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 0]):  # error: order for 2 statements, its body has 3
                x = I[k]
                T.copy(B[x, 0], a)
                I[k + 1] = x

    return main


@tilelang.jit
def if_is_one():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 0]):  # error: order for 2 statements, its body has 3
                if k < n:
                    T.copy(B[k * 8, 0], a)
                    T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def if_is_three():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 0, 0]):
                if k < n:
                    T.copy(B[k * 8, 0], a)
                    T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def loop_is_one():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 1, 1]):
                T.copy(B[k * 8, 0], a)
                for i, j in T.Parallel(8, 64):
                    c[i, j] = a[i, j]
                    c[i, j] = c[i, j] + 1.0
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def loop_is_two():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2, 3], stage=[0, 1, 1, 1]):  # error: LANG-06
                T.copy(B[k * 8, 0], a)
                for i, j in T.Parallel(8, 64):
                    c[i, j] = a[i, j]
                    c[i, j] = c[i, j] + 1.0
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def alloc_init_counted():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2, 3], stage=[0, 0, 1, 1]):
                v = T.alloc_var("int32", init=0)
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def alloc_init_not_counted():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 1, 1]):  # error: order for 3 statements, its body has 4
                v = T.alloc_var("int32", init=0)
                T.copy(B[k * 8, 0], a)
                T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def alloc_not_counted():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 1, 1]):
                d = T.alloc_fragment((8, 64), "float32")
                T.copy(B[k * 8, 0], a)
                T.copy(a, d)
                T.copy(d, B[k * 8, 0])

    return main


@tilelang.jit
def alloc_counted():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2, 3], stage=[0, 0, 1, 1]):  # error: LANG-06
                d = T.alloc_fragment((8, 64), "float32")
                T.copy(B[k * 8, 0], a)
                T.copy(a, d)
                T.copy(d, B[k * 8, 0])

    return main


@tilelang.jit
def unroll_is_one():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 1]):
                for u in T.unroll(2):
                    T.copy(B[k * 8, 0], a)
                T.copy(a, c)

    return main


@tilelang.jit
def unroll_is_two():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 0, 1]):  # error: order for 3 statements, its body has 2
                for u in T.unroll(2):
                    T.copy(B[k * 8, 0], a)
                T.copy(a, c)

    return main


@tilelang.jit
def explicit_is_one():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 1]):  # error: order for 2 statements, its body has 3
                for u in T.unroll(2, explicit=True):
                    T.copy(B[k * 8, 0], a)
                T.copy(a, c)

    return main


@tilelang.jit
def explicit_is_two():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 0, 1]):
                for u in T.unroll(2, explicit=True):
                    T.copy(B[k * 8, 0], a)
                T.copy(a, c)

    return main


@tilelang.jit
def serial_is_one():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 1]):
                for u in T.serial(2):
                    T.copy(B[k * 8 + u, 0], a)
                T.copy(a, c)

    return main


@tilelang.jit
def static_if_is_two():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 1, 1]):
                if 1 < 2:
                    T.copy(B[k * 8, 0], a)
                    T.copy(a, c)
                T.copy(c, B[k * 8, 0])

    return main


@tilelang.jit
def pureunused_2():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 0]):
                x = k * 8 + n // 3
                T.copy(B[k, 0], a)
                T.copy(a, B[k, 0])

    return main


@tilelang.jit
def purefloat_1():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0], stage=[0]):  # error: LANG-06
                x = T.cast(k, "float32") * 2.0
                T.copy(B[k, 0], a)
                T.fill(a, x)

    return main


@tilelang.jit
def loadunused_2():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 0]):
                x = I[k]
                T.copy(B[k, 0], a)
                T.copy(a, B[k, 0])

    return main


@tilelang.jit
def loadunused_3():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 0, 0]):  # error: order for 3 statements, its body has 2
                x = I[k]
                T.copy(B[k, 0], a)
                T.copy(a, B[k, 0])

    return main


@tilelang.jit
def ifelse_2():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 0]):
                if k < n:
                    T.copy(B[k, 0], a)
                    T.copy(B[k, 0], c)
                else:
                    T.copy(B[0, 0], a)
                T.copy(a, B[k, 0])

    return main


@tilelang.jit
def ifelse_3():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 0, 0]):  # error: order for 3 statements, its body has 2
                if k < n:
                    T.copy(B[k, 0], a)
                    T.copy(B[k, 0], c)
                else:
                    T.copy(B[0, 0], a)
                T.copy(a, B[k, 0])

    return main


@tilelang.jit
def nestedif_3():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 0, 0]):
                if k < n:
                    if k > 1:
                        T.copy(B[k, 0], a)
                        T.copy(B[k, 0], c)
                T.copy(a, B[k, 0])

    return main


@tilelang.jit
def nestedif_2():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 0]):  # error: order for 2 statements, its body has 3
                if k < n:
                    if k > 1:
                        T.copy(B[k, 0], a)
                        T.copy(B[k, 0], c)
                T.copy(a, B[k, 0])

    return main


@tilelang.jit
def inlineload_2():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 0]):
                I[k + 1] = I[k] + 1
                T.copy(B[k, 0], a)

    return main


@tilelang.jit
def inlineload_3():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 0, 0]):  # error: order for 3 statements, its body has 2
                I[k + 1] = I[k] + 1
                T.copy(B[k, 0], a)

    return main


@tilelang.jit
def atomic_2():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 0]):
                T.copy(B[k, 0], a)
                T.atomic_add(A[k], 1.0)

    return main


@tilelang.jit
def atomic_1():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0], stage=[0]):  # error: order for 1 statements, its body has 2
                T.copy(B[k, 0], a)
                T.atomic_add(A[k], 1.0)

    return main


@tilelang.jit
def whileloop_3():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 0, 0]):
                v = T.alloc_var("int32")
                v = 0
                while v < n:
                    v = v + 1
                T.copy(a, B[k, 0])

    return main


@tilelang.jit
def whileloop_2():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1], stage=[0, 0]):  # error: order for 2 statements, its body has 3
                v = T.alloc_var("int32")
                v = 0
                while v < n:
                    v = v + 1
                T.copy(a, B[k, 0])

    return main


@tilelang.jit
def sync_3():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            a = T.alloc_shared((8, 64), "float32")
            c = T.alloc_fragment((8, 64), "float32")
            for k in T.Pipelined(8, order=[0, 1, 2], stage=[0, 0, 0]):
                T.copy(B[k, 0], a)
                T.sync_threads()
                T.copy(a, B[k, 0])

    return main


@tilelang.jit
def break_serial():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                for j in T.serial(8):
                    if A[i] > 1.0:
                        break
                    A[i] = 1.0

    return main


@tilelang.jit
def continue_serial():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                for j in T.serial(8):
                    if A[i] > 1.0:
                        continue
                    A[i] = 1.0

    return main


@tilelang.jit
def break_parallel():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                if A[i] > 1.0:
                    break  # error: break inside T.Parallel
                A[i] = 1.0

    return main


@tilelang.jit
def continue_parallel():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                if A[i] > 1.0:
                    continue  # error: continue inside T.Parallel
                A[i] = 1.0

    return main


@tilelang.jit
def sync_whole_block():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                T.sync_threads()  # error: T.sync_threads inside T.Parallel
                A[i] = 1.0

    return main


@tilelang.jit
def local_reduce_inside():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((4,), "float32")
            r = T.alloc_local((1,), "float32")
            for i in T.Parallel(64):
                for j in T.serial(4):
                    l[j] = A[i]
                T.reduce_sum(l, r)  # error: LANG-01
                A[i] = r[0]

    return main


@tilelang.jit
def local_bound_read():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64, 64), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
        with T.Kernel(1, threads=64) as bx:
            l = T.alloc_local((64,), "float32")
            for i in T.Parallel(64):
                x = I[i]
                l[x] = 1.0

    return main
