// Arrow keys, Home and End move within a row or a column of buttons of which one is chosen. go(place) chooses one;
// present() is the place of the one that is.
export function arrows(host, go, present, size) {
  host.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
    const ends = { Home: 0, End: size() - 1 };
    if (!(event.key in steps) && !(event.key in ends)) return;
    event.preventDefault();
    go(event.key in ends ? ends[event.key] : (present() + steps[event.key] + size()) % size());
  });
}
