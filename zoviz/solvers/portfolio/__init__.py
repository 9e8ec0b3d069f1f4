"""Several solvers on one budget, each from the best point of those before it."""
