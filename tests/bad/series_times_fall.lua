local sel = require "selenite"
return sel.series "series_times_fall.csv"
