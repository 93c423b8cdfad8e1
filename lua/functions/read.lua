-- read.lua -- read functions into nodes of a graph: the entry points for read.c.
local V = ...
local pack, unpack, format = table.pack, table.unpack, string.format
local next, pcall, tostring, type = next, pcall, tostring, type

-- Executes f symbolically. `arguments`: nodes, or false for the cell. Returns the list of results,
-- and the code.
local function read(f, arguments)
  local list, closure = { n = #arguments }, V.closure_of(f)
  V.begin_states(closure.code.first, closure.code.file)
  for i = 1, #arguments do
    list[i] = arguments[i] and V.number(arguments[i]) or V.cell()
  end
  return V.run(closure, list), closure.code
end

-- Returns what `what` returns: nodes and the failure node. Where it is refused: nil, the reason,
-- file and line (of a mistake only), and whether the function changes something outside of it.
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

-- Reads a function with `results` results; `predicate`: they are conditions.
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

-- Reads a function of cells.
--   fields   by name: { index, state, low, high }; low and high: of a field of integers
--   reach    the largest distance of a neighbour
--   only     the name of the only state field, for which a bare number may be returned; or nil
--   numbers  it returns numbers, not a table of fields
--   unknown  unknown(name, state): the message's text for a field that does not exist
-- Returns { {index, node} ... }, the failure node, the function's name, and the mistake that it
-- makes if an undecided branch is reached.
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
