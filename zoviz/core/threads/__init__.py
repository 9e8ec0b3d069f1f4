"""What the threads of a process share: BLAS and PyTorch one at a time, the interpreter, and a caller's arithmetic."""
