BARRIER;
for (int reach = GROUP/2; reach > 0; reach /= 2) {
    if (LOCAL_ID < reach) room[LOCAL_ID] = W_ADD(room[LOCAL_ID], room[LOCAL_ID + reach]);
    BARRIER;
}
