local sel = require "selenite"
return sel.series "series_with_a_space_in_a_number.csv"
