if ($inside && count > 0 && labels[$neighbour] != part) {
    const T value = $value;
    const INDEX name = labels[$neighbour];
    if (value != 0) {
        int at = count - 1;
        while (at >= 0 && names[at] != name) at--;
        values[0] += value;
        if (at >= 0)
            values[at] -= value;
        else if (count < $most) {
            names[count] = name;
            values[count] = -value;
            count++;
        } else
            count = -1;
    }
}
