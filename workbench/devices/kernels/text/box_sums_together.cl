room[LOCAL_ID] = sum;
BARRIER;
for (int reach = $half; reach > 0; reach /= 2) {
    if (place < reach) room[LOCAL_ID] = W_ADD(room[LOCAL_ID], room[LOCAL_ID + reach]);
    BARRIER;
}
sum = room[LOCAL_ID];
BARRIER;
