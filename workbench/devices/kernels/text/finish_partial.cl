W sum_$k = W_OF(0);
for (I64 i = LOCAL_ID; i < count; i += FINISH)
    sum_$k = W_ADD(sum_$k, partial[$row*count + i]);
room[$k*FINISH + LOCAL_ID] = sum_$k;
