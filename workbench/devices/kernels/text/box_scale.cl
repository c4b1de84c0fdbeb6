W scale = 0;
for (int k = 0; k < $parts; k++) scale = peaks[$parts*box + k] > scale ? peaks[$parts*box + k] : scale;
scale = scale > 0 ? scale : (W)1;
