KERNEL phase_bits(GLOBAL const int* RESTRICT phase, const I64 cells, GLOBAL unsigned char* RESTRICT bits, const I64 n)
{
    FOR_EACH(byte, n) {
        int found = 0;
        for (int k = 0; k < 8; k++) found = 2*found + (8*byte + k < cells && phase[8*byte + k] > 0);
        bits[byte] = (unsigned char)found;
    }
}
