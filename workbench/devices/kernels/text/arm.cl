KERNEL arm(GLOBAL W* scalars, const V limit, const V most)
{
    if (LOCAL_ID == 0) {
        scalars[STOP] = W_OF(0);
        scalars[COUNT] = W_OF(0);
        scalars[LIMIT] = W_OF(limit);
        scalars[MOST] = W_OF(most);
    }
}
