local sel = require "selenite"
return sel.series "dates_change_notation.csv"
