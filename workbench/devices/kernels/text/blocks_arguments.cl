GLOBAL const T* RESTRICT low, GLOBAL const INDEX* RESTRICT low_indices, GLOBAL const INDEX* RESTRICT low_starts,
GLOBAL const T* RESTRICT up, GLOBAL const INDEX* RESTRICT up_indices, GLOBAL const INDEX* RESTRICT up_starts,
GLOBAL const T* RESTRICT inverse, const R scale, GLOBAL const T* RESTRICT r, GLOBAL T* u, GLOBAL W* partial,
