$neighbours
const int upper = $upper;
T sum;
if ($lower == upper && (upper == 0 || upper == $second)) {
    sum = (upper ? f2 : f0)*($differences);
    $add_wall
} else {
    sum = $wall;
    $faces
}
