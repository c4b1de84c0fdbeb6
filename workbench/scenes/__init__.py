"""What pictures show, as plain data made from records; the page's plots and `figures.draw` draw the same scene."""
