"""What pages of a class share: on a real connection, with kernels of the page server, and by its addresses."""

import asyncio
import contextlib
import http.cookiejar
import json
import re
import socket
import threading
import urllib.error
import urllib.parse
import urllib.request

import pytest

from tests.browser import lab
from tests.extensions.classroom.test_kernels import answer, opened, run
from tests.waiting import LIMIT, until
from workbench.extensions.classroom.page.class_bar import RUN_BYTES
from workbench.extensions.classroom.server import classroom as module
from workbench.extensions.classroom.server import turns
from workbench.extensions.classroom.server.class_list import LONGEST_NAME
from workbench.extensions.classroom.server.classroom import COOKIE, LONGEST_HELLO, Classroom, cookie_of
from workbench.extensions.classroom.server.forking import AVAILABLE

LINK = "cgw1.abc"


class Page:
    """The end of a page, as its kernel has it."""

    def __init__(self, place):
        port, _, self.token = place.partition(":")
        self.socket = socket.create_connection(("127.0.0.1", int(port)), LIMIT)
        self.lines = self.socket.makefile("rb")

    def enter(self, token=None):
        self.tell("hello", token=token or self.token)
        return self.hear()

    def tell(self, kind, **facts):
        self.say(json.dumps({"kind": kind, **facts}).encode())

    def turn(self, request=1):
        """Ask for a turn; returns how many pages come before."""
        self.tell("turn", request=request)
        return self.hear()["ahead"]

    def say(self, line):
        self.socket.sendall(line + b"\n")

    def hear(self):
        """The next message; None at the end of the connection."""
        with contextlib.suppress(ConnectionResetError):
            line = self.lines.readline()
            return json.loads(line) if line else None

    def close(self):
        # The file holds the socket too.
        self.lines.close()
        self.socket.close()


@pytest.fixture(autouse=True)
def _turns_last(monkeypatch):
    """However slow the machine is, no turn is taken back while a test looks at it."""
    monkeypatch.setattr(turns, "SLICE", LIMIT)


@pytest.fixture
def loop():
    """A running event loop, in a thread."""
    made = asyncio.new_event_loop()
    thread = threading.Thread(target=made.run_forever)
    thread.start()
    yield made
    made.call_soon_threadsafe(made.stop)
    thread.join(LIMIT)
    made.close()


@pytest.fixture
def page(loop):
    """Opens pages of a class, which is the first argument."""
    rooms, pages = [], []

    def open_page(room, *, teacher=False, entered=True):
        rooms.append(room)
        place = asyncio.run_coroutine_threadsafe(room.admit(teacher=teacher), loop).result(LIMIT)
        made = Page(place)
        pages.append(made)
        if entered:
            made.facts = made.enter()
        return made

    yield open_page
    for made in pages:
        made.close()
    for room in rooms:
        loop.call_soon_threadsafe(room.close)


def test_pages_have_their_turns_in_order_and_one_that_is_gone_loses_its_place(page):
    room = Classroom(1)
    first, second, third, fourth = pages = [page(room) for _ in range(4)]
    assert [one.facts["page"] for one in pages] == [1, 2, 3, 4]
    for ahead, one in enumerate(pages):
        one.tell("turn", request=7)
        assert one.hear() == {"kind": "turn", "request": 7, "ahead": ahead}
    second.close()
    assert (third.hear()["ahead"], fourth.hear()["ahead"]) == (1, 2)
    first.tell("done")
    assert (third.hear()["ahead"], fourth.hear()["ahead"]) == (0, 1)
    # Closed while it has the turn.
    third.close()
    assert fourth.hear()["ahead"] == 0
    fourth.tell("turn", request=8)
    assert fourth.hear() == {"kind": "turn", "request": 8, "ahead": 0}


def test_checks_wait_for_checks_and_for_no_run(page):
    room = Classroom(1)
    running, first, second, third = [page(room) for _ in range(4)]
    assert (running.turn(), first.turn()) == (0, 1)
    # A page may wait for a run and have a check.
    for ahead, one in enumerate((first, second, third)):
        one.tell("check", request=7)
        assert one.hear() == {"kind": "check", "request": 7, "ahead": ahead}
    assert all(room.has_turn(f":{one.token}") for one in (running, first))
    assert not room.has_turn(f":{second.token}")
    second.close()
    assert third.hear() == {"kind": "check", "request": 7, "ahead": 1}
    first.tell("checked")
    assert third.hear() == {"kind": "check", "request": 7, "ahead": 0}
    # Its run still waits.
    running.tell("done")
    assert first.hear() == {"kind": "turn", "request": 1, "ahead": 0}


def test_as_many_pages_as_are_allowed_have_a_turn(page):
    room = Classroom(2)
    pages = [page(room) for _ in range(4)]
    heard = []
    for one in pages:
        heard.append(one.turn())
    # Two have the turns, and both come before the third.
    assert heard == [0, 0, 2, 3]


def test_a_token_serves_once_and_no_other_one_serves(page):
    room = Classroom()
    entered = page(room)
    again, guessed, long = (page(room, entered=False) for _ in range(3))
    assert again.enter(entered.token) is None
    assert guessed.enter("x" * 22) is None
    long.socket.sendall(b"x" * (LONGEST_HELLO + 1))
    assert long.hear() is None
    assert entered.turn() == 0


@pytest.mark.parametrize("kind", ["problem", "collect"])
def test_a_student_can_neither_send_a_problem_nor_read_runs(kind, page):
    room = Classroom(collects=True)
    student, other = page(room), page(room)
    other.tell("run", file="00")
    student.tell(kind, **({"link": LINK} if kind == "problem" else {}))
    assert student.hear() is None
    other.tell("turn", request=1)
    assert other.hear()["kind"] == "turn"


def test_without_a_teacher_no_run_is_kept(page):
    room = Classroom()
    one = page(room)
    one.tell("run", file="00")
    assert one.hear() is None
    assert room.runs == []


def test_runs_go_to_the_teacher_and_problems_to_all_others(page):
    room = Classroom(collects=True)
    first, second = page(room), page(room)
    first.tell("name", name="  Ada \n" + "x" * 99)
    first.tell("run", file="aa")
    second.tell("run", file="bb")
    until(lambda: len(room.runs) == 2)
    teacher = page(room, teacher=True)
    teacher.tell("collect")
    runs = [teacher.hear(), teacher.hear()]
    assert sorted(one["where"] for one in runs) == ["Page 1", "Page 2"]
    assert {one["where"]: one["who"] for one in runs}["Page 1"] == ("Ada " + "x" * 99)[:LONGEST_NAME]
    assert teacher.hear() == {"kind": "pages", "pages": 2}
    teacher.tell("problem", link=LINK)
    assert [one.hear() for one in (first, second)] == [{"kind": "problem", "link": LINK}] * 2
    second.tell("run", file="cc")
    assert teacher.hear()["file"] == "cc"
    second.close()
    assert teacher.hear() == {"kind": "pages", "pages": 1}


LESSONS = ({"waiting": 3, "own/mine": 0}, {"own/mine": "Mine"}, None)
"""Exercises, titles and no file of a class."""


def heard(page, kind):
    """The next message of a kind."""
    return next(message for message in iter(page.hear, None) if message["kind"] == kind)


def student(page, room, number, name=""):
    """A page of a student, whose browser has a key."""
    made = page(room)
    made.tell("name", name=name, student=f"{number:032x}")
    return made


def listed(room):
    """Names, and what they have done in lesson "waiting"."""
    return {row["name"]: row["done"].get("waiting", {}) for row in room.list.rows()}


def test_the_teacher_sees_who_has_tried_and_solved_what(page):
    room = Classroom(collects=True)
    room.keep(*LESSONS)
    teacher = page(room, teacher=True)
    teacher.tell("collect")
    ada = page(room)
    # An exercise is on the page before the browser has said whose it is.
    ada.tell("attempt", lesson="waiting", exercise=1, tries=0, solved=False)
    ada.tell("name", name="Ada", student="a" * 32)
    ada.tell("attempt", lesson="waiting", exercise=2, tries=2, solved=True)
    message = until(lambda: (found := heard(teacher, "students"))["students"] and found)
    assert message["students"] == [{"number": 1, "name": "Ada", "done": {"waiting": {"1": [0, 0], "2": [2, 1]}}}]
    assert message["lessons"] == [["waiting", "waiting", 3], ["own/mine", "Mine", 0]]
    # Another page of the same browser, and one of another with the same name.
    again, other = student(page, room, int("a" * 32, 16), "Ada"), student(page, room, 5, "Ada")
    again.tell("attempt", lesson="waiting", exercise=1, tries=1, solved=True)
    other.tell("attempt", lesson="waiting", exercise=1, tries=1, solved=False)
    until(lambda: listed(room) == {"Ada": {"1": [1, 1], "2": [2, 1]}, "Ada (2)": {"1": [1, 0]}})
    # The teacher's own tries are none of the class.
    teacher.tell("attempt", lesson="waiting", exercise=1, tries=1, solved=True)
    teacher.tell("erase", student=1)
    until(lambda: list(listed(room)) == ["Ada"])
    ada.tell("attempt", lesson="waiting", exercise=1, tries=5, solved=True)
    assert "taken you off the list" in heard(ada, "refused")["sentence"]


def test_what_a_page_may_not_note_is_refused_in_a_sentence_and_its_turn_stays(page):
    room = Classroom(1, collects=True)
    room.keep(*LESSONS)
    one = student(page, room, 1, "<b>")
    for wrong, said in (
        ({"lesson": "nothing"}, "there is no lesson 'nothing'"),
        ({"exercise": 9}, "has the exercises 1 to 3, and not 9"),
        ({"tries": 10**9}, "0 to 1000 tries"),
    ):
        one.tell("attempt", **({"lesson": "waiting", "exercise": 1, "tries": 1, "solved": False} | wrong))
        assert said in one.hear()["sentence"]
    one.tell("name", name="Eve", student="e" * 32)
    assert one.hear()["sentence"] == "this page belongs to another student; load it again"
    assert one.turn() == 0
    assert list(listed(room)) == ["<b>"]


@pytest.mark.parametrize("kind", ["solution", "erase"])
def test_a_student_can_neither_open_a_solution_nor_erase_the_list(kind, page):
    room = Classroom(collects=True)
    room.keep(*LESSONS)
    one = student(page, room, 1, "Ada")
    facts = {"solution": {"lesson": "waiting", "exercise": 1, "shown": True}, "erase": {"student": 0}}
    one.tell(kind, **facts[kind])
    assert one.hear() is None
    assert (list(listed(room)), room.list.opened) == (["Ada"], set())


def test_without_a_teacher_no_attempt_is_kept(page):
    room = Classroom()
    one = student(page, room, 1, "Ada")
    one.tell("attempt", lesson="waiting", exercise=1, tries=1, solved=True)
    assert one.hear() is None
    assert room.list.rows() == []


def test_a_solution_that_the_teacher_opens_is_on_all_pages_also_on_later_ones(page):
    room = Classroom(collects=True)
    room.keep(*LESSONS)
    teacher, before = page(room, teacher=True), page(room)
    assert before.facts["solutions"] == []
    teacher.tell("solution", lesson="own/mine", exercise=2, shown=True)
    assert heard(before, "solutions")["solutions"] == ["own/mine:2"]
    assert page(room).facts["solutions"] == ["own/mine:2"]
    teacher.tell("solution", lesson="own/mine", exercise=2, shown=False)
    assert heard(before, "solutions")["solutions"] == []
    teacher.tell("solution", lesson="waiting", exercise=4, shown=True)
    assert "has the exercises 1 to 3" in heard(teacher, "refused")["sentence"]


def test_sixty_students_and_a_flood_are_told_together(page, monkeypatch):
    monkeypatch.setattr(module, "SOON", 0.05)
    room = Classroom(collects=True)
    room.keep(*LESSONS)
    teacher = page(room, teacher=True)
    pages = [student(page, room, number) for number in range(60)]
    for tries in range(1, 51):
        for one in pages:
            one.tell("attempt", lesson="waiting", exercise=1, tries=tries, solved=tries == 50)
    teacher.tell("collect")
    last = until(lambda: (found := heard(teacher, "students"))["students"] and _all_solved(found) and found)
    assert len(last["students"]) == 60


def _all_solved(message):
    return all(row["done"].get("waiting", {}).get("1") == [50, 1] for row in message["students"])


def test_the_largest_run_arrives(page):
    room = Classroom(collects=True)
    page(room).tell("run", file=bytes(RUN_BYTES).hex())
    until(lambda: [len(run["file"]) for run in room.runs] == [2 * RUN_BYTES])


def test_the_oldest_runs_go_where_there_are_too_many_bytes(page, monkeypatch):
    monkeypatch.setattr(module, "ALL_RUNS", 10)
    room = Classroom(collects=True)
    one = page(room)
    for file in ("aaaa", "bbbb", "cccc"):
        one.tell("run", file=file)
    until(lambda: [run["file"] for run in room.runs] == ["bbbb", "cccc"])


MALFORMED = [
    b"", b"{", b"[]", b"5", b"null", b"{}", b"\xff", b"[" * 100_000, b'{"kind": []}', b'{"kind": "leave"}',
    b'{"kind": "turn"}', b'{"kind": "turn", "request": "x"}', b'{"kind": "shorten", "link": 5}',
    b'{"kind": "shorten", "link": []}', b'{"kind": "done", "page": 1}',
]  # fmt: skip


@pytest.mark.parametrize("line", MALFORMED, ids=lambda line: repr(line[:40]))
def test_a_malformed_message_ends_its_connection_alone(line, page):
    room = Classroom(1)
    one, other = page(room), page(room)
    assert one.turn() == 0
    one.say(line)
    assert one.hear() is None
    assert other.turn() in (0, 1)
    until(lambda: [at.number for at in room.pages] == [2])


def test_short_addresses_are_kept_for_a_while_and_up_to_a_number(page, monkeypatch):
    monkeypatch.setattr(module, "MOST_SHORT", 2)
    room = Classroom()
    one = page(room)

    def code(link):
        one.tell("shorten", link=link)
        return one.hear()["code"]

    first = code("one")
    assert (code("one"), room.find(first)) == (first, "one")
    second, third = code("two"), code("three")
    assert [room.find(name) for name in (first, second, third)] == [None, "two", "three"]
    assert code("x" * (module.LONGEST_LINK + 1)) == ""
    monkeypatch.setattr(module, "SHORT_DAYS", -1)
    assert room.find(third) is None


def test_the_cookie_is_read_and_the_token_compared():
    room = Classroom(collects=True)
    assert room.is_teacher(cookie_of(f"a=b; {COOKIE}={room.token}; c=d"))
    for header in ("", "x", f"{COOKIE}=", f"{COOKIE}={room.token}x", f"{COOKIE}=\xe4", "\x00=;;"):
        assert not room.is_teacher(cookie_of(header))
    assert not Classroom().is_teacher("")
    closed = Classroom()
    assert not closed.is_teacher(closed.token)


ACT = """
import os
from workbench.extensions.classroom.page.classroom import classroom
from workbench.run.jobs.run_queue import MACHINE, QueueSlot
room, slot = classroom(), QueueSlot(MACHINE)
slot.enqueue()
print(slot.held, slot.ahead, room.facts["teacher"], "HTTP_COOKIE" in os.environ, "WORKBENCH_CLASS" in os.environ)
"""


@pytest.mark.skipif(not AVAILABLE, reason="kernels are forked on Linux only")
def test_a_kernel_that_is_killed_gives_its_turn_back(tmp_path):
    async def test(kernels):
        cookie = {"HTTP_COOKIE": f"{COOKIE}={kernels.room.token}"}
        (one, first), (two, second) = await opened(kernels, env=cookie), await opened(kernels)
        assert await answer(first, ACT) == "True 0 True False False"
        assert await answer(second, ACT) == "False 1 False False False"
        await one.provisioner.kill()
        held = "print(slot.acquire(unless=lambda: False), slot.ahead)"
        assert await answer(second, held) == "True 0"
        first.stop_channels()
        second.stop_channels()
        # The fork server ends with them.
        return [one.provisioner.pid, two.provisioner.pid, kernels.forks.process.pid]

    run(test, runs_at_once=1, classroom=True)


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """The URL of a server with a teacher, the teacher's token, and the server's folder."""
    folder = tmp_path_factory.mktemp("taught")
    with lab.voila_server(folder, "--PageKernels.classroom=True") as url:
        log = folder / "server.log"
        found = until(lambda: re.search(r"for you alone: (\S+)/teacher#(\S+)", log.read_text(encoding="utf-8")))
        assert urllib.parse.urlsplit(found[1]).port == urllib.parse.urlsplit(url).port
        yield url, found[2], log


def asked(url, token):
    """Status, text and cookies of the answer to a token."""
    jar = http.cookiejar.CookieJar()

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar), Stay)
    form = opener.open(f"{url}/teacher").read().decode()
    xsrf = re.search(r'name="_xsrf" value="([^"]+)"', form)[1]
    data = urllib.parse.urlencode({"_xsrf": xsrf, "token": token}).encode()
    try:
        opener.open(f"{url}/teacher", data)
    except urllib.error.HTTPError as reply:
        return reply.code, reply.read().decode(), {cookie.name: cookie for cookie in jar}, reply.headers


def test_the_teachers_address_is_for_the_teacher_alone(taught):
    url, token, log = taught
    for wrong in ("", "x", token[:-1], token + "x", "\u00e4"):
        status, text, cookies, _ = asked(url, wrong)
        assert (status, text.count("\n"), COOKIE in cookies) == (403, 1, False)
        assert text.startswith("this is not the token of the teacher; open the whole address")
    status, _, cookies, headers = asked(url, token)
    assert (status, headers["Location"]) == (303, "/?view=class.all-pages")
    assert cookies[COOKIE].has_nonstandard_attr("HttpOnly")
    assert cookies[COOKIE].get_nonstandard_attr("SameSite") == "Strict"
    assert log.read_text(encoding="utf-8", errors="replace").count(token) == 1


def test_each_start_has_another_token():
    one, other = Classroom(0).token, Classroom(0).token
    assert one != other
    assert len(one) >= 22


def test_a_short_address_that_leads_nowhere_says_why(taught):
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{taught[0]}/s/abc123")
    assert refused.value.code == 404
    assert refused.value.read().decode().startswith("this short address leads nowhere: the server was started again")
