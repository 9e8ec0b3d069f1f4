"""A program in a file."""

from __future__ import annotations

import pytest

HS22 = '''
"""Problem 22 of Hock and Schittkowski, however x comes and f and h go."""
import json
import os
import sys

def read(text, form):
    return json.loads(text) if form == "json" else [float(word) for word in text.split()]

form, source, target = sys.argv[1:4]
text = sys.stdin.read() if source == "-" else open(source).read()
a, b = read(text, form)
values = [(a - 2) ** 2 + (b - 1) ** 2, a + b - 2, a**2 - b]
if form == "json":
    out = json.dumps({"f": values[0], "h": values[1:]})
else:
    out = {"text": "\\n", "line": " ", "comma": ", "}[form].join(map(repr, values)) + "\\n"
if target == "-":
    print(out)
else:
    print("chatter")
    open(target, "w").write(out)
'''


@pytest.fixture(scope="module")
def hs22(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("program") / "hs22.py"
    path.write_text(HS22)
    return str(path)
