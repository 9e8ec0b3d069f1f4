"""A row of buttons that download files, each made when it is asked for."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping

import panel as pn
import panel_material_ui as pmui

from zoviz.core.errors import ZovizError

Maker = Callable[[], bytes]


def download_row(files: Mapping[str, tuple[str, Maker]]) -> pn.FlexBox:
    """Return a row of buttons.

    Parameters
    ----------
    files : mapping of str to (str, callable)
        By the words on the button the file's name, and what returns its bytes.
    """
    return pn.FlexBox(*(_button(label, name, make) for label, (name, make) in files.items()))


def _button(label: str, name: str, make: Maker) -> pmui.FileDownload:
    def content() -> io.BytesIO:
        try:
            return io.BytesIO(make())
        except ZovizError as error:  # a package that is missing, or no run yet: Panel only logs what is raised here
            if pn.state.notifications is not None:
                pn.state.notifications.error(str(error), duration=8000)
            raise

    return pmui.FileDownload(label=label, callback=content, filename=name, size="small", margin=(6, 6), embed=False)
