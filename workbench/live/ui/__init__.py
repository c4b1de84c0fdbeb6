"""Small parts that several views share: controls, status lines, saving, exports, tables, assets."""
