local sel = require "selenite"
return sel.series "dates_of_hour_24.csv"
