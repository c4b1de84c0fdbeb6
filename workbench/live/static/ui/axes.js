// Ticks and frames: a linear axis and a logarithmic axis.

// The smallest comfortable bound above a count. One that keeps growing gets a bound that lasts, as each new one means
// to redraw everything.
export function roundUp(count, grows) {
  const decade = 10 ** Math.floor(Math.log10(Math.max(count, 10)));
  const steps = grows ? [1, 2, 5, 10] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];
  return steps.map((step) => step * decade).find((bound) => bound >= count);
}

export function linearTicks(low, high, most) {
  const rough = (high - low) / most;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * decade).find((candidate) => candidate >= rough * 0.999);
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  // Multiples of a step that is smaller than their rounding error cannot be counted: one tick, at the low end.
  if (!(Math.hypot(first, last) < Number.MAX_SAFE_INTEGER)) return [low];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => (first + k) * step);
}

// Exponents of the powers of ten between two exponents, thinned out to at most so many.
export function decadeTicks(low, high, most) {
  const step = Math.max(1, Math.ceil((Math.floor(high) - Math.ceil(low) + 1) / most));
  const ticks = [];
  for (let exponent = Math.ceil(low / step - 1e-9) * step; exponent <= high + 1e-9; exponent += step) ticks.push(exponent);
  return ticks;
}

// ticks: [position in pixels, text]; box: {left, top, right, bottom}. The title of y stands upright above its axis, that of x
// beneath; the font is the context's.
export function drawAxes(context, box, colours, { xTicks, yTicks, xTitle, yTitle, grid }) {
  const zoom = colours.zoom ?? 1;
  context.lineWidth = 1;
  for (const [x, text] of xTicks) {
    if (grid) line(context, colours.rule, x, box.top, x, box.bottom);
    else line(context, colours.soft, x, box.bottom, x, box.bottom + 4);
    label(context, colours.soft, text, x, box.bottom + 6, "center", "top");
  }
  for (const [y, text] of yTicks) {
    if (grid) line(context, colours.rule, box.left, y, box.right, y);
    else line(context, colours.soft, box.left - 4, y, box.left, y);
    label(context, colours.soft, text, box.left - 7, y, "right", "middle");
  }
  context.strokeStyle = colours.soft;
  context.strokeRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  label(context, colours.soft, xTitle, (box.left + box.right) / 2, box.bottom + 8 + 14 * zoom, "center", "top");
  label(context, colours.soft, yTitle, Math.max(0, box.left - 24 * zoom), box.top - 7, "left", "bottom");
}

export function line(context, colour, x0, y0, x1, y1) {
  context.strokeStyle = colour;
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

// halo: a colour behind the letters, so that they can be read on top of curves.
export function label(context, colour, text, x, y, align, baseline, halo) {
  context.fillStyle = colour;
  context.textAlign = align;
  context.textBaseline = baseline;
  if (halo) {
    context.save();
    context.setLineDash([]);
    context.strokeStyle = halo;
    context.lineWidth = 4;
    context.strokeText(text, x, y);
    context.restore();
  }
  context.fillText(text, x, y);
}
