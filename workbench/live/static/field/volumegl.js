import { BOXES, EVERYWHERE, PIECES, RAYS } from "./volumeshaders.js";

// The 3D view's own WebGL2: three volumes as textures, and two programs, rays through the cube and pieces drawn apart.

const UNITS = { values: 0, surfaces: 1, labels: 2, palette: 3, ranges: 4 };
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;

// Null where there is no WebGL2. lost() is called when the context has gone, again() when it is back and empty.
export function volumeRenderer(canvas, lost, again) {
  const gl = canvas.getContext("webgl2", { antialias: false, powerPreference: "high-performance" });
  if (!gl) return null;
  let [rays, pieces, textures, target, boxes, count] = [null, null, null, null, null, 0];

  function build() {
    rays = program(gl, EVERYWHERE, RAYS);
    pieces = program(gl, BOXES, PIECES);
    textures = Object.fromEntries(Object.entries(UNITS).map(([name, unit]) => [name, texture(gl, name, unit)]));
    target = { frame: gl.createFramebuffer(), colour: gl.createRenderbuffer(), depth: gl.createRenderbuffer(), size: "" };
    boxes = { array: gl.createVertexArray(), buffer: gl.createBuffer() };
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    for (const name of ["values", "surfaces"]) volume(name, new Uint8Array(1), [1, 1, 1]);
    volume("labels", new Uint16Array(1), [1, 1, 1]);
    volume("ranges", new Uint8Array(4), [1, 1, 1]);
  }

  function volume(name, data, size) {
    const whole = name === "labels" ? [gl.R16UI, gl.RED_INTEGER, gl.UNSIGNED_SHORT]
      : name === "ranges" ? [gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE] : [gl.R8, gl.RED, gl.UNSIGNED_BYTE];
    gl.activeTexture(gl.TEXTURE0 + UNITS[name]);
    // New numbers in the place of old ones need no new memory.
    if (textures[name].size === String(size)) gl.texSubImage3D(gl.TEXTURE_3D, 0, 0, 0, 0, ...size, whole[1], whole[2], data);
    else gl.texImage3D(gl.TEXTURE_3D, 0, whole[0], ...size, 0, whole[1], whole[2], data);
    textures[name].size = String(size);
  }

  function palette(colours) {
    gl.activeTexture(gl.TEXTURE0 + UNITS.palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB8, 256, 1, 0, gl.RGB, gl.UNSIGNED_BYTE, colours);
  }

  function setPieces(rows) {
    count = rows.length / 7;
    gl.bindVertexArray(boxes.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, boxes.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, rows, gl.STATIC_DRAW);
    [[0, 1, 0], [1, 3, 4], [2, 3, 16]].forEach(([place, numbers, first]) => {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, numbers, gl.FLOAT, false, 28, first);
      gl.vertexAttribDivisor(place, 1);
    });
    gl.bindVertexArray(null);
  }

  // Room for the picture before it is scaled to the canvas.
  function prepare(width, height) {
    gl.bindFramebuffer(gl.FRAMEBUFFER, target.frame);
    if (target.size === `${width} ${height}`) return;
    target.size = `${width} ${height}`;
    gl.bindRenderbuffer(gl.RENDERBUFFER, target.colour);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.RGBA8, width, height);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, target.colour);
    gl.bindRenderbuffer(gl.RENDERBUFFER, target.depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, width, height);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, target.depth);
  }

  // quality: pixels per pixel of the canvas and side. reported: the uniforms.
  function draw(reported, quality) {
    const [width, height] = [canvas.width, canvas.height].map((side) => Math.max(1, Math.round(side * quality)));
    prepare(width, height);
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const drawn = reported.apart > 0 && count ? pieces : rays;
    gl.useProgram(drawn.made);
    drawn.set({ ...UNITS, ...reported, pixel: (2 * reported.span[1]) / height });
    if (drawn === pieces) {
      gl.enable(gl.DEPTH_TEST);
      gl.bindVertexArray(boxes.array);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, 36, count);
      gl.bindVertexArray(null);
      gl.disable(gl.DEPTH_TEST);
    } else gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, target.frame);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
    gl.blitFramebuffer(0, 0, width, height, 0, 0, canvas.width, canvas.height, gl.COLOR_BUFFER_BIT, gl.LINEAR);
  }

  // Calls back when all that was asked for is drawn.
  function finished(done) {
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    const look = () => {
      const state = gl.isContextLost() ? gl.WAIT_FAILED : gl.clientWaitSync(fence, 0, 0);
      if (state === gl.TIMEOUT_EXPIRED) setTimeout(look, 2);
      else {
        gl.deleteSync(fence);
        done();
      }
    };
    setTimeout(look, 0);
  }

  const lose = (event) => {
    event.preventDefault();
    lost();
  };
  const restore = () => {
    build();
    again();
  };
  canvas.addEventListener("webglcontextlost", lose);
  canvas.addEventListener("webglcontextrestored", restore);
  build();
  return {
    software: SOFTWARE.test(nameOf(gl)),
    volume,
    palette,
    setPieces,
    draw,
    finished,
    close() {
      canvas.removeEventListener("webglcontextlost", lose);
      canvas.removeEventListener("webglcontextrestored", restore);
      // A browser keeps only so many contexts, and frees one that is forgotten late.
      gl.getExtension("WEBGL_lose_context")?.loseContext();
    },
  };
}

function nameOf(gl) {
  const about = gl.getExtension("WEBGL_debug_renderer_info");
  return String(gl.getParameter(about ? about.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
}

function texture(gl, name, unit) {
  const kind = name === "palette" ? gl.TEXTURE_2D : gl.TEXTURE_3D;
  const filter = name === "labels" || name === "ranges" ? gl.NEAREST : gl.LINEAR;
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(kind, gl.createTexture());
  gl.texParameteri(kind, gl.TEXTURE_MIN_FILTER, filter);
  gl.texParameteri(kind, gl.TEXTURE_MAG_FILTER, filter);
  for (const wrap of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T, gl.TEXTURE_WRAP_R]) gl.texParameteri(kind, wrap, gl.CLAMP_TO_EDGE);
  return { size: "" };
}

// A program, and what sets those of its uniforms that it has.
function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) throw new Error(gl.getShaderInfoLog(shader));
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost()) throw new Error(gl.getProgramInfoLog(made));
  const setters = {};
  for (let k = 0; k < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); k += 1) {
    const { name, type } = gl.getActiveUniform(made, k);
    const place = gl.getUniformLocation(made, name);
    setters[name] = type === gl.FLOAT ? (value) => gl.uniform1f(place, value)
      : type === gl.FLOAT_VEC2 ? (value) => gl.uniform2fv(place, value)
        : type === gl.FLOAT_VEC3 ? (value) => gl.uniform3fv(place, value)
          : (value) => gl.uniform1i(place, Number(value));
  }
  return { made, set: (reported) => Object.entries(setters).forEach(([name, set]) => set(reported[name])) };
}

// What a ray may skip: the least and greatest byte of each block of a volume.

export const BLOCKS = 16;

// Writes them for BLOCKS^3 blocks of the cube into `made`, four bytes a block, the two from the byte `first` on. A block
// takes in the cells around it, since between two cells a place has a value between theirs.
export function writeRanges(made, first, bytes, size, reach) {
  let [least, most] = [bytes, bytes];
  const shape = [...size];
  for (const axis of [0, 1, 2]) {
    const spans = spansOf(size[axis], reach[axis]);
    [least, most] = [folded(least, shape, axis, spans, Math.min), folded(most, shape, axis, spans, Math.max)];
    shape[axis] = BLOCKS;
  }
  for (let block = 0; block < least.length; block += 1) {
    made[4 * block + first] = least[block];
    made[4 * block + first + 1] = most[block];
  }
}

// First and last cell of each block along a side.
function spansOf(cells, reach) {
  return Array.from({ length: BLOCKS }, (_, block) => [
    Math.max(0, Math.floor((block / BLOCKS) * cells * reach - 0.5)),
    Math.min(cells - 1, Math.ceil(((block + 1) / BLOCKS) * cells * reach - 0.5)),
  ]);
}

// The volume with the cells along one axis taken together block by block.
function folded(bytes, shape, axis, spans, take) {
  const inner = shape.slice(0, axis).reduce((product, cells) => product * cells, 1);
  const outer = shape.slice(axis + 1).reduce((product, cells) => product * cells, 1);
  const made = new Uint8Array(inner * BLOCKS * outer);
  let at = 0;
  for (let high = 0; high < outer; high += 1) {
    const start = high * shape[axis];
    for (const [from, to] of spans) {
      for (let low = 0; low < inner; low += 1) {
        let found = bytes[(start + from) * inner + low];
        for (let k = from + 1; k <= to; k += 1) found = take(found, bytes[(start + k) * inner + low]);
        made[at] = found;
        at += 1;
      }
    }
  }
  return made;
}

// When the 3D view is drawn and how finely: coarsely while something moves and the GPU is slow, finely at rest, and not
// at all when nothing has changed.

// Milliseconds that a picture may take while something moves, and one at rest that takes several pixels for one.
const [MOVING_MS, SOFTWARE_MS, FINE_MS] = [30, 100, 500];
// Milliseconds after which what moved is at rest: by hand, and of a run whose pictures come several to a message.
const RESTS = { moving: 160, live: 2000 };
const [LEAST, FINEST] = [0.35, 2];

// draw(quality) draws with `quality` pixels per pixel and side of the canvas; drawn(quality, ms) is called when that is on
// the page.
export function volumeStage(canvas, renderer, draw, drawn) {
  const target = renderer.software ? SOFTWARE_MS : MOVING_MS;
  let coarse = renderer.software ? 0.5 : 1;
  let [frame, busy, asked, timer, closed] = [0, false, false, 0, false];
  // What the next picture is: of something that moves, of a run, whole, or with several pixels for each of the page.
  let wanted = "whole";

  // A smooth edge takes four pixels for one, unless those of the screen are small.
  const qualities = () => ({ moving: coarse, live: coarse, whole: 1, fine: (window.devicePixelRatio || 1) > 1.5 ? 1 : FINEST });

  function paint() {
    [frame, asked] = [0, false];
    if (closed || !canvas.width || !canvas.height) return;
    const [kind, quality] = [wanted, qualities()[wanted]];
    const begun = performance.now();
    busy = true;
    draw(quality);
    renderer.finished(() => {
      busy = false;
      if (closed) return;
      const spent = performance.now() - begun;
      if (kind in RESTS) adapt(spent);
      drawn(quality, spent);
      if (asked) schedule();
      else refine(kind, quality, spent);
    });
  }

  function adapt(spent) {
    if (spent > 1.3 * target) coarse = Math.max(LEAST, 0.8 * coarse);
    else if (spent < 0.6 * target) coarse = Math.min(1, 1.2 * coarse);
  }

  // At rest once more, if that is finer and there is time for it.
  function refine(kind, quality, spent) {
    const { fine } = qualities();
    if (kind in RESTS && quality < fine) timer = setTimeout(() => ask("whole"), RESTS[kind]);
    if (kind === "whole" && quality < fine && spent * fine ** 2 < FINE_MS) ask("fine");
  }

  function schedule() {
    frame ||= requestAnimationFrame(paint);
  }

  function ask(kind) {
    clearTimeout(timer);
    wanted = kind;
    asked = true;
    if (!busy) schedule();
  }

  return {
    // Draw again, because something moves, for a picture of an active run, or "whole" at once.
    invalidate: (kind = "moving") => ask(kind),
    close() {
      closed = true;
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    },
  };
}
