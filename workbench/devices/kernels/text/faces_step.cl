/* `sum` of the cells from i on, and what lies behind them: `after`, `above`. */
const INDEX next = i + far < rows ? i + far : i;
const CELLS after = CELLS_AT(x, next);
const T first = x[i - left], last = x[i + right];
const unsigned above = CODES_AT(next), next0 = code >> 8 | (unsigned)codes[i + right] << $high;
$across
const unsigned lower = code & $faces, upper = $upper;
CELLS sum;
if (!(((lower & ~(lower >> 1)) | (upper & ~(upper >> 1))) & $low)) {
    const T own = ((lower >> 1 & ~lower) | (upper >> 1 & ~upper)) & $low ? f2 : f0;
    $alike
    $add_wall
} else {
    $each
}
