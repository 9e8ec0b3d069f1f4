"""The base of objects made from parameters, whose constructors name them with types and defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, Self, cast

import param
from param.parameterized import ParameterizedMetaclass

from zoviz.core.errors import suggestion
from zoviz.core.parameters import Interval, Part


class SignatureOfParameters(ParameterizedMetaclass):
    """A metaclass, since Param's own signature tells neither defaults nor what stands behind ``**params``."""

    @property
    def __signature__(cls) -> inspect.Signature:
        return constructor(cast(type[param.Parameterized], cls))


class Configurable(param.Parameterized, metaclass=SignatureOfParameters):
    """The base of objects made from parameters; ``inspect.signature`` names each with its type and default."""

    __abstract = True

    def __init__(self, **params: Any) -> None:
        known = type(self).param
        for unknown in (name for name in params if name not in known):
            own = settable(type(self))
            hint = suggestion(unknown, own, f"the parameters are {', '.join(own)}.")
            raise TypeError(f"Expected a parameter of {type(self).__name__}, got {unknown!r}: {hint}")
        super().__init__(**params)

    def clone(self) -> Self:
        """Return a clone with the same parameters: parts are cloned too, and no watcher is in common."""
        values = {name: value for name, value in self.param.values().items() if name != "name"}
        return type(self)(
            **{name: value.clone() if isinstance(value, Configurable) else value for name, value in values.items()}
        )


def constructor(cls: type[param.Parameterized]) -> inspect.Signature:
    """Return the signature of a class's constructor, with the parameters that ``**params`` stands for.

    The class's own parameters come before those of its bases, and ``name`` last.
    """
    arguments = list(inspect.signature(cls.__init__).parameters.values())[1:]
    if arguments and arguments[-1].kind is inspect.Parameter.VAR_KEYWORD:
        arguments.pop()
        present = {argument.name for argument in arguments}
        arguments += [_keyword(cls, name) for name in settable(cls) if name not in present]
    return inspect.Signature(arguments)


def settable(cls: type[param.Parameterized]) -> list[str]:
    """Return the names of the parameters that a constructor takes: the class's own first, ``name`` last."""
    own_first = [name for base in cls.__mro__ for name in vars(base) if name in cls.param and name != "name"]
    public = [name for name in own_first if not name.startswith("_") and not cls.param[name].readonly]
    return [*dict.fromkeys(public), "name"]


def _keyword(cls: type[param.Parameterized], name: str) -> inspect.Parameter:
    # The default of "name" is the class's name, of which each object gets a variant: nothing to show.
    default = None if name == "name" else cls.param[name].default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=value_type(cls, name))


def value_type(cls: type[param.Parameterized], name: str) -> Any:
    """Return the type of a parameter's values as an annotation, e.g. ``float | None``: a type, or text.

    A ``param.Parameter`` or ``param.Callable`` is typed where it is declared, ``x0: param.Parameter[X0] = ...`` in the
    body of the class; all others tell their type by their kind.

    Parameters
    ----------
    cls : type
    name : str
    """
    parameter = cls.param[name]
    if type(parameter) in (param.Parameter, param.Callable):
        return _declared_type(cls, name)
    # A part, too, is declared without an object where its owner's constructor brings one; it is never None.
    optional = parameter.allow_None or parameter.default is None
    return _kind(parameter) | None if optional and not isinstance(parameter, Part) else _kind(parameter)


def _kind(parameter: param.Parameter[Any]) -> Any:
    match parameter:
        case param.Boolean():
            return bool
        case param.Integer():
            return int
        case param.Number():
            return float
        case param.String():
            return str
        case param.List():
            return list[parameter.item_type] if parameter.item_type else list[Any]  # type: ignore[name-defined]
        case param.Dict():
            return Mapping[str, Any]
        case Interval():
            return float | str
        case param.ClassSelector():
            classes = parameter.class_ if isinstance(parameter.class_, tuple) else (parameter.class_,)
            union: Any = classes[0]
            for one in classes[1:]:
                union = union | one
            return union
        case param.Selector():
            return Literal[tuple(parameter.objects)]
    return Any


def _declared_type(cls: type[param.Parameterized], name: str) -> Any:
    """Return what stands in the brackets of ``x0: param.Parameter[...]``: text, so that it reads as it was written."""
    for base in cls.__mro__:
        declared = str(inspect.get_annotations(base).get(name, ""))
        if "[" in declared:
            return declared[declared.index("[") + 1 : declared.rindex("]")]
    return Callable[..., Any] if isinstance(cls.param[name], param.Callable) else Any
