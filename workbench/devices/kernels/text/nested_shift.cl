KERNEL nested_shift(GLOBAL const T* matrix, GLOBAL const T* RESTRICT null, const T factor, const I64 rows,
    GLOBAL $stored* target, const I64 entries)
{
    /* The target may be the matrix. */
    FOR_EACH(i, entries) target[i] = ($stored)(matrix[i] + factor*null[i/rows]*null[i%rows]);
}
