"""Puts the quickstart, its collection and the docs into the wheel, as harness/shipped/."""

from pathlib import Path

from setuptools.command.build_py import build_py

FILES = (
    "configs/quickstart.yaml",
    "corpora/meridian/documents/*",
    "corpora/meridian/more/*",
    "corpora/meridian/quickstart_queries.csv",
    "corpora/meridian/quickstart_judged.csv",
    "README.md",
    "docs/*.md",
    "docs/*/*.md",
    "docs/*.png",
    "docs/*.svg",
    "llms.txt",
)
"""What `harness demo` and `harness docs` read and messages name: patterns from the root of the repository."""


class BuildWithCollection(build_py):
    """Builds the package and adds the files; an editable install finds them where they are."""

    def shipped(self) -> list[Path]:
        """The files, relative to the root, which is the working folder of a build."""
        return sorted(path for pattern in FILES for path in Path().glob(pattern))

    def run(self) -> None:
        """Build it."""
        super().run()
        if self.editable_mode:
            return
        for path in self.shipped():
            target = Path(self.build_lib, "harness", "shipped", path)
            self.mkpath(str(target.parent))
            self.copy_file(str(path), str(target))

    def get_source_files(self) -> list[str]:
        """What a source distribution holds, from which the same wheel can be built."""
        return [*super().get_source_files(), "tools/shipped.py", *map(str, self.shipped())]

    def get_output_mapping(self) -> dict[str, str]:
        """Where the files of the build come from."""
        added = {str(Path(self.build_lib, "harness", "shipped", path)): str(path) for path in self.shipped()}
        return super().get_output_mapping() | ({} if self.editable_mode else added)
