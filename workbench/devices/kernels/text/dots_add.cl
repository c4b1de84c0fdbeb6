xy = W_ADD(xy, W_DOT($left, v)); yy = W_ADD(yy, W_DOT(v, v)); xx = W_ADD(xx, W_DOT($left, $left));
