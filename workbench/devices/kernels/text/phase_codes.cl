KERNEL phase_codes(GLOBAL const int* RESTRICT phase, const I64 nx, const I64 ny, const int directions,
    GLOBAL unsigned char* RESTRICT codes, const I64 n)
{
    /* 3 is a face at the edge of the grid. */
    FOR_EACH(i, n) {
        const int inside = phase[i] > 0;
        int code = i%nx ? inside + (phase[i - 1] > 0) : 3;
        if (directions > 1) code |= (i/nx%ny ? inside + (phase[i - nx] > 0) : 3) << 2;
        if (directions > 2) code |= (i/nx/ny ? inside + (phase[i - nx*ny] > 0) : 3) << 4;
        codes[i] = (unsigned char)code;
    }
}
