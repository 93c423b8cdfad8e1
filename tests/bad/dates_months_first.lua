local sel = require "selenite"
return sel.series "dates_months_first.csv"
