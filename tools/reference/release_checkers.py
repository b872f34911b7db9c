#!/usr/bin/env python3
"""What a TileLang release refuses or warns about of kernels that break a rule of the language, and of their twins that do
not. Runs where that release is installed (no GPU is needed), after tilec has been built; prints the table
testdata/reference/checkers.tsv, keeping the reasons of the rows that differ:
  $TILELANG_PYTHON tools/reference/release_checkers.py > /tmp/checkers.tsv
"""
import importlib.util
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checkers_check  # noqa: E402

# What a message is about: a piece of it, the word that is recorded.
WORDS = (("Nested parallel loops", "nested_loop"), ("Pipelined loop cannot", "nested_loop"), ("Only elementwise", "nested_loop"),
         ("Local buffer", "parallel_local_index"), ("symbolic range", "fragment_loop"), ("ThreadSync", "thread_sync"),
         ("annotation size", "pipeline_count"), ("have the same order", "pipeline_order"), ("_info.order <", "pipeline_order"),
         ("_info.stage <=", "pipeline_stage"), ("_info.stage ==", "pipeline_stage"), ("Multiple writes", "pipeline_writes"),
         ("no available layout", "layout"), ("Data race detected", "parallel_race"), ("read before anything", "buffer_init"))


def word(text):
    return next((w for piece, w in WORDS if piece in text), "")


def answer(tilelang, function, options):
    """refuses/warns and about what, or accepts."""
    target = tilelang.tvm.target.Target({"kind": "cuda", "arch": "sm_90a"})
    stderr = os.dup(2)
    with tempfile.TemporaryFile("w+") as said:
        os.dup2(said.fileno(), 2)
        try:
            with target, tilelang.tvm.transform.PassContext(opt_level=3, config=options):
                tilelang.lower(function(), target=target)
            said.seek(0)
            about = word(said.read())
            return f"warns {about}" if about else "accepts"
        except Exception as e:  # whatever it is, the kernel is refused
            return f"refuses {word(str(e)) or type(e).__name__}"
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


def main():
    import tilelang
    spec = importlib.util.spec_from_file_location("checkers", checkers_check.KERNELS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    reasons = {name: why for name, _, _, why in checkers_check.rows()} if os.path.exists(checkers_check.TABLE) else {}
    print(checkers_check.HEAD)
    for name, verdict in checkers_check.verdicts().items():
        kernel = getattr(module, name)
        print(name, answer(tilelang, kernel.get_tir, dict(kernel.pass_configs or {})), verdict, reasons.get(name, ""), sep="\t")


if __name__ == "__main__":
    main()
