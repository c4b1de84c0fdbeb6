import { element, write } from "../ui/page.js";
import { countText } from "../ui/numbers.js";
import { rateText, timeText } from "../ui/units.js";

// The legend of a timeline, which is a table as well: what each kernel is drawn like, and what it took of the whole run.

const HEADINGS = ["kernel", "lane", "calls", "time", "share", "mean", "bandwidth"];

export function kernelTable() {
  const root = element("details", "");
  const table = element("table", "wb-kernels");
  const about = element("summary", "");
  const head = element("tr", "");
  for (const name of HEADINGS) head.append(heading(name));
  const body = element("tbody", "");
  const top = element("thead", "");
  top.append(head);
  table.append(top, body);
  root.append(about, table);
  root.hidden = true;
  return {
    root,
    // kernels as the timeline has them; totals: calls, seconds and bytes per style, which is one for each level; caption:
    // what they are the sums of; none: what stands there where no kernel ran, nothing if empty.
    show(kernels, totals, caption, none = "") {
      const all = totals.map((total, style) => ({ ...total, same: kernels.filter((kernel) => kernel.style === style) }));
      const sum = all.reduce((all, { seconds, same: [kernel] }) => all + (kernel?.idle ? 0 : seconds), 0);
      // Totals of another run may come before its kernels.
      const rows = inOrder(all.filter(({ calls, same }) => calls > 0 && same.length));
      write(about, rows.length ? caption : none);
      table.hidden = !rows.length;
      root.hidden = !rows.length && !none;
      body.replaceChildren(...rows.map((reported) => row(reported, sum)));
    },
  };
}

// The longest first; the levels of a coarse solve stand below their sum, the finest first.
function inOrder(rows) {
  const levels = rows.filter(({ same }) => same[0].level);
  const others = rows.filter(({ same }) => !same[0].level);
  if (levels.length) others.push(summed("coarse solve", levels));
  others.sort((one, other) => other.seconds - one.seconds);
  const place = (level) => Number(level.match(/\d+/)?.[0] ?? Infinity);
  levels.sort((one, other) => place(one.same[0].level) - place(other.same[0].level));
  return others.flatMap((row) => (row.name ? [row, ...levels] : [row]));
}

function summed(name, rows) {
  const of = (what) => rows.reduce((sum, row) => sum + row[what], 0);
  return { name, calls: of("calls"), seconds: of("seconds"), bytes: of("bytes"), same: rows.flatMap(({ same }) => same) };
}

function heading(name) {
  const cell = element("th", isNumber(name) ? "wb-number" : "", name);
  cell.scope = "col";
  return cell;
}

function isNumber(name) {
  return name !== "kernel" && name !== "lane";
}

function row({ calls, seconds, bytes, same, name }, sum) {
  const { level, idle } = same[0];
  const made = element("tr", level && !name ? "wb-level" : "");
  const titled = element("td", "");
  if (!name) titled.append(swatch(same[0]));
  titled.append(name ?? (level || same[0].name));
  const lanes = [...new Set(same.map(({ lane }) => lane))].join(", ");
  const share = idle ? "–" : `${((100 * seconds) / sum || 0).toFixed(1)}\u202f%`;
  made.append(titled, element("td", "", lanes));
  for (const text of [countText(calls), timeText(seconds), share, timeText(seconds / calls), rateText(bytes, seconds) || "–"]) {
    made.append(element("td", "wb-number", text));
  }
  return made;
}

function swatch({ colour, idle }) {
  const made = element("i", "wb-patch");
  made.style.background = idle ? "var(--wb-hair)" : colour;
  return made;
}
