DEVICE W W_OF_T(T a) { W b; b.x = a.x; b.y = a.y; return b; }
DEVICE T T_OF_W(W a) { T b; b.x = a.x; b.y = a.y; return b; }
