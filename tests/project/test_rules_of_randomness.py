"""The rules of randomness, read off the source by a walk over its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.sources import FOR_EACH_FILE, parse

# Names that draw nothing by themselves; all else in numpy.random is the global generator or its relatives.
NUMPY_RANDOM = {"BitGenerator", "Generator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence"}
NUMPY_RANDOM |= {"default_rng"}
GENERATORS = (NUMPY_RANDOM - {"SeedSequence"}) | {"RandomState", "Streams"}


def dotted(node: ast.AST) -> str:
    """Spell a.b.c of an attribute chain; "" for anything else."""
    if isinstance(node, ast.Attribute):
        left = dotted(node.value)
        return f"{left}.{node.attr}" if left else ""
    return node.id if isinstance(node, ast.Name) else ""


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that is evaluated when the module is imported: not the bodies of functions, but their defaults."""
    yield node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        inner = [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
    elif isinstance(node, ast.Lambda):
        inner = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    else:
        inner = list(ast.iter_child_nodes(node))
    for child in inner:
        yield from at_import(child)


def global_random(tree: ast.Module) -> list[str]:
    """Uses of a random generator that all callers share, each with its line."""
    uses = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            uses += [f"line {node.lineno}: import random" for alias in node.names if alias.name == "random"]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            shared = node.module == "random"
            bad = [a.name for a in node.names if shared or legacy(f"{node.module}.{a.name}")]
            uses += [f"line {node.lineno}: from {node.module} import {name}" for name in bad]
        elif isinstance(node, ast.Attribute) and legacy(dotted(node)):
            uses.append(f"line {node.lineno}: {dotted(node)}")
        elif isinstance(node, ast.Call) and dotted(node.func).endswith("default_rng") and not node.args + node.keywords:
            uses.append(f"line {node.lineno}: default_rng() without a seed")
    return uses


def legacy(name: str) -> bool:
    """Whether the dotted name is numpy.random's, and neither a generator's class nor its seed."""
    parts = name.split(".")
    if name == "numpy.random":
        return True
    return len(parts) == 3 and parts[0] in {"np", "numpy"} and parts[1] == "random" and parts[2] not in NUMPY_RANDOM


def generators_at_import(tree: ast.Module) -> list[str]:
    """Random generators that live as long as the module: made at its top, in a class body or as a default."""
    calls = (node for node in at_import(tree) if isinstance(node, ast.Call))
    return [f"line {c.lineno}: {dotted(c.func)}" for c in calls if dotted(c.func).rpartition(".")[2] in GENERATORS]


@FOR_EACH_FILE
def test_no_global_random_generator(path: Path) -> None:
    tree = parse(path)
    wrong = global_random(tree) + generators_at_import(tree)
    assert not wrong, "Draw from the run's streams instead:\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "from random import choice",
        "import numpy as np\nnp.random.seed(0)",
        "import numpy\nx = numpy.random.rand(3)",
        "from numpy.random import normal",
        "from numpy import random",
        "import numpy as np\ndef f():\n    return np.random.RandomState(1)",
        "import numpy as np\ndef f():\n    return np.random.default_rng()",
        "import numpy as np\nRNG = np.random.default_rng(0)",
        "import numpy as np\nclass A:\n    rng = np.random.Generator(np.random.PCG64(0))",
        "import numpy as np\ndef f(rng=np.random.default_rng(0)):\n    return rng",
        "from zoviz.core.streams import Streams\nSTREAMS = Streams(0, 1)",
    ],
)
def test_the_walk_finds_a_shared_generator(source: str) -> None:
    tree = ast.parse(source)
    assert global_random(tree) + generators_at_import(tree)


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\ndef f(seed: int) -> np.random.Generator:\n    return np.random.default_rng(seed)",
        "from numpy.random import Generator, SeedSequence",
        "import numpy as np\nMAKE = lambda seed: np.random.default_rng(seed)",
    ],
)
def test_the_walk_allows_a_generator_of_the_caller(source: str) -> None:
    tree = ast.parse(source)
    assert global_random(tree) + generators_at_import(tree) == []
