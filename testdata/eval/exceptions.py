# Exceptions of host code: what the program raises itself goes to the first handler that names it; what cannot be
# followed raises nothing.
# test: eval
import json

import tilelang
import tilelang.language as T


def size(name):
    sizes = {"small": 8, "large": 64}
    try:
        return sizes[name]
    except (IndexError, TypeError):
        return 1
    except KeyError as error:
        return 16
    finally:
        sizes = None


class TooLarge(ValueError):
    pass


def checked(n):
    if n > 32:
        raise TooLarge(f"{n} is too much")
    return n


def nested(n):
    try:
        try:
            checked(n)
        except TypeError:
            return 1
        else:
            return 2
    except ValueError:
        return 3


try:
    import not_there
except ImportError:
    not_there = None

try:
    extra = json.loads("{}")["extra"]
except KeyError:
    extra = 5


@tilelang.jit
def make(n, m=1):
    @T.prim_func
    def main(A: T.Tensor((n, m), "int32")):
        with T.Kernel(1, threads=32) as bx:
            A[0, 0] = 1

    return main


# CHECK: func @make{{.*}}i32[8:"n", 2:"m"]
make(size("small"), nested(8))
# CHECK: func @make{{.*}}i32[16:"n", 3:"m"]
make(size("middle"), nested(64))


# A factory may check its parameters.
@tilelang.jit
def checks(n):
    try:
        checked(n)
    except ValueError as error:
        n = 32

    @T.prim_func
    def main(A: T.Tensor((n,), "int32")):
        with T.Kernel(1, threads=32) as bx:
            A[0] = 1

    return main


# CHECK: func @checks{{.*}}i32[32]
checks(64)
