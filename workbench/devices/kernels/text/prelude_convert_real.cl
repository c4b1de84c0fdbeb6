#define W_OF_T(a) ((W)(a))
#define T_OF_W(a) ((T)(a))
