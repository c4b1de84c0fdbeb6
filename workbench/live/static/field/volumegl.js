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
