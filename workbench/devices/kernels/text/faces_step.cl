const INDEX next = i + far < rows ? i + far : i;
const T after = x[next];
const int above = codes[next];
$sum
