import { element, write } from "./page.js";
import { styleSample } from "./stylesample.js";
import { follow, setTraits } from "./traits.js";

// A table that is sorted by a press on a heading: rising, then falling, then as it came. Where it has verbs its rows can
// be chosen, and a toolbar acts on the chosen ones; verbs of a row stand at its end. Cells are kept from one state to the
// next, so that neither focus nor a name that is being typed is lost while numbers change.

function render({ model, el }) {
  const root = element("div", "wb-sorted");
  const bar = element("div", "wb-tablebar");
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", "act on the chosen rows");
  const note = element("span", "wb-note");
  const none = element("div", "wb-empty");
  const scroll = element("div", "wb-scrolled");
  const [table, head, body, line] = ["table", "thead", "tbody", "tr"].map((kind) => element(kind, ""));
  table.className = "wb-table";
  head.append(line);
  table.append(head, body);
  scroll.append(table);
  root.append(bar, none, scroll);
  el.append(root);
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  const shown = new Map(); // rows by key
  const presses = new Map(); // buttons of the toolbar by verb

  const choosable = () => verbs(false).length > 0;
  const styled = () => model.get("facts").some((fact) => "style" in fact);
  const lead = () => (choosable() ? 1 : 0) + (styled() ? 1 : 0); // cells before the columns
  const verbs = (inline) => model.get("verbs").filter((verb) => Boolean(verb.inline) === inline);
  const lowness = (name) => ["low", "lower"].filter((list) => model.get(list).includes(name)).map((list) => `wb-${list}`).join(" ");
  const tell = (verb, rows, value = "") => rows.length && model.send({ kind: "act", verb, rows, value });

  function show() {
    const { column, falling } = model.get("order");
    const [names, marks, facts] = [model.get("columns"), model.get("marks"), model.get("facts")];
    const all = model.get("rows").map((cells, place) => ({ cells, mark: marks[place] ?? "", ...(facts[place] ?? { id: place }) }));
    const rows = sorted(all, column, falling);
    none.hidden = rows.length > 0;
    scroll.hidden = !rows.length;
    write(none, model.get("empty"));
    const numeric = names.map((_, place) => all.some(({ cells }) => typeof cells[place]?.key === "number" && !cells[place].parts));
    showHead(names, numeric);
    const keys = new Set(rows.map(({ id }) => id));
    for (const [key, { row }] of [...shown]) if (!keys.has(key)) (row.remove(), shown.delete(key));
    rows.forEach((state, place) => {
      const made = shown.get(state.id) ?? newRow(state.id);
      fill(made, state, names, numeric);
      if (body.children[place] !== made.row) body.insertBefore(made.row, body.children[place] ?? null);
    });
    showBar();
  }

  function showHead(names, numeric) {
    const { column, falling } = model.get("order");
    const extra = lead() + (verbs(true).length ? 1 : 0);
    if (line.children.length !== names.length + extra || line.dataset.names !== names.join("|")) {
      line.dataset.names = names.join("|");
      const cells = names.map((name, place) => heading(name, place));
      if (styled()) cells.unshift(element("th", ""));
      if (choosable()) cells.unshift(element("th", "wb-choose"));
      if (verbs(true).length) cells.push(element("th", ""));
      line.replaceChildren(...cells);
    }
    names.forEach((name, place) => {
      const cell = line.children[place + lead()];
      cell.className = `${numeric[place] ? "wb-number" : ""} ${lowness(name)}`;
      cell.setAttribute("aria-sort", place !== column ? "none" : falling ? "descending" : "ascending");
      write(cell.firstChild, name + (place !== column ? "" : falling ? " ▼" : " ▲"));
    });
  }

  function heading(name, place) {
    const cell = element("th", "");
    cell.scope = "col";
    const press = element("button", "", name);
    press.type = "button";
    press.addEventListener("click", () => {
      const { column, falling } = model.get("order");
      const next = place !== column ? { column: place, falling: false } : falling ? { column: -1, falling: false } : { column, falling: true };
      setTraits(model, { order: next });
    });
    cell.append(press);
    return cell;
  }

  function newRow(key) {
    const made = { row: element("tr", ""), cells: [], acts: new Map() };
    made.row.dataset.row = key;
    if (choosable()) {
      const pick = element("td", "wb-choose");
      made.box = document.createElement("input");
      made.box.type = "checkbox";
      made.box.addEventListener("change", () => choose(key, made.box.checked, true));
      pick.append(made.box);
      made.row.append(pick);
      made.row.addEventListener("click", (event) => {
        if (!event.target.closest("button, input")) choose(key, event.ctrlKey || event.metaKey ? !chosen().includes(key) : true, event.ctrlKey || event.metaKey);
      });
      made.row.addEventListener("dblclick", (event) => event.target.closest(".wb-namecell") && rename(made));
      made.row.addEventListener("keydown", (event) => pressed(event, key, made));
    }
    if (styled()) {
      const sample = element("td", "wb-samplecell");
      made.sample = element("button", "wb-samplebtn");
      made.sample.type = "button";
      made.sample.addEventListener("click", () => tell("restyle", [key]));
      sample.append(made.sample);
      made.row.append(sample);
    }
    shown.set(key, made);
    return made;
  }

  function fill(made, state, names, numeric) {
    const { row } = made;
    const inline = verbs(true);
    if (made.cells.length !== names.length) {
      for (const old of [...made.cells, ...(made.tail ? [made.tail] : [])]) old.remove();
      made.cells = names.map(() => element("td", ""));
      row.append(...made.cells);
      made.tail = inline.length ? element("td", "wb-tail") : null;
      if (made.tail) row.append(made.tail);
    }
    row.className = `${state.mark && `wb-${state.mark}`} ${state.hidden ? "wb-off" : ""} ${state.pinned ? "wb-pinned" : ""}`;
    made.state = state;
    state.cells.forEach((cell, place) => {
      const td = made.cells[place];
      const named = names[place] === model.get("named");
      td.className = `${numeric[place] ? "wb-number" : ""} ${named ? "wb-namecell" : ""} ${lowness(names[place])}`;
      td.title = cell.tip ?? "";
      if (cell.parts) showParts(td, cell.parts);
      else if (!td.querySelector("input")) write(td, cell.text);
    });
    if (made.box) {
      const is = chosen().includes(state.id);
      [made.box.checked, row.ariaSelected] = [is, String(is)];
      row.classList.toggle("wb-chosen", is);
      made.box.setAttribute("aria-label", `choose ${state.title ?? state.id}`);
    }
    if (made.sample) showSample(made, state);
    if (made.tail) showInline(made, state, inline);
  }

  function showSample(made, { style, title, styled, hidden = false }) {
    const text = JSON.stringify([style ?? null, hidden]);
    // Where a look has no words it cannot be changed.
    made.sample.disabled = !styled;
    if (styled) {
      made.sample.setAttribute("aria-label", `colour of ${title}: ${styled}; press for the next one`);
      made.sample.title = `${styled}; press for the next colour, dash and mark`;
    }
    if (made.sample.dataset.style === text) return;
    made.sample.dataset.style = text;
    const sign = hidden ? [element("span", "wb-hiddensign", "hidden")] : [];
    made.sample.replaceChildren(...(style ? [styleSample(style), ...sign] : sign));
  }

  // A bar of two parts: setup hatched, iterations solid. One that is cut ends in a gap and a piece more.
  function showParts(td, { first, second, cut, colour, label }) {
    let track = td.querySelector(".wb-parts");
    if (!track) {
      track = element("span", "wb-parts");
      track.append(element("i", "wb-hatchpart"), element("i", "wb-solidpart"));
      track.setAttribute("role", "img");
      td.replaceChildren(track);
    }
    track.setAttribute("aria-label", label);
    track.classList.toggle("wb-cut", Boolean(cut));
    track.style.setProperty("--c", colour);
    track.children[0].style.width = `${100 * first}%`;
    track.children[1].style.width = `${100 * second}%`;
  }

  function showInline(made, { id, acts = [], words = {}, title = "" }, inline) {
    for (const verb of inline) {
      let press = made.acts.get(verb.name);
      if (!press) {
        press = element("button", "wb-link");
        press.type = "button";
        press.addEventListener("click", () => tell(verb.name, [id]));
        made.acts.set(verb.name, press);
      }
      if (press.parentElement !== made.tail) made.tail.append(press);
      write(press, words[verb.name] ?? verb.title);
      press.disabled = !acts.includes(verb.name);
      press.title = verb.tip;
      press.setAttribute("aria-label", `${words[verb.name] ?? verb.title}: ${title || id}`);
    }
  }

  function showBar() {
    const own = verbs(false);
    bar.hidden = !own.length || !model.get("rows").length;
    const chosenRows = chosen().map((key) => shown.get(key)?.state).filter(Boolean);
    for (const verb of own) {
      let press = presses.get(verb.name);
      if (!press) {
        press = element("button", "wb-btn", verb.title);
        press.type = "button";
        press.addEventListener("click", () => act(verb.name));
        presses.set(verb.name, press);
        bar.append(press);
      }
      const why = refusal(verb, chosenRows);
      press.hidden = !chosenRows.length;
      press.disabled = Boolean(why);
      press.title = why ? `${verb.tip}; ${why}` : verb.tip + (verb.key ? ` (${verb.key})` : "");
      const words = chosenRows.map((row) => row.words?.[verb.name]).find(Boolean);
      write(press, words ?? verb.title);
    }
    if (bar.lastChild !== note) bar.append(note);
    const hint = model.get("hint") || `Tick rows to act on them: ${own.map(({ title }) => title.toLowerCase()).join(", ")}.`;
    write(note, chosenRows.length ? `${chosenRows.length} chosen` : hint);
  }

  function refusal(verb, rows) {
    if (!rows.length) return "choose a row first";
    if (verb.one && rows.length > 1) return "choose one row";
    if (rows.some((row) => !(row.acts ?? []).includes(verb.name))) return verb.off ?? "not of every chosen row";
    return "";
  }

  function act(name) {
    const verb = verbs(false).find((other) => other.name === name);
    const rows = chosen().map((key) => shown.get(key)?.state).filter(Boolean);
    if (!verb || refusal(verb, rows)) return;
    if (name === "rename") rename(shown.get(rows[0].id));
    else tell(name, rows.map(({ id }) => id));
  }

  const chosen = () => model.get("chosen");
  function choose(key, is, more) {
    const others = more ? chosen().filter((other) => other !== key) : [];
    setTraits(model, { chosen: is ? [...others, key] : others });
    show();
  }

  function pressed(event, key, made) {
    if (event.target.type === "text") return;
    const next = { ArrowDown: made.row.nextElementSibling, ArrowUp: made.row.previousElementSibling }[event.key];
    if (next) next.querySelector("input[type=checkbox]").focus();
    const verb = verbs(false).find((other) => other.key === event.key);
    if (verb && event.target.type === "checkbox") {
      if (!chosen().includes(key)) choose(key, true, false);
      act(verb.name);
    } else if (!next) return;
    event.preventDefault();
  }

  function rename(made) {
    const place = model.get("columns").indexOf(model.get("named"));
    const cell = made.cells[place];
    if (!cell || cell.querySelector("input")) return;
    const field = element("input", "wb-input");
    field.value = made.state.name;
    field.setAttribute("aria-label", `name of ${made.state.title}`);
    let over = false;
    const end = (keep) => {
      if (over) return;
      over = true;
      if (keep && field.value !== made.state.name) tell("rename", [made.state.id], field.value);
      write(cell, made.state.cells[place].text);
      made.box.focus();
    };
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") end(true);
      if (event.key === "Escape") end(false);
    });
    field.addEventListener("blur", () => end(true));
    cell.replaceChildren(field);
    field.focus();
    field.select();
  }

  const forget = follow(model, ["rows", "marks", "order", "columns", "facts", "chosen", "verbs", "empty"], show);
  show();
  return () => {
    forget();
    root.remove();
  };
}

// Pinned rows come first, and what has no value last, whichever way the others go.
function sorted(rows, column, falling) {
  const pinned = (row) => (row.pinned ? 0 : 1);
  const compare = (one, other) => {
    if (pinned(one) !== pinned(other)) return pinned(one) - pinned(other);
    if (column < 0) return 0;
    const [a, b] = [one.cells[column].key, other.cells[column].key];
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    return falling ? -order : order;
  };
  return [...rows].sort(compare);
}

export default { render };
