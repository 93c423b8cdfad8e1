local sel = require "selenite"
return sel.series "series_with_a_gap.csv"
