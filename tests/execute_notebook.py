"""``execute_notebook.py NOTEBOOK OUTPUT``: run its cells in its folder, and keep the outputs."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

source = Path(sys.argv[1])
notebook = nbformat.read(source, 4)
NotebookClient(notebook, timeout=900, resources={"metadata": {"path": str(source.parent)}}).execute()
nbformat.write(notebook, sys.argv[2])
