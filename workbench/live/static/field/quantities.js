// The fields of a run, and the scales that their colours can be on, as menus list them.

export const FIELDS = ["coefficient", "solution", "residual", "error"];
export const SCALES = ["automatic", "linear", "logarithmic"];
