"""CUTEst problems, by S2MPJ."""
