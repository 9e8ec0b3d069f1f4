"""Parameters of an object and of the objects nested in it, by dotted names."""

from __future__ import annotations

from typing import Any, ClassVar

import param

from zoviz.core.configurable import Configurable
from zoviz.core.parameters import Scale
from zoviz.estimators import GradientEstimator


class ParameterPaths(Configurable):
    """The part of a solver that names its parameters, and those of nested parts, as ``inner.estimator.batch_size``."""

    __abstract = True

    live: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters that may change between two steps."""
    families: ClassVar[tuple[type[GradientEstimator], ...]] = ()
    """Estimators that the method works with; the first is the paper's; none for a method without gradients."""

    def parts(self) -> dict[str, param.Parameterized]:
        """Return the solver itself ("") and all objects nested in it, by prefix: "inner.", "inner.estimator."."""
        parts: dict[str, param.Parameterized] = {"": self}
        for name, value in self.param.values().items():
            if isinstance(value, ParameterPaths):
                parts |= {f"{name}.{prefix}": part for prefix, part in value.parts().items()}
            elif isinstance(value, GradientEstimator):
                parts[f"{name}."] = value
        return parts

    def kinds(self, name: str) -> tuple[type[param.Parameterized], ...]:
        """Return the classes that a (dotted) nested part may be of."""
        holder, own = self.owner(name)
        if isinstance(holder, ParameterPaths) and isinstance(getattr(holder, own), GradientEstimator):
            return holder.families
        classes = holder.param[own].class_
        return classes if isinstance(classes, tuple) else (classes,)

    def owner(self, name: str) -> tuple[param.Parameterized, str]:
        """Return the object that holds a (dotted) parameter, and the parameter's own name there."""
        target: Any = self
        *path, last = name.split(".")
        for part in path:
            target = getattr(target, part)
        if last not in target.param:
            raise ValueError(f"Expected a parameter of {type(self).__name__}, got {name!r}: see {sorted(self.live)}.")
        return target, last

    def label_of(self, name: str) -> str:
        """Return what forms call a (dotted) parameter; its name where there is none, as in a run of another version."""
        prefix, _, own = name.rpartition(".")
        part = self.parts().get(f"{prefix}." if prefix else "")
        return name if part is None or own not in part.param else str(part.param[own].label)

    def get(self, name: str) -> Any:
        """Return the value of a (dotted) parameter."""
        target, last = self.owner(name)
        return getattr(target, last)

    def set(self, name: str, value: Any) -> None:
        """Set a (dotted) parameter; Param's own checks apply."""
        target, last = self.owner(name)
        setattr(target, last, value)

    def open_scales(self) -> list[str]:
        """Return the names of parameters that are None, to be chosen by the rule; those of nested parts too."""
        return [
            f"{prefix}{name}"
            for prefix, part in self.parts().items()
            for name, parameter in part.param.objects().items()
            if isinstance(parameter, Scale) and getattr(part, name) is None
        ]
