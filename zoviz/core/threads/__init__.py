"""What the threads of a process share: BLAS and PyTorch one at a time, and the interpreter between runs and pages."""
