room[LOCAL_ID] = xy;
room[GROUP + LOCAL_ID] = yy;
room[2*GROUP + LOCAL_ID] = xx;
STORE_GROUP_SUMS(room, partial, 3);
