"""How the site is built: `sphinx-build -W --keep-going docs site`. Nothing is fetched from the network."""

import re
import runpy
import types
from pathlib import Path

import pgm
from pgm import engines

project = "pgm"
author = "the pgm authors"
copyright = author
version = release = pgm.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["developer/skeletons"]
suppress_warnings = ["config.cache"]  # `missing` is a function

# --- pages ---

myst_heading_anchors = 3  # links to a heading of another page work as they do on a forge
pygments_style = "friendly"
pygments_dark_style = "monokai"

html_theme = "furo"
html_title = f"pgm {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_search_scorer = str(Path(__file__).with_name("search.js"))  # absolute: Sphinx opens it as it is
html_theme_options = {"navigation_with_keys": True}

# --- reference ---

default_role = "literal"  # docstrings write code between single backticks
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "inherited-members": "tuple,float,dict,Mapping,Exception,ABC"}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
napoleon_numpy_docstring = False
napoleon_use_rtype = False

_COLON = "\uf8ff"  # stands for one while napoleon looks
_CODE = re.compile(r"(`[^`]*`)")


def plain_stars(app, what, name, obj, options, lines):
    """Let a star or a bar in a docstring be itself, as in 2**53 and P(a | b): no markup is made of them."""
    example = False
    for i, line in enumerate(lines):
        line = line.replace(_COLON, ":")
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        lines[i] = line
        if not example:
            parts = _CODE.split(line)
            lines[i] = "".join(
                p if p.startswith("`") else re.sub(r"(?<!\\)([*|])", r"\\\1", p) for p in parts
            )


def hide_colons(app, what, name, obj, options, lines):
    """Keep napoleon from reading what stands before a colon in a property's one line as its type."""
    if what in ("property", "attribute") and lines:
        lines[0] = lines[0].replace(":", _COLON)


def public_names():
    """Every name that a user may write, as pgm.NAME: functions, classes and their public methods."""
    rooms = [name for name in pgm.__all__ if isinstance(getattr(pgm, name), types.ModuleType)]
    found = [f"pgm.{name}" for name in pgm.__all__ if name not in rooms]
    for room in (pgm.components, pgm.filters, pgm.priors):
        found += [f"pgm.{room.__name__.rpartition('.')[2]}.{name}" for name in room.__all__]
    for room, kinds in (("scores", pgm.scores.SCORES), ("searches", pgm.searches.SEARCHES)):
        found += [f"pgm.{room}.{kind.__name__}" for kind in kinds.values()]
    found += [f"pgm.engines.{kind.__name__}" for kind in engines.ENGINES.values()]
    for model in (
        pgm.BayesianNetwork,
        pgm.MarkovNetwork,
        pgm.Mixture,
        pgm.HMM,
        pgm.MarkovChain,
        pgm.LinearDynamicalSystem,
    ):
        found += [f"pgm.{model.__name__}.{name}" for name in dir(model) if not name.startswith("_")]
    return found


def nothing_is_missing(app, env):
    """Warn, and so fail, where a public name has no place in the reference."""
    from sphinx.util import logging

    known = env.get_domain("py").objects
    for name in public_names():
        if name not in known:
            logging.getLogger(__name__).warning("%s is public and is not in docs/reference", name)


def list_rooms(app, name, source):
    """Put the map and the tables of rooms, as they are today, where their page says so."""
    if name == "developer/rooms":
        made = runpy.run_path(str(Path(__file__).with_name("rooms.py")))
        source[0] = made["page"]().replace("<!-- rooms -->", made["tables"]())


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", list_rooms)
    app.connect("autodoc-process-docstring", hide_colons, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", plain_stars)
    app.connect("env-check-consistency", nothing_is_missing)
