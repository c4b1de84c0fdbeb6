// The room of the 3D view on the page: its three canvases, sharp on every screen, and where places of the cube lie.

// Side lengths that the cube takes on the page, nearly independent of how it is turned.
const ACROSS = 1.6;
const MARGIN = 40;

// changed() is called when the room is another.
export function volumeRoom(plot, { under, cube, over }, heightNow, { widest, tall, words }, changed) {
  const room = { width: 0, height: 0, bar: 0, scale: 1 };

  function lay(canvas, width, height) {
    [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
    const [columns, rows] = [Math.max(1, Math.round(width * room.scale)), Math.max(1, Math.round(height * room.scale))];
    if (canvas.width !== columns || canvas.height !== rows) [canvas.width, canvas.height] = [columns, rows];
  }

  function measure() {
    const most = heightNow();
    plot.style.maxWidth = `${widest * most}px`;
    room.width = plot.clientWidth;
    room.height = Math.min(most, Math.max(200, Math.round(tall * room.width) + words));
    room.scale = window.devicePixelRatio || 1;
    plot.style.height = `${room.height}px`;
    for (const canvas of [under, over]) lay(canvas, room.width, room.height);
    lay(cube, Math.max(1, room.width - room.bar), room.height);
    changed();
  }

  const observer = new ResizeObserver(measure);
  observer.observe(plot);
  return Object.assign(room, {
    measure,
    // Pixels at the right that belong to the colour bar.
    keepBar(wide) {
      if (wide === room.bar) return;
      room.bar = wide;
      lay(cube, Math.max(1, room.width - wide), room.height);
    },
    // toPage: from a place of the cube to pixels. span: half of what the cube's canvas shows, in side lengths.
    projection(look, zoom) {
      const [x, y] = [(room.width - room.bar) / 2, room.height / 2];
      const scale = ((2 * Math.min(x, y) - MARGIN) / ACROSS) * zoom;
      const toPage = (place) => {
        const [across, upwards] = look.project(place);
        return [x + across * scale, y - upwards * scale];
      };
      return { toPage, span: [x / scale, y / scale] };
    },
    close: () => observer.disconnect(),
  });
}
