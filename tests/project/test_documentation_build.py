"""The whole documentation, notebooks executed and pictures drawn, built as README says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from helpers.project import ROOT

DOCS = ROOT / "docs"


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_it_is_built_without_a_warning_and_has_every_public_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link within it that leads nowhere is a warning, too (docs/extensions/links.py)."""
    for module in ("latex2mathml", "myst_nb", "numpydoc", "pydata_sphinx_theme", "sphinx_design", "torch"):
        pytest.importorskip(module, reason='python -m pip install -e ".[docs,dask,torch]"')
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "2", "-d", str(tmp_path / "doctrees")]
    built = subprocess.run([*command, str(DOCS), str(tmp_path / "html")], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-8000:]

    monkeypatch.syspath_prepend(DOCS)
    from extensions.reference import packages, public_names

    missing = []
    for package, modules in packages().items():
        text = (tmp_path / "html" / "reference" / "packages" / f"{package}.html").read_text(encoding="utf-8")
        names = (f"{module}.{name}" for module in modules for name in public_names(module))
        missing += [name for name in names if f'id="{name}"' not in text]
    assert not missing, missing
