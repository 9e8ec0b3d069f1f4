"""Settings of the documentation: ``python -m sphinx -W --keep-going docs docs/_build/html`` builds it.

With ``-t quick`` notebooks are not executed, pictures not drawn and reports of runs not made.
"""

import sys
import warnings
from pathlib import Path

import param

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
param.parameterized.docstring_describe_params = False  # before zoviz: these tables are coloured for a terminal

import zoviz  # noqa: E402

project, author, copyright = "zoviz", "the zoviz authors", "2026, the zoviz authors"
version = release = zoviz.__version__
quick = tags.has("quick")  # type: ignore[name-defined]  # noqa: F821

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "extensions.mathml",
    "extensions.reference",
    "extensions.experiments",
    "extensions.gallery",
    "extensions.reports",
    "extensions.notebooks",
    "extensions.links",
]
exclude_patterns = ["_build", "extensions"]
suppress_warnings = [
    "ref.python",  # names of a type that several modules have, in annotations that are text
    "mystnb.unknown_mime_type",  # Panel's for JupyterLab, each beside the HTML and JavaScript that a page shows
]
# Of Bokeh's docstrings, which numpydoc reads before autodoc leaves out what a module has only imported.
warnings.filterwarnings("ignore", "Unknown section Example", UserWarning, "numpydoc")

autodoc_typehints = "signature"
autosummary_generate = False  # numpydoc loads it
numpydoc_show_class_members = False
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off" if quick else "force"
nb_execution_timeout = 3600  # seconds of a cell
nb_execution_raise_on_error = True
nb_merge_streams = True

html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["zoviz.css"]
html_show_sourcelink = False
html_sidebars = {"reference/packages/**": [], "index": []}
html_theme_options = {
    "logo": {"text": "zoviz"},
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 1,
    "navigation_depth": 2,
}
