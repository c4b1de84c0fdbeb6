KERNEL diagonal(GLOBAL T* RESTRICT inverse, $arguments, const I64 n)
{
    EACH(i, n) {
        const int code = codes[i];
        W sum = $wall;
        $faces
        inverse[i] = T_OF_W(sum != 0 ? 1/sum : sum);
    }
}
