const I64 box = tiles[3*job], top = tiles[3*job + 1], left = tiles[3*job + 2];
const I64 start = boxes[3*box], rows = boxes[3*box + 1], width = boxes[3*box + 2];
$numbers
