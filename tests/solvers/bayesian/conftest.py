"""Bayesian methods need BoTorch: without it there is nothing to test here but the sentence that says so."""

from __future__ import annotations

import importlib.util

collect_ignore_glob: list[str] = []
if importlib.util.find_spec("botorch") is None:
    collect_ignore_glob = [
        *("test_surrogate.py", "test_model_slice.py", "test_base.py"),
        *("test_constrained_ei.py", "test_scbo.py", "test_safe_opt.py"),
    ]
