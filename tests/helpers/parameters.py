"""What the parameters of a class say of themselves."""

from __future__ import annotations

import param


def assert_documented(cls: type[param.Parameterized]) -> None:
    """Every parameter has a sentence, and a label of its own: Param makes one up where none is given."""
    own = {name: parameter for name, parameter in cls.param.objects().items() if name != "name"}
    silent = [name for name, parameter in own.items() if not (parameter.doc and parameter._label)]
    assert not silent, f"{', '.join(f'{cls.__name__}.{name}' for name in silent)}: write a doc and a label."
