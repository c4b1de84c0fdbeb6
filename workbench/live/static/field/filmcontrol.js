import { countText } from "../ui/numbers.js";
import { element, press, write } from "../ui/page.js";
import { control, follow } from "../ui/traits.js";
import { atMost, whenNew } from "../transport/throttle.js";

// Milliseconds between two frames of a film that is played, and between two that the kernel hears of.
const [FRAME, TURN] = [140, 60];

// The film of a run: a slider over its iterations, which rests at those that were kept, and a button that plays these. The
// last one is the present state. move(iteration) hears what the slider shows.
export function filmControl(model, move) {
  const row = element("div", "wb-fieldrow wb-film");
  const play = press("▶", "play the film of this run", () => (timer ? stop() : start()));
  const place = control("range", "iteration that is shown", { min: 0, step: 1 });
  const where = element("span", "");
  const kept = element("span", "wb-note");
  row.append(play, place, where, kept);
  row.hidden = true;
  let iterations = [];
  let timer = 0;
  // The frame before another view pointed at an iteration.
  let before = null;

  const last = () => iterations.length - 1;
  const present = () => (model.get("frame") < 0 ? last() : Math.min(model.get("frame"), last()));
  const pull = () => {
    if (!iterations.length) return;
    place.value = String(iterations[present()]);
    where.textContent = `iteration ${countText(iterations[present()])}`;
    place.setAttribute("aria-valuetext", where.textContent);
  };
  const tell = atMost(TURN, () => model.save_changes());
  const show = (frame) => {
    if (model.get("frame") === frame) return;
    model.set("frame", frame);
    tell.call();
    pull();
  };
  const scrub = (frame) => {
    before = null;
    show(frame >= last() ? -1 : frame);
    move(iterations[frame]);
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "▶";
    move(null);
  };
  const start = () => {
    scrub(present() >= last() ? 0 : present());
    timer = setInterval(() => (present() < last() ? scrub(present() + 1) : stop()), FRAME);
    play.textContent = "❚❚";
  };
  place.addEventListener("input", () => {
    scrub(nearest(iterations, Number(place.value)));
    pull();
  });
  // A key moves from one kept state to the next; an iteration alone would lead back to the same.
  place.addEventListener("keydown", (event) => {
    const far = Math.max(2, Math.round(iterations.length / 10));
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -far, PageUp: far, Home: -Infinity, End: Infinity };
    if (!(event.key in steps)) return;
    event.preventDefault();
    scrub(Math.max(0, Math.min(last(), present() + steps[event.key])));
    move(null);
  });
  place.addEventListener("change", () => move(null));
  const forget = follow(model, ["frame"], pull);
  const fill = whenNew(({ iterations: found, words }) => {
    iterations = found;
    row.hidden = found.length < 2;
    [place.min, place.max] = [String(found[0] ?? 0), String(found.at(-1) ?? 0)];
    write(kept, words);
    pull();
  });
  return {
    row,
    show: ({ film = { iterations: [], words: "" } }) => fill(film),
    // Shows the frame nearest to an iteration, until that is null.
    look(iteration) {
      if (timer || iterations.length < 2) return;
      if (iteration === null) {
        if (before !== null) show(before);
        before = null;
        return;
      }
      before ??= model.get("frame");
      const frame = nearest(iterations, iteration);
      show(frame === last() ? -1 : frame);
    },
    close() {
      clearInterval(timer);
      tell.cancel();
      forget();
    },
  };
}

// The place of the number nearest to a value.
function nearest(numbers, value) {
  const away = numbers.map((one) => Math.abs(one - value));
  return away.indexOf(Math.min(...away));
}
