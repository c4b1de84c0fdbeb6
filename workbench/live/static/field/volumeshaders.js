
// The shaders of the 3D view. Places are in side lengths of the cube, 0 to 1; a volume fills `reach` of its texture.

const COMMON = `#version 300 es
precision highp float;
precision highp sampler3D;
precision highp usampler3D;
uniform vec3 right, up, near;
uniform float pixel;
uniform sampler3D values, surfaces;
uniform usampler3D labels;
uniform sampler2D palette;
uniform vec3 valuesReach, surfacesReach, labelsReach;
uniform bool crisp;

vec3 coloured(float share) {
  return texture(palette, vec2((share * 255.0 + 0.5) / 256.0, 0.5)).rgb;
}

vec3 shown(vec3 p) {
  vec3 at = p * valuesReach;
  if (!crisp) return coloured(texture(values, at).r);
  ivec3 size = textureSize(values, 0);
  return coloured(texelFetch(values, clamp(ivec3(at * vec3(size)), ivec3(0), size - 1), 0).r);
}

uint labelAt(vec3 p) {
  ivec3 size = textureSize(labels, 0);
  return texelFetch(labels, clamp(ivec3(p * labelsReach * vec3(size)), ivec3(0), size - 1), 0).r;
}

// A line that is seen on a dark and on a light colour.
vec3 ruled(vec3 colour, float share) {
  return mix(colour, vec3(dot(colour, vec3(0.3, 0.6, 0.1)) < 0.35 ? 1.0 : 0.0), share);
}

vec3 lit(vec3 colour, vec3 normal, float least) {
  vec3 light = normalize(near + 0.45 * up - 0.35 * right);
  float gloss = pow(max(0.0, dot(normal, normalize(light + near))), 48.0);
  return colour * (least + (1.0 - least) * max(0.0, dot(normal, light))) + 0.22 * gloss * (1.0 - least);
}
`;

// One triangle over the whole canvas, and where it is, in side lengths from the middle.
export const EVERYWHERE = `#version 300 es
uniform vec2 span;
out vec2 place;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
  place = corner * span;
  gl_Position = vec4(corner, 0.0, 1.0);
}`;

// A ray through the cube: glass surfaces of the phases in front of an isosurface or of the nearest slice.
export const RAYS = `${COMMON}
in vec2 place;
out vec4 made;
uniform vec3 position, glass;
uniform bool slices, surface, phases, subdomains, signed, own;
uniform float level, inside, steps;
// Least and greatest of the values and of the surfaces in each block of the cube.
uniform sampler3D ranges;

// Positive where the isosurface encloses a place, and where a phase does.
float over(vec3 p) {
  if (own) return inside * (texture(surfaces, p * surfacesReach).r - level);
  float share = texture(values, p * valuesReach).r;
  return signed ? abs(2.0 * share - 1.0) - level : share - level;
}

float within(vec3 p) {
  return inside * (texture(surfaces, p * surfacesReach).r - 0.5);
}

float sought(vec3 p, bool phase) {
  return phase ? within(p) : over(p);
}

vec3 slope(vec3 p, bool phase) {
  vec3 h = 1.0 / vec3(textureSize(surfaces, 0));
  if (!phase && !own) h = 1.0 / vec3(textureSize(values, 0));
  vec3 x = vec3(h.x, 0.0, 0.0), y = vec3(0.0, h.y, 0.0), z = vec3(0.0, 0.0, h.z);
  vec3 found = vec3(sought(p + x, phase) - sought(p - x, phase), sought(p + y, phase) - sought(p - y, phase),
    sought(p + z, phase) - sought(p - z, phase)) / h;
  return dot(found, found) > 0.0 ? normalize(found) : near;
}

// Where between two places of different sign the surface lies.
vec3 crossing(vec3 from, vec3 to, bool phase) {
  bool positive = sought(from, phase) > 0.0;
  for (int k = 0; k < 5; k++) {
    vec3 middle = 0.5 * (from + to);
    if ((sought(middle, phase) > 0.0) == positive) from = middle; else to = middle;
  }
  return 0.5 * (from + to);
}

vec3 solid(vec3 p) {
  vec3 into = slope(p, false);
  vec3 h = 1.5 / vec3(textureSize(surfaces, 0));
  vec3 colour = own ? coloured(texture(surfaces, (p + into * h) * surfacesReach).r)
    : coloured(texture(values, p * valuesReach).r);
  return lit(colour, dot(into, near) > 0.0 ? into : -into, 0.4);
}

// Front to back: what is there already, and the share of light that still passes.
void veil(inout vec3 sum, inout float open, vec3 normal) {
  float slant = 1.0 - abs(dot(normal, near));
  float alpha = mix(0.14, 0.7, slant * slant);
  sum += open * alpha * lit(glass, dot(normal, near) > 0.0 ? normal : -normal, 0.75);
  open *= 1.0 - alpha;
}

// Whether the block of a place has a surface; if not, where the ray leaves it.
bool empty(vec3 p, vec3 from, vec3 d, out float leaves) {
  float blocks = float(textureSize(ranges, 0).x);
  vec3 block = clamp(floor(p * blocks), 0.0, blocks - 1.0);
  vec4 range = texelFetch(ranges, ivec3(block), 0);
  vec3 exits = ((block + step(0.0, d)) / blocks - from) / d;
  leaves = min(exits.x, min(exits.y, exits.z));
  if (phases && range.z <= 0.5 && range.w >= 0.5) return false;
  if (!surface) return true;
  if (own) return inside > 0.0 ? range.w <= level : range.z >= level;
  vec2 bounds = signed ? abs(2.0 * range.xy - 1.0) : range.xy;
  return max(bounds.x, bounds.y) <= level;
}

vec3 onSlice(vec3 p, int axis) {
  vec3 colour = shown(p);
  vec3 lying = vec3(axis == 0, axis == 1, axis == 2);
  vec3 crossed = abs(p - position) + lying, rim = min(p, 1.0 - p) + lying;
  if (min(crossed.x, min(crossed.y, crossed.z)) < 0.6 * pixel) colour = ruled(colour, 0.35);
  if (min(rim.x, min(rim.y, rim.z)) < 0.8 * pixel) return ruled(colour, 0.5);
  vec3 one = axis == 0 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0);
  vec3 other = axis == 2 ? vec3(0.0, 1.0, 0.0) : vec3(0.0, 0.0, 1.0);
  if (subdomains) {
    // A dark line under a light one can be seen on every colour; both as wide on the page however the slice is turned.
    vec2 u = vec2(dot(one, right), dot(one, up)), v = vec2(dot(other, right), dot(other, up));
    vec2 slant = vec2(length(v), length(u)) / max(abs(u.x * v.y - u.y * v.x), 0.05);
    for (int k = 0; k < 2; k++) {
      vec3 w = (k == 0 ? 1.1 : 0.5) * pixel * slant.x * one, h = (k == 0 ? 1.1 : 0.5) * pixel * slant.y * other;
      if (labelAt(p + w) != labelAt(p - w) || labelAt(p + h) != labelAt(p - h))
        colour = k == 0 ? mix(colour, vec3(0.0), 0.55) : vec3(1.0);
    }
  }
  return colour;
}

void main() {
  vec3 from = 0.5 + place.x * right + place.y * up + near, d = -near;
  d = mix(vec3(1e-6), d, greaterThan(abs(d), vec3(1e-6)));
  vec3 one = -from / d, other = (1.0 - from) / d;
  vec3 entries = min(one, other), exits = max(one, other);
  float t = max(entries.x, max(entries.y, entries.z)), end = min(exits.x, min(exits.y, exits.z));
  if (t >= end) discard;
  int axis = -1;
  if (slices) {
    vec3 cuts = (position - from) / d;
    float first = t - 1e-4;
    for (int k = 0; k < 3; k++)
      if (cuts[k] > first && cuts[k] < end + 1e-4) { end = max(t, cuts[k]); axis = k; }
  }
  vec3 sum = vec3(0.0), last = from + t * d;
  float open = 1.0;
  vec3 face = t == entries.x ? vec3(1.0, 0.0, 0.0) : t == entries.y ? vec3(0.0, 1.0, 0.0) : vec3(0.0, 0.0, 1.0);
  face *= sign(near);
  // The march begins just inside: on the boundary itself a value of zero has no sign.
  bool closed = surface && over(last) > 0.0, behind = phases && within(last) > 0.0;
  if (closed) {
    sum = lit(own ? coloured(texture(surfaces, last * surfacesReach).r) : shown(last), face, 0.6);
    open = 0.0;
  } else if (behind) veil(sum, open, face);
  if (open > 0.0 && (surface || phases)) {
    for (int k = 0; k < 400; k++) {
      if (t >= end || open < 0.03) break;
      float leaves;
      t = min(empty(last, from, d, leaves) ? max(leaves, t) + 1e-4 : t + 1.0 / steps, end);
      vec3 p = from + t * d;
      if (phases && (within(p) > 0.0) != behind) {
        behind = !behind;
        veil(sum, open, slope(crossing(last, p, true), true));
      }
      if (surface && over(p) > 0.0) {
        sum += open * solid(crossing(last, p, false));
        open = 0.0;
      }
      last = p;
    }
  }
  if (axis >= 0 && open > 0.0) {
    sum += open * onSlice(from + end * d, axis);
    open = 0.0;
  }
  made = vec4(sum, 1.0 - open);
}`;

// The faces of the box around each subdomain that are seen, moved away from the middle of the cube.
export const BOXES = `#version 300 es
uniform vec3 right, up, near;
uniform vec2 span;
uniform float apart;
layout(location = 0) in float piece;
layout(location = 1) in vec3 low;
layout(location = 2) in vec3 high;
out vec3 place;
flat out vec3 least, most, facing, shift;
flat out uint own;
void main() {
  int face = gl_VertexID / 6, corner = gl_VertexID % 6, axis = face / 2;
  bool far = face % 2 == 1;
  vec2 uv = corner == 0 ? vec2(0) : corner == 1 || corner == 3 ? vec2(1, 0) : corner == 5 ? vec2(1) : vec2(0, 1);
  vec3 at = axis == 0 ? vec3(0, uv) : axis == 1 ? vec3(uv.x, 0, uv.y) : vec3(uv, 0);
  facing = vec3(axis == 0, axis == 1, axis == 2) * (far ? 1.0 : -1.0);
  if (far) at += facing;
  place = mix(low, high, at);
  least = low;
  most = high;
  own = uint(piece);
  shift = (0.5 * (low + high) - 0.5) * apart;
  vec3 moved = (place + shift - 0.5) / (1.0 + apart);
  gl_Position = vec4(dot(right, moved) / span.x, dot(up, moved) / span.y, -0.5 * dot(near, moved), 1.0);
  if (dot(facing, near) <= 0.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;

// From cell to cell through the box of a subdomain, to the first cell that belongs to it (Amanatides and Woo 1987).
export const PIECES = `${COMMON}
in vec3 place;
flat in vec3 least, most, facing, shift;
flat in uint own;
uniform float apart;
out vec4 made;
void main() {
  vec3 cells = vec3(textureSize(labels, 0)) * labelsReach;
  vec3 d = -near * cells, at = place * cells, go = sign(d);
  vec3 pace = 1.0 / max(abs(d), vec3(1e-6));
  vec3 cell = floor(clamp(at + 1e-3 * go, least * cells + 1e-3, most * cells - 1e-3));
  vec3 next = (cell + max(go, 0.0) - at) * go * pace, normal = facing;
  float t = 0.0;
  bool found = false;
  for (int k = 0; k < 200; k++) {
    if (texelFetch(labels, ivec3(cell), 0).r == own) { found = true; break; }
    t = min(next.x, min(next.y, next.z));
    int axis = t == next.x ? 0 : t == next.y ? 1 : 2;
    cell[axis] += go[axis];
    next[axis] += pace[axis];
    normal = vec3(axis == 0, axis == 1, axis == 2) * -go;
    if (any(lessThan(cell, floor(least * cells + 0.5))) || any(greaterThanEqual(cell, ceil(most * cells - 0.5)))) break;
  }
  if (!found) discard;
  vec3 p = place - t * near;
  vec3 colour = lit(shown(p - 1e-3 * normal), normal, 0.62);
  vec3 room = min(p - least, most - p) + abs(normal);
  if (min(room.x, min(room.y, room.z)) < 1.2 * pixel * (1.0 + apart)) colour = ruled(colour, 0.4);
  made = vec4(colour, 1.0);
  gl_FragDepth = 0.5 - 0.25 * dot(near, (p + shift - 0.5) / (1.0 + apart));
}`;
