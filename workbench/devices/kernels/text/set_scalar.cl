KERNEL set_scalar(GLOBAL W* scalars, const int slot, const V real, const V imaginary)
{
    if (LOCAL_ID == 0) scalars[slot] = W_FROM(real, imaginary);
}
