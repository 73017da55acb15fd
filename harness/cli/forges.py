"""Comments on pull requests of GitHub and merge requests of GitLab: one a benchmark, replaced by each run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from harness.values import ConfigError, HarnessError

_LONGEST = 60_000
"""Characters of a comment: GitHub takes 65,536."""
_PAGES = 30
"""Pages of comments that are looked through, 100 on each."""


@dataclass(frozen=True)
class Forge:
    """Where comments of one pull request are read and written; ``token`` is never printed."""

    name: str
    comments: str
    edited: str
    headers: Mapping[str, str] = field(repr=False)
    edit: str = "PATCH"
    # where the token's own account is asked for, and the names of the account in the answer and of its id
    account: str = ""
    author: str = "user"

    def publish(self, marker: str, body: str) -> str:
        """Replace the comment that begins with ``marker``, or write one; returns its address.

        Raises HarnessError where the service refuses, with what to check.
        """
        if len(body) > _LONGEST:
            body = shortened(body, _LONGEST)
        # a comment that quotes ours holds the marker further on, and is somebody else's
        marked = [comment for comment in self._all() if str(comment.get("body", "")).startswith(marker)]
        # somebody may also have copied it whole
        own = self._own_id() if marked else None
        comments = (comment for comment in marked if _is_by(comment.get(self.author) or {}, own))
        earlier = next(comments, None)
        if earlier is None:
            answer = self._send("POST", self.comments, body)
        else:
            answer = self._send(self.edit, self.edited.format(id=earlier["id"]), body)
        return str(answer.get("html_url") or answer.get("id", ""))

    def _own_id(self) -> int | None:
        """The id of the account that the token writes as; None where the service does not say.

        GitHub does not tell it of a workflow's own token, which writes as one robot for all workflows.
        """
        if not self.account:
            return None
        import httpx2

        try:
            with httpx2.Client(timeout=30, follow_redirects=False, headers=dict(self.headers)) as client:
                answer = client.get(self.account)
                said = answer.json().get("id") if answer.is_success else None
        except (httpx2.HTTPError, ValueError, AttributeError):
            return None
        return said if isinstance(said, int) else None

    def _all(self) -> Iterator[dict[str, Any]]:
        for page in range(1, _PAGES + 1):
            comments = self._send("GET", f"{self.comments}?per_page=100&page={page}")
            yield from comments
            if len(comments) < 100:
                return

    def _send(self, method: str, url: str, body: str | None = None) -> Any:
        import httpx2

        try:
            with httpx2.Client(timeout=30, follow_redirects=False, headers=dict(self.headers)) as client:
                answer = client.request(method, url, json=None if body is None else {"body": body})
                if answer.is_success:
                    return answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise HarnessError(f"{self.name} cannot be reached: {type(error).__name__}: {error}.") from error
        hint = {
            401: "The token is not valid.",
            403: "The token may not write comments: a workflow needs `permissions: pull-requests: write`, "
            "and a pull request from a fork has no such token.",
            404: "There is no such pull request, or the token may not see it.",
        }.get(answer.status_code, "Try again later.")
        raise HarnessError(f"{self.name} answered {answer.status_code} to {method} {url}. {hint}")


def _is_by(author: Mapping[str, Any], account: int | None) -> bool:
    """Whether an author is the account, or, where that is unknown, no person as far as the service says."""
    return author.get("type", "Bot") == "Bot" if account is None else author.get("id") == account


def shortened(body: str, most: int) -> str:
    """At most so many characters of a comment, cut between its parts: no chart or table is halved."""
    note = "\n\n(The rest is too long for a comment.)\n"
    blocks: list[str] = []
    open_block: list[str] = []
    for line in body[: most - len(note)].split("\n")[:-1]:
        open_block.append(line)
        text = "\n".join(open_block)
        fenced = sum(row.lstrip().startswith("```") for row in open_block) % 2
        if not line.strip() and not fenced and text.count("<details") == text.count("</details>"):
            blocks.append(text)
            open_block = []
    return "\n".join(blocks).rstrip("\n") + note


def forge_of(
    repository: str | None, number: int | None, environment: Mapping[str, str] = os.environ
) -> Forge:
    """The forge whose pull request the variables of the running workflow name.

    GitHub: GITHUB_REPOSITORY, GITHUB_API_URL and GITHUB_TOKEN; GitLab: CI_PROJECT_ID, CI_API_V4_URL,
    CI_MERGE_REQUEST_IID and GITLAB_TOKEN. Raises ConfigError that names what is missing.
    """
    if environment.get("GITLAB_CI"):
        return _gitlab(repository, number, environment)
    return _github(repository, number, environment)


def _github(repository: str | None, number: int | None, environment: Mapping[str, str]) -> Forge:
    token, name = environment.get("GITHUB_TOKEN"), repository or environment.get("GITHUB_REPOSITORY")
    # refs/pull/12/merge
    reference = environment.get("GITHUB_REF", "").split("/")
    if number is None and reference[:2] == ["refs", "pull"] and reference[2].isdigit():
        number = int(reference[2])
    _refuse_missing({"GITHUB_TOKEN": token, "--repository": name, "--number": number})
    api = environment.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
    return Forge(
        "GitHub",
        f"{api}/repos/{name}/issues/{number}/comments",
        f"{api}/repos/{name}/issues/comments/{{id}}",
        {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"},
        account=f"{api}/user",
    )


def _gitlab(repository: str | None, number: int | None, environment: Mapping[str, str]) -> Forge:
    token = environment.get("GITLAB_TOKEN")
    project = repository or environment.get("CI_PROJECT_ID")
    request = number or environment.get("CI_MERGE_REQUEST_IID")
    _refuse_missing({"GITLAB_TOKEN": token, "--repository": project, "--number": request})
    api = environment.get("CI_API_V4_URL", "https://gitlab.com/api/v4").rstrip("/")
    notes = f"{api}/projects/{quote(str(project), safe='')}/merge_requests/{request}/notes"
    return Forge(
        "GitLab",
        notes,
        f"{notes}/{{id}}",
        {"PRIVATE-TOKEN": str(token)},
        edit="PUT",
        account=f"{api}/user",
        author="author",
    )


def _refuse_missing(values: Mapping[str, Any]) -> None:
    if missing := [name for name, value in values.items() if not value]:
        raise ConfigError(
            f"A comment needs {', '.join(missing)}. In a workflow of a pull request all of them are set, but "
            "for the token, which the step must be given in its environment. --output FILE writes the "
            "comment to a file instead."
        )
