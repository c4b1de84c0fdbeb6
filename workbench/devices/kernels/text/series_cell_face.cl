face = $code;
bits |= (face == 1) << $bit; differing += face == 1; absent += face == 3; second |= face == 2;
