const int item = $loader + n*$loaders, slot = item/$tile, t = item%$tile, inside = slot <= last;
const int x = now*$tile + t - $step*slot, ahead = x + $tile, ends = inside && x >= 0 && x < width;
const int sign = backward ? -1 : 1;
const I64 start = (first + (backward ? last - slot : slot))*width + (backward ? width - 1 : 0);
