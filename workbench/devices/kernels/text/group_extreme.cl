room[LOCAL_ID] = $own;
BARRIER;
for (int reach = GROUP/2; reach > 0; reach /= 2) {
    if (LOCAL_ID < reach) {
        const T other = room[LOCAL_ID + reach];
        if (other $beyond room[LOCAL_ID] || other != other) room[LOCAL_ID] = other;
    }
    BARRIER;
}
if (LOCAL_ID == 0) found[$place*GROUPS + GROUP_ID] = room[0];
BARRIER;
