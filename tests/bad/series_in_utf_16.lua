local sel = require "selenite"
return sel.series "series_in_utf_16.csv"
