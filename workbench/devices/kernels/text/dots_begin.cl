SHARED(W, room, 3*(GROUP + STRIPS));
W xy = W_OF(0), yy = W_OF(0), xx = W_OF(0);
