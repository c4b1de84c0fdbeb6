KERNEL nested_order(GLOBAL const int* RESTRICT parents, GLOBAL const int* RESTRICT ranks, GLOBAL const int* RESTRICT above,
    GLOBAL const int* RESTRICT starts, GLOBAL int* RESTRICT order, GLOBAL int* RESTRICT places,
    GLOBAL int* RESTRICT rows, const I64 parts)
{
    /* above: the row of each parent. A part gets the row of its rank among the children of its parent. */
    FOR_EACH(part, parts) {
        const int row = above[parents[part]], at = starts[row] + ranks[part];
        order[at] = (int)part;
        places[part] = at;
        rows[at] = row;
    }
}
