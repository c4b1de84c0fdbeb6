import { tellKernel } from "../transport/kernel.js";
import { atMost } from "../transport/throttle.js";
import { button, element, press } from "../ui/page.js";
import { adopt, dropRuns, forgetAll, keepRun, keepSession, keptSessions, runsOf } from "./keptruns.js";

// Keeps the runs of a served page in this browser, and problem and view in its address. A page that is loaded again has
// all of it as it was; any other page offers the last session that no page shows.

const OWN = "workbench-session";
const ANSWERS = 200; // ms in which other pages answer
const PERIOD = 400; // ms; browsers refuse an address that changes more often than a hundred times in 30 s
const NOTHING = "This browser keeps nothing here, so save the runs that you need.";
const FOREIGN = "The problem of this address is kept in another browser or was forgotten; ask for the file of Save problem.";

// Both ends of the widget, of which a page has one.
const shown = { offer: null, said: "", draws: new Set(), reopen() {}, forget() {} };

function say(words) {
  shown.said = words;
  for (const draw of shown.draws) draw();
}

function newName() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The pages of this browser that are open, by their session.
async function openSessions(channel) {
  const open = new Set();
  const hear = ({ data }) => data.here && open.add(data.here);
  channel.addEventListener("message", hear);
  channel.postMessage({});
  await new Promise((resolve) => setTimeout(resolve, ANSWERS));
  channel.removeEventListener("message", hear);
  return open;
}

function initialize({ model }) {
  const bounds = model.get("bounds");
  const channel = new BroadcastChannel(OWN);
  let own = "";
  let race = ""; // as it was kept, until the kernel knows of one
  const answer = ({ data }) => !data.here && own && channel.postMessage({ here: own });
  channel.addEventListener("message", answer);
  const writing = atMost(PERIOD, write);

  async function begin() {
    const open = await openSessions(channel);
    const again = performance.getEntriesByType("navigation")[0]?.type !== "navigate";
    const before = again ? sessionStorage.getItem(OWN) : null;
    // A page that was duplicated shows the problem of its address, and leaves the runs to the other.
    own = before && !open.has(before) ? before : newName();
    sessionStorage.setItem(OWN, own);
    const sessions = await keptSessions(bounds.days);
    shown.offer = sessions.find(({ id, runs }) => runs && id !== own && !open.has(id)) ?? null;
    const kept = new URLSearchParams(location.search).get("kept");
    const asked = sessions.find(({ id }) => id === kept);
    if (asked) tellKernel(model, { kind: "place", link: asked.link, view: asked.view });
    await sendRuns(own);
    sendRace((asked ?? sessions.find(({ id }) => id === own))?.race);
    say(kept && !asked ? FOREIGN : "");
    model.on("change:link", writing.call);
    model.on("change:view", writing.call);
    model.on("change:race", writing.call);
    if (!asked) write();
  }

  // Both in the address; a link that is too long for one is found in the storage by the name of the session.
  function write() {
    const [link, view] = [model.get("link"), model.get("view")];
    if (!link || !own) return;
    const query = new URLSearchParams(location.search);
    for (const name of ["p", "kept", "view", "race"]) query.delete(name);
    query.set(...(link.length <= bounds.address ? ["p", link] : ["kept", own]));
    query.set("view", view);
    history.replaceState(history.state, "", `?${query}${location.hash}`);
    keepSession({ id: own, link, view, race: model.get("race") ?? race }).catch(fail);
  }

  // The race comes after its runs, whose numbers it names. An address with a race is newer than the one that was kept.
  function sendRace(kept) {
    race = new URLSearchParams(location.search).has("race") ? "" : kept ?? "";
    if (race) tellKernel(model, { kind: "race", link: race });
  }

  async function sendRuns(session) {
    for (const { id, order, content } of await runsOf(session)) tellKernel(model, { kind: "run", token: id, order }, [content]);
  }

  shown.reopen = async () => {
    const { id, link, view, race } = shown.offer;
    shown.offer = null;
    say("");
    tellKernel(model, { kind: "place", link, view });
    await sendRuns(id);
    if (race) tellKernel(model, { kind: "race", link: race });
    await adopt(id, own);
  };
  shown.forget = async () => {
    shown.offer = null;
    await forgetAll();
    say("This browser has forgotten all runs; those listed here stay until the page is left.");
  };

  async function receive(content, buffers) {
    await ready;
    if (content.kind === "drop") await dropRuns(content.tokens);
    if (content.kind !== "keep") return;
    const { buffer, byteOffset, byteLength } = buffers[0];
    const file = buffer.slice(byteOffset, byteOffset + byteLength);
    await keepRun({ id: content.token, session: own, order: content.order }, file, bounds.bytes);
  }

  function fail(refused) {
    console.debug("nothing can be kept", refused);
    say(NOTHING);
  }

  // The browser asks whether the page is to be left, in words of its own. Voila ends the kernel at the same event, which
  // must not come before the answer; so it hears of it once the page is left. The page's template calls this before Voila.
  let left = false;
  const warn = (event) => {
    if (left || !model.get("busy")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const leave = () => {
    writing.now();
    left = true;
    if (model.get("busy")) window.dispatchEvent(new Event("beforeunload"));
  };
  const show = () => say(model.get("said"));
  const take = (content, buffers) => receive(content, buffers).catch(fail);
  window.workbenchLeaving = warn;
  window.addEventListener("pagehide", leave);
  model.on("msg:custom", take);
  model.on("change:said", show);
  const ready = begin();
  ready.catch(fail);
  return () => {
    delete window.workbenchLeaving;
    window.removeEventListener("pagehide", leave);
    model.off("msg:custom", take);
    model.off("change:said", show);
    model.off("change:link", writing.call);
    model.off("change:view", writing.call);
    model.off("change:race", writing.call);
    writing.cancel();
    channel.close();
  };
}

function when(changed) {
  return new Date(changed).toLocaleString([], { weekday: "long", hour: "2-digit", minute: "2-digit" });
}

function render({ model, el }) {
  const root = element("div", "wb-kept");
  el.append(root);
  function draw() {
    const offer = shown.offer;
    const words = offer ? `The last session, of ${when(offer.changed)}, has ${offer.runs} run${offer.runs > 1 ? "s" : ""} that this browser keeps.` : "";
    const said = element("span", "wb-note", [shown.said, words].filter(Boolean).join(" "));
    said.setAttribute("role", "status");
    const acts = offer ? [press("Reopen the last session", "its problem, its view and its runs", () => shown.reopen())] : [];
    const forget = button("wb-link", "Forget all kept runs", () => shown.forget(), "of all sessions in this browser");
    root.replaceChildren(said, ...acts, element("span", "wb-note wb-limits", model.get("bounds").words), forget);
    root.classList.toggle("wb-silent", !said.textContent);
  }
  shown.draws.add(draw);
  draw();
  return () => {
    shown.draws.delete(draw);
    root.remove();
  };
}

export default { initialize, render };
