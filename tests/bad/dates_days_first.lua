local sel = require "selenite"
return sel.series "dates_days_first.csv"
