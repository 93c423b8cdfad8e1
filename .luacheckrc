-- Scenarios and examples see the globals of the sandbox (docs/guide.md).
std = "lua54"
max_line_length = 100
files["scenarios"] = { not_globals = { "os", "io", "debug", "package", "dofile", "loadfile" } }
files["examples"] = { not_globals = { "os", "io", "debug", "package", "dofile", "loadfile" } }
files["scenarios/validation/validate.lua"] = { read_globals = { "io", "loadfile", "os" } }
files["lua/meta"] = { ignore = { "" } }
