if ($inside && count > 0) {
    const T value = $value;
    if (T_REAL(T_ABS(value)) != 0) {
        const INDEX name = labels[$neighbour];
        int at = count - 1;
        while (at >= 0 && names[at] != name) at--;
        if (at >= 0)
            values[at] = T_ADD(values[at], value);
        else if (count < $most) {
            names[count] = name;
            values[count] = value;
            count++;
        } else
            count = -1;
    }
}
