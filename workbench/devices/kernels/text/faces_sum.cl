$neighbours
const int lower = code & $faces, upper = $upper;
T sum;
if ((((lower & ~(lower >> 1)) | (upper & ~(upper >> 1))) & $first) == 0) {
    sum = ((((lower >> 1 & ~lower) | (upper >> 1 & ~upper)) & $first) ? f2 : f0)*($differences);
    $add_wall
} else {
    sum = $wall;
    $each
}
