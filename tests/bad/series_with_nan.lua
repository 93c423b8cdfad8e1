local sel = require "selenite"
return sel.series "series_with_nan.csv"
