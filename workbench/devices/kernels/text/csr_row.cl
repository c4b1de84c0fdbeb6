KERNEL csr(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices, GLOBAL const INDEX* RESTRICT starts$part_arguments, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y$result_arguments, const I64 rows)
{
    $dots_begin
    EACH(row, rows) {
        T sum = T_OF(0);
        for (INDEX j = starts[row]; j < $end_of_row; j++) sum = T_ADD(sum, T_MUL(data[j], x[$column]));
        $result
    }
    $dots_end
}
