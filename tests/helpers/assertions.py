"""Whether a test asserts anything, read off its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef
CONTEXTS = ("raises", "warns", "RaisesGroup")
PREFIXES = ("assert_", "check_")


def functions(tree: ast.AST) -> Iterator[Function]:
    """Every function of a file, those inside classes and other functions too."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def called(node: ast.Call) -> str:
    """The last part of the name of what is called: ``raises`` of ``pytest.raises(...)``."""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


class Suite:
    """The assertions of a folder of tests.

    Parameters
    ----------
    folder : Path
        Every Python file under it is read.
    """

    def __init__(self, folder: Path) -> None:
        self.trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py"))}
        self.helpers = {
            function.name: function
            for tree in self.trees.values()
            for function in functions(tree)
            if function.name.startswith(PREFIXES)
        }
        self._local: dict[str, ast.expr] = {}

    def tests(self) -> Iterator[tuple[Path, Function]]:
        """Every test function with its file."""
        for path, tree in self.trees.items():
            if path.name.startswith("test_"):
                yield from ((path, f) for f in functions(tree) if f.name.startswith("test_"))

    def is_assertion(self, node: ast.AST) -> bool:
        """Whether an expression fails where what it says is not so: NumPy's assertions, pytest.raises, a helper."""
        if not isinstance(node, ast.Call):
            return False
        name, function = called(node), node.func
        if isinstance(function, ast.Attribute) and ast.unparse(function).startswith(("np.testing.", "pytest.fail")):
            return True
        return name in CONTEXTS or name in self.helpers

    def within(self, node: ast.AST) -> bool:
        """Whether an expression is evaluated with an assertion in it."""
        inner = [c for c in ast.iter_child_nodes(node) if not isinstance(c, (ast.Lambda, *Function.__args__))]
        return self.is_assertion(node) or any(self.within(child) for child in inner)

    def asserts(self, function: Function) -> bool:
        """Whether a function that ends without an exception has asserted something."""
        assignments = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
        pairs = [(target, node.value) for node in assignments for target in node.targets]
        self._local = {target.id: value for target, value in pairs if isinstance(target, ast.Name)}
        return self.is_sure(function.body)

    def is_sure(self, body: Iterable[ast.stmt]) -> bool:
        """Whether whoever runs these statements to their end has asserted something."""
        for statement in body:
            if isinstance(statement, ast.Return):
                return statement.value is not None and self.within(statement.value)
            if self._is_sure(statement):
                return True
            if leaves(statement):
                return False
        return False

    def _is_sure(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return False
        if isinstance(node, ast.If):
            return self.within(node.test) or (self.is_sure(node.body) and self.is_sure(node.orelse))
        if isinstance(node, (ast.For, ast.AsyncFor)):
            filled = is_filled(node.iter, self._local)
            return self.within(node.iter) or (filled and self.is_sure(node.body)) or self.is_sure(node.orelse)
        if isinstance(node, ast.While):
            return self.is_sure(node.orelse)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return any(self.within(item.context_expr) for item in node.items) or self.is_sure(node.body)
        if isinstance(node, ast.Try):
            handlers = all(self.is_sure(handler.body) for handler in node.handlers)
            return (self.is_sure([*node.body, *node.orelse]) and handlers) or self.is_sure(node.finalbody)
        if isinstance(node, ast.Match):
            return False
        return self.within(node)


def leaves(node: ast.AST, kinds: tuple[type[ast.stmt], ...] = (ast.Return, ast.Continue, ast.Break)) -> bool:
    """Whether a statement may leave its function, or the round of the loop that it stands in."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return False
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        kinds = (ast.Return,)  # a break inside leaves that loop only
    return isinstance(node, kinds) or any(leaves(child, kinds) for child in ast.iter_child_nodes(node))


def is_filled(node: ast.expr, local: dict[str, ast.expr]) -> bool:
    """Whether there is surely something to loop over.

    So it is where elements are written out, in the place or under a local name; where a constant is named (its elements
    are somebody else's test); and where ranges, pairs or comprehensions are made of such things without a condition.
    """
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return any(not isinstance(element, ast.Starred) or is_filled(element.value, local) for element in node.elts)
    if isinstance(node, ast.Dict):
        return bool(node.keys)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and bool(node.value)
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return all(is_filled(part.iter, local) and not part.ifs for part in node.generators)
    if isinstance(node, ast.Call):
        return _is_filled_call(node, local)
    if isinstance(node, ast.Name) and node.id in local:
        return is_filled(local[node.id], {name: value for name, value in local.items() if name != node.id})
    return isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node).rpartition(".")[2].isupper()


def _is_filled_call(node: ast.Call, local: dict[str, ast.expr]) -> bool:
    name = called(node)
    if name == "zip" and any(
        keyword.arg == "strict" and ast.unparse(keyword.value) == "True" for keyword in node.keywords
    ):
        return any(is_filled(argument, local) for argument in node.args)
    if name in ("enumerate", "zip", "sorted", "reversed", "list", "product"):
        return all(is_filled(argument, local) for argument in node.args)
    if name in ("items", "values", "keys") and isinstance(node.func, ast.Attribute):
        return is_filled(node.func.value, local)
    return name in ("range", "split")
