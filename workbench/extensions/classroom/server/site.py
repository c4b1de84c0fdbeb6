"""The pages of `make app` around the workbench: a start page, which needs no kernel, and a page for each lesson."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jupyter_server.services.contents.largefilemanager import LargeFileManager
from jupyter_server.utils import ensure_async, url_path_join
from nbformat.v4 import new_code_cell
from tornado.httputil import HTTPServerRequest
from tornado.routing import PathMatches, Rule
from tornado.web import RedirectHandler, RequestHandler

from workbench.errors import InputError
from workbench.extensions.classroom.server.class_addresses import say
from workbench.extensions.classroom.server.cookie import set_xsrf_cookie
from workbench.extensions.classroom.server.kernels import PageKernels, event_logger
from workbench.extensions.classroom.server.named_links import LINKS, RACE
from workbench.extensions.classroom.server.opening import Page
from workbench.extensions.classroom.server.start_pictures import race_picture
from workbench.extensions.lessons import LESSONS, Lesson
from workbench.extensions.lessons.folder import OwnLesson, own_lessons
from workbench.extensions.papers.printed import FILES, printed_in
from workbench.files.data_files import PACKAGE

WORKBENCH = "?view=build.build"
"""The query of the workbench, behind the base of its address: the base alone is the start page."""
HERE = Path(__file__).parent
STATIC = PACKAGE / "live" / "static"
ITSELF = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'self'"
)
WHAT_IT_IS = (
    "Build a problem, choose a preconditioner and a solver, watch it converge, race methods on cores and accelerator, "
    "and look at what each kernel did."
)
CHECK = re.compile(r"lesson\.check\((\d+)")
"""A cell of our notebooks that shows an exercise."""
LINKED = re.compile(r"\]\(([\w-]+\.ipynb)\)")
"""A link of a text to a notebook next to it."""
BUTTONS = """
const [theme, projector] = document.querySelectorAll(".site-head button");
followTheme();
watchAppearance(theme, projector, (words, on) => {
  theme.textContent = words;
  projector.setAttribute("aria-pressed", on);
});
"""


def written(lessons: Path) -> dict[str, tuple[Lesson, Path]]:
    """The lessons whose notebooks are in a folder, by name, in their order."""
    found = {name: (lesson, lessons / f"{lesson.stem}.ipynb") for name, lesson in LESSONS.items()}
    return {name: (lesson, path) for name, (lesson, path) in found.items() if path.is_file()}


def exercises_in(
    lessons: Mapping[str, tuple[Lesson, Path]], own: Sequence[OwnLesson]
) -> tuple[dict[str, int], dict[str, str]]:
    """The number of exercises and the title of each lesson, by its name in the list of a class: the teacher's first,
    with 0, since a cell says the number when it runs."""
    counts = {f"own/{each.name}": 0 for each in own}
    titles = {f"own/{each.name}": each.title for each in own}
    for name, (lesson, path) in lessons.items():
        counts[name] = len(set(CHECK.findall(path.read_text("utf-8"))))
        titles[name] = f"{lesson.number}. {lesson.title}"
    return counts, titles


def site_rules(
    base: str, lessons: Path, root: str, page: Mapping[str, Any], served: str = "", own: str = ""
) -> list[Rule]:
    """The rules for the addresses of these pages. base: of all in the browser; root: the folder from which Voila opens
    notebooks; page: the arguments of Voila's handler of the workbench; served: the base of what this server answers,
    where a proxy has another one; own: the folder of a teacher's own lessons."""
    served = served or base
    found = written(lessons)
    taught = [lesson for lesson, _ in found.values()]
    made = functools.lru_cache(maxsize=4)(functools.partial(start_page, base, taught))
    # The first visitor need not wait for it.
    made(tuple(found_in(own)))
    rules = [Rule(Bare(re.escape(served)), StartPage, {"made": made, "own": own})]
    if own:
        address = re.escape(url_path_join(served, "lesson", "own"))
        facts = {**page, "notebook_path": "", "above": "", "base": base, "own": own}
        rules.append(Rule(PathMatches(f"{address}/(?P<name>[a-z0-9-]+)/?"), OwnLessonPage, facts))
    links = {path.name: url_path_join(base, "lesson", name) for name, (_, path) in found.items()}
    for name, (lesson, path) in found.items():
        address = re.escape(url_path_join(served, "lesson", name))
        facts = {
            **page,
            "links": links,
            "notebook_path": path.relative_to(root).as_posix(),
            "above": lesson_head(base, lesson, list(found)),
        }
        rules.append(Rule(PathMatches(f"{address}/?"), LessonPage, facts))
        # Texts lead to other lessons by their files, which exist in notebooks and on no page.
        file = rf"{re.escape(url_path_join(served, 'lesson'))}/(?:[a-z-]+/)?{re.escape(path.name)}"
        there = {"url": url_path_join(base, "lesson", name), "permanent": False}
        rules.append(Rule(PathMatches(file), RedirectHandler, there))
    return rules


class Bare(PathMatches):
    """Matches a path without a query: one with a query is a problem or view of the workbench, as in shared links."""

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        """None for a path with a query, else as in tornado."""
        return None if request.query else super().match(request)


class StartPage(RequestHandler):
    """Answers with the start page."""

    def initialize(self, made: Callable[[tuple[OwnLesson, ...]], str], own: str) -> None:
        """Take from the rule what makes the page, and the folder of the teacher's own lessons."""
        self._made, self._own = made, own

    def get(self) -> None:
        """Answer with the page, on which notebooks are that the teacher has saved meanwhile."""
        self.set_header("Content-Security-Policy", ITSELF)
        self.finish(self._made(tuple(found_in(self._own))))


class LessonPage(Page):
    """A lesson with a kernel of its own. above: the head of the lesson, as HTML. links: the addresses of lessons by the
    names of their notebooks, which stand in their texts."""

    above: str
    links: Mapping[str, str]

    def initialize(self, **page: Any) -> None:
        """Take what Voila's page takes, `above` and `links` from the rule."""
        self.above, self.links = page.pop("above"), page.pop("links", {})
        super().initialize(**page)


class OwnLessonPage(LessonPage):
    """A notebook of the teacher as a lesson; it is read anew for each page."""

    lesson: OwnLesson

    def initialize(self, **page: object) -> None:
        """Take what a lesson takes, the base of addresses and the folder from the rule."""
        self._base, self._own = str(page.pop("base")), str(page.pop("own"))
        super().initialize(**page)

    async def get(self, name: str) -> None:
        """Answer with the page, or with the sentence of a mistake."""
        found = {each.name: each for each in found_in(self._own)}
        if name not in found:
            say(self, 404, "this folder of lessons has no such notebook; the start page lists those that it has")
            return
        self.lesson = found[name]
        if self.lesson.mistake:
            say(self, 500, f"this lesson cannot be shown: {self.lesson.mistake}")
            return
        if isinstance(self.kernel_manager, PageKernels):
            room = self.kernel_manager.room
            room.list.exercises.setdefault(f"own/{name}", 0)
            room.titles[f"own/{name}"] = self.lesson.title
        self.links = {each.path.name: url_path_join(self._base, "lesson", "own", each.name) for each in found.values()}
        self.notebook_path = self.lesson.path.name
        self.above = _head(self._base, f'<a href="{html.escape(self._base)}{WORKBENCH}">Workbench</a>')
        await ensure_async(super().get())

    @property
    def contents_manager(self) -> LargeFileManager:
        """The reader of the notebook, and of pictures that its text names, in its folder."""
        return LargeFileManager(root_dir=str(self.lesson.path.parent), event_logger=event_logger())


def found_in(own: str) -> list[OwnLesson]:
    """The teacher's notebooks as they are now; none where the folder has gone."""
    try:
        return own_lessons(own) if own else []
    except InputError:
        return []


def prepare_page(handler: RequestHandler, *, notebook: Any = None, **_unused: object) -> None:
    """Voila's prelaunch hook: set the `_xsrf` cookie of a page, and give a lesson its layout and what a class sees."""
    set_xsrf_cookie(handler)
    if not isinstance(handler, LessonPage):
        return
    notebook.metadata["voila"] = {"template": "lesson"}
    notebook.metadata["above"] = handler.above
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LINKED.sub(lambda link: f"]({handler.links.get(link[1], link[1])})", cell.source)
    if isinstance(handler, OwnLessonPage):
        own = handler.lesson
        begun = (f"own/{own.name}", str(own.path.parent.resolve()), own.path.name, list(own.code_cells))
        notebook.cells.insert(0, new_code_cell(f"{BEGIN}begin{begun!r}"))
    notebook.cells.insert(0, new_code_cell(BAR))


BEGIN = "from workbench.extensions.lessons.page.own import begin\n"
BAR = "from workbench.extensions.classroom.page.on_page import lesson_bar\nlesson_bar()"
"""Cells before those of a lesson."""


def start_page(base: str, lessons: list[Lesson], own: Sequence[OwnLesson] = ()) -> str:
    """The page that leads to the workbench, lessons and papers, as HTML. own: lessons of the teacher."""
    taught = [
        _entry(url_path_join(base, "lesson", each.name), f"{each.number}. {each.title}", each.question)
        for each in lessons
    ]
    printed = []
    for name in FILES:
        about = printed_in(name)
        for paper in (about, *filter(None, [about.get("earlier")])):
            by = ", ".join(str(each) for each in (about["authors"], paper.get("year")) if each)
            address = f"{base}?view={quote(f'papers.papers:{name}')}"
            printed.append(_entry(address, paper["title"], f"{by}. {paper['about']}"))
    tried = "".join(_entry(link.address(base), link.title, link.words, link.picture) for link in LINKS)
    tried_part = (
        f'<h2 id="problems">Problems</h2><p>{PROBLEMS_ARE}</p><ul class="site-entries site-gallery">{tried}</ul>'
    )
    papers_part = f'<h2 id="papers">Papers</h2><p>{PAPERS_ARE}</p><ul class="site-entries">{"".join(printed)}</ul>'
    lessons_part = f'<h2 id="lessons">Lessons</h2><p>{LESSONS_ARE}</p><ol class="site-entries">{"".join(taught)}</ol>'
    home = html.escape(base)
    taught_here = "".join(
        _entry(url_path_join(base, "lesson", "own", each.name), each.title, each.mistake or each.question)
        for each in own
    )
    own_part = f'<h2 id="own">{OWN_TITLE}</h2><ol class="site-entries">{taught_here}</ol>' if own else ""
    below = [("own", OWN_TITLE, OWN_ARE)] if own else []
    below += [("lessons", f"{len(lessons)} lessons", LESSONS_ASK)] if taught else []
    below.append(("papers", f"{len(printed)} papers", PAPERS_ARE))
    others = "".join(
        f'<a class="site-workbench" href="{home}#{place}"><b>{title}</b><span>{words}</span></a>'
        for place, title, words in below
    )
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>CG workbench</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:;base64,="></head><body>
{_head(base)}<main class="site"><h1>CG workbench</h1>
<p>Conjugate gradient methods to build, run, compare and take apart.</p>
<div class="site-first"><a class="site-workbench site-racing" href="{home}?view={quote(RACE)}">
<b>Race four methods now</b><span>{THE_RACE_IS}</span>{race_picture()}</a>
<div class="site-others"><a class="site-workbench" href="{home}{WORKBENCH}"><b>Open the workbench</b>
<span>{WHAT_IT_IS}</span></a>{others}</div></div>
{own_part}
{tried_part}
{lessons_part if taught else ""}
{papers_part}</main></body></html>"""


THE_RACE_IS = "Four bubbles in a square, four preconditioners. Which one is first on your machine?"
PROBLEMS_ARE = "Each opens with its method chosen. A race starts at once."
PAPERS_ARE = "Their tables and figures next to what this machine computes."
OWN_TITLE = "Lessons of this class"
OWN_ARE = "Written by your teacher."
LESSONS_ASK = "Each answers a question, with exercises that are checked."
ON_PAPER = '<p class="site-sheet" aria-hidden="true"><span>Name</span><span>Date</span></p>'
"""The first line of a lesson that is printed; a screen does not show it."""
LESSONS_ARE = (
    "Forty-five minutes each, with exercises that are checked by what your answer computes. Each opens with a kernel "
    "of its own; your browser alone keeps your answers."
)


def lesson_head(base: str, lesson: Lesson, names: list[str]) -> str:
    """The head of a lesson, as HTML: links to the lessons before and after it, and to the workbench; on paper name and
    date."""
    place = names.index(lesson.name)
    others = [(names[place - 1], "Previous: ")] if place else []
    others += [(name, "Next: ") for name in names[place + 1 : place + 2]]
    links = [
        f'<a href="{html.escape(url_path_join(base, "lesson", name))}">{words}{html.escape(LESSONS[name].title)}</a>'
        for name, words in others
    ]
    return _head(base, *links, f'<a href="{html.escape(base)}{WORKBENCH}">Workbench</a>') + ON_PAPER


def _entry(address: str, title: str, words: str, picture: str = "") -> str:
    """A card. picture: as SVG, above the words."""
    text = f"<b>{html.escape(title)}</b><span>{html.escape(words)}</span>"
    return f'<li><a href="{html.escape(address)}">{picture}{text}</a></li>'


def _head(base: str, *links: str) -> str:
    style, script = _assets()
    buttons = (
        '<button title="the system\'s theme, light, or dark"></button>'
        '<button title="larger type and thicker lines">Projector</button>'
    )
    home = f'<a class="site-home" href="{html.escape(base)}">CG workbench</a>'
    return (
        f'<style>{style}</style><header class="site-head">{home}{"".join(links)}{buttons}</header>'
        f'<script type="module">{script}</script>'
    )


@functools.cache
def _assets() -> tuple[str, str]:
    sheets = [STATIC / "ui" / "tokens.css", HERE / "site.css", HERE / "sheet.css"]
    scripts = [(STATIC / "ui" / name).read_text(encoding="utf-8") for name in ("themechoice.js", "appearance.js")]
    script = re.sub(r"^(export |import .*;$)", "", "\n".join(scripts), flags=re.MULTILINE) + BUTTONS
    return "".join(sheet.read_text(encoding="utf-8") for sheet in sheets), script
