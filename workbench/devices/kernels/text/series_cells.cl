KERNEL series_cells(GLOBAL const unsigned char* RESTRICT codes, GLOBAL unsigned short* RESTRICT cells, $steps,
    const I64 n)
{
    FOR_EACH(i, n) {
        const int code = codes[i];
        int bits = 0, differing = 0, absent = 0, second = 0, face;
        $faces
        const int wall = (code >> $wall_shift) & 3;
        const int place = 1 + ((wall*2 + second)*$absences + absent)*$differences + differing;
        cells[i] = (unsigned short)(place << $place_shift | second << $phase_shift | bits);
    }
}
