KERNEL axis_sums(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, const I64 inner, const I64 side,
    const I64 reach, const I64 lines)
{
    /* y = the sums of x over up to `reach` cells to both sides along one axis, z or y. A line is `inner` consecutive
       cells at one position on the axis, of which there are `side`; the next position is the next line. */
    FOR_EACH(line, lines) {
        const I64 at = line*inner, here = line%side;
        for (I64 i = 0; i < inner; i++) y[at + i] = x[at + i];
        for (I64 k = here < reach ? -here : -reach; k <= reach && here + k < side; k++)
            if (k != 0)
                for (I64 i = 0; i < inner; i++) y[at + i] = T_ADD(y[at + i], x[at + k*inner + i]);
    }
}
