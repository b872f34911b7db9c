# Threads that leave the kernel: the others do not wait for them. A[i] = i % 7 - 3.
# test: interp
# CHECK: leaves
# CHECK-NEXT: B = -3 -2 -1 0 1 2 3 -3 9 9 9 9 7 7 7 7
import tilelang.language as T


@T.prim_func
def leaves(A: T.Tensor((16,), "float32"), B: T.Tensor((16,), "float32")):
    with T.Kernel(1, threads=16):
        t = T.get_thread_binding()
        s = T.alloc_shared((16,), "float32")
        s[t] = A[t]
        B[t] = 7.0
        if t >= 12:
            T.thread_return()
        T.sync_threads()
        if A[t] < 100.0 and t >= 8:
            B[t] = 9.0
            T.thread_return()
        T.sync_threads()
        B[t] = s[t]
