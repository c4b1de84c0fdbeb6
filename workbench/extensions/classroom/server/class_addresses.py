"""Handlers of the addresses of a class: short ones of problems, and the teacher's."""

from __future__ import annotations

from urllib.parse import quote

from tornado.web import RequestHandler

from workbench.extensions.classroom.server.classroom import COOKIE, SHORT_DAYS, Classroom

NOWHERE = (
    "this short address leads nowhere: the server was started again, or the address is older than "
    f"{SHORT_DAYS} days; ask for another one"
)
NO_TEACHER = "this is not the token of the teacher; open the whole address that the terminal shows since the last start"
ASKING = """<!doctype html><meta charset="utf-8"><title>Teacher</title>
<style>
:root {{ color-scheme: light dark; font: 16px system-ui, sans-serif }}
form {{ margin: 20vh auto; width: 22em }}
</style>
<form method="post">{xsrf}<p><label>The token of the teacher's address, which the terminal shows
<input name="token" type="password" autocomplete="off" autofocus></label> <button>Open</button></form>
<script>
const token = location.hash.slice(1);
if (token) {{
  history.replaceState(null, "", location.pathname);
  document.forms[0].token.value = token;
  document.forms[0].submit();
}}
</script>"""
"""A page that sends the token behind the # of its address, which is in no log, or asks for one."""
ITSELF = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'"


class _ClassAddress(RequestHandler):
    def initialize(self, room: Classroom, page: str) -> None:
        """Take the classroom and the path of the page from the rule."""
        self._room, self._page = room, page


class ShortAddress(_ClassAddress):
    """Leads to the page with the problem that was kept under a short address."""

    def get(self, code: str) -> None:
        """Redirect to the page with the problem, or answer that there is none."""
        link = self._room.find(code)
        if link is None:
            say(self, 404, NOWHERE)
        else:
            self.redirect(f"{self._page}?p={quote(link)}")


class TeachersAddress(_ClassAddress):
    """Makes the pages of a browser that has the token the teacher's, by a cookie that scripts cannot read."""

    def get(self) -> None:
        """Answer with the page that sends the token."""
        self.set_header("Content-Security-Policy", ITSELF)
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "no-store")
        self.finish(ASKING.format(xsrf=self.xsrf_form_html()))

    def post(self) -> None:
        """Set the cookie and redirect to the class, if the token is right."""
        token = self.get_body_argument("token", "")
        if not self._room.is_teacher(token):
            say(self, 403, NO_TEACHER)
            return
        self.set_cookie(COOKIE, token, path=self._page, httponly=True, samesite="Strict")
        self.redirect(f"{self._page}?view=class.all-pages", status=303)


def say(handler: RequestHandler, status: int, sentence: str) -> None:
    """Answer with a status and a sentence."""
    handler.set_status(status)
    handler.set_header("Content-Type", "text/plain; charset=utf-8")
    handler.finish(f"{sentence}\n")
