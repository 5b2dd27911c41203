"""Settings of Sphinx for cluster/site."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis"))

project = "bathline"
version = release = re.search(r"project\(bathline VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "numpydoc"]
myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 4
numpydoc_show_class_members = False
exclude_patterns = ["README.md", "mathjax"]
html_theme = "furo"
html_static_path = [str(ROOT / "cluster/site.conf/static")]
html_css_files = ["site.css"]
html_title = f"bathline {version}"
html_copy_source = False
html_show_copyright = False
mathjax2_config = {"tex2jax": {"processClass": "tex2jax_process|mathjax_process|math"}, "CommonHTML": {"scale": 85}}
mathjax_path = "../mathjax/MathJax.js?config=TeX-AMS_CHTML"  # pages.py puts it there; relative to _static
