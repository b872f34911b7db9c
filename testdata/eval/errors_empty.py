# test: eval
# A file without kernels.
# error: the file defines no kernel
x = 1
