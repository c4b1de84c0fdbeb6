SHARED(W, room, $sums*FINISH);
$partial
BARRIER;
for (int reach = FINISH/2; reach > 0; reach /= 2) {
    if (LOCAL_ID < reach) {
        $add
    }
    BARRIER;
}
