-- read.lua -- read functions into nodes of a graph.
local V = ...
local pack, unpack, format = table.pack, table.unpack, string.format
local next, pcall, tostring, type = next, pcall, tostring, type

-- Reads the function with these arguments: nodes, or false for the cell.
local function read(f, arguments)
  local list, closure = { n = #arguments }, V.closure_of(f)
  V.begin_states(closure.code.first, closure.code.file)
  for i = 1, #arguments do
    list[i] = arguments[i] and V.number(arguments[i]) or V.cell()
  end
  return V.run(closure, list), closure.code
end

-- Each returns nodes and the node of the failure, or nil with the reason: its text and, for a
-- mistake, file and line.
local function guarded(what, ...)
  V.begin()
  local result = pack(pcall(what, ...))
  if result[1] then
    return unpack(result, 2, result.n)
  elseif result[2] == V.DEAD and not V.doubt then
    return nil, "it always ends in an error"
  elseif type(result[2]) == "table" then
    local e = result[2] == V.DEAD and V.doubt or result[2]
    return nil, e.text, e.mistake and e.file, e.line, V.kept
  end
  return nil, format("reading it fails on line %s: %s", V.line(), tostring(result[2]))
end

-- A law: as many values as `results`; or a predicate.
function V.read_law(f, arguments, results, predicate)
  V.fields = nil
  return guarded(function()
    local values = read(f, arguments)
    if values.n ~= results then
      V.refuse("it returns %d value%s", values.n, values.n == 1 and "" or "s")
    end
    for i = 1, results do
      values[i] = V.node_of(values[i], predicate)
    end
    return values, V.fails()
  end)
end

-- A function of cells with these fields: names, each with index, low, high, state; `only`: the name
-- of the only state field, where bare numbers are allowed. Without state: numbers. `unknown(name,
-- state)` is what a message says of a field that there is not.
function V.read_rule(f, arguments, fields, dims, reach, only, numbers, unknown)
  V.fields, V.dims, V.reach, V.only, V.unknown = fields, dims, reach, only, unknown
  return guarded(function()
    local values, code = read(f, arguments)
    local nodes, called = {}, V.function_name(code.file, code.first)
    V.last = code.last
    if values.n == 0 then
      V.at_line(V.last)
      V.mistake "it returns nothing on some way"
    elseif numbers then
      for i = 1, values.n do
        nodes[i] = { i - 1, (V.node_of(values[i])) }
      end
      return nodes, V.fails(), called, V.doubt
    end
    local given = V.fields_of(values[1])
    for name in next, given do
      local field = fields[name]
      local n, whole = V.node_of(given[name])
      if field.low and whole ~= true then
        V.mistake("it returns a real number for the whole number '%s'; math.floor makes it whole",
          name)
      end
      nodes[#nodes + 1] = { field.index, n }
    end
    return nodes, V.fails(), called, V.doubt
  end)
end
