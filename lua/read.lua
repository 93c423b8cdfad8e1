-- read.lua -- find the text of functions, and read them into nodes of a graph.
--
-- Functions are found by their lines; of several in the same lines the one whose compiled code is
-- that of the function (lines and names apart).
local host = ...
local V, P = host.values, host.parser
local unpack, pack, format, next = table.unpack, table.pack, string.format, next
local dump, load, pcall, tostring, type = string.dump, load, pcall, tostring, type

-- ---- the text of a function ----

local NESTING = { ["{"] = 1, ["("] = 1, ["["] = 1, ["function"] = 1, ["if"] = 1, ["do"] = 1,
  ["repeat"] = 1, ["}"] = -1, [")"] = -1, ["]"] = -1, ["end"] = -1, ["until"] = -1 }

-- How much deeper the text is nested behind token i.
local function nesting(words, kinds, i)
  return kinds[i] ~= "string" and NESTING[words[i]] or 0
end

-- The value of a variable `name <const>` around the end of the text up to line `last`, which Lua's
-- compiler has put into the code.
local function find_constant(source, name, last)
  local words, kinds, lines = host.tokens(source, 1, last)
  local depth, number = 0, 1
  for i = #words, 1, -1 do
    depth = math.max(depth - nesting(words, kinds, i), 0)
    if depth == 0 and words[i] == name and words[i + 1] == "<" and words[i + 2] == "const" then
      local k = i - 1
      while words[k] ~= "local" do
        number = number + (words[k] == "," and 1 or 0)
        k = k - 1
      end
      return P.parse({ words, kinds, lines }, i + 5, P.initial, number)
    end
  end
end

-- The tokens from `first` to `last` on their lines, but for what stands between `function` and the
-- parameters.
local function text_of_tokens(words, lines, first, last)
  local list, line, is_method = { "function (" }, lines[first], false
  repeat
    first = first + 1
    is_method = is_method or words[first] == ":"
  until words[first] == "("
  list[2] = is_method and (words[first + 1] == ")" and "self" or "self,") or ""
  for i = first + 1, last do
    list[#list + 1] = ("\n"):rep(lines[i] - line) .. words[i] .. " "
    line = lines[i]
  end
  return table.concat(list)
end

-- The functions in the text from line `first` to `last`.
local function candidates(source, first, last)
  local words, kinds, lines = host.tokens(source, first, last)
  local list = {}
  if not words then
    V.refuse "it calls a function whose text is not known"
  end
  for i = 1, #words do
    if words[i] == "function" and kinds[i] == "name" and lines[i] == first then
      local depth, j = 0, i - 1
      repeat
        j = j + 1
        depth = depth + nesting(words, kinds, j)
      until depth == 0 or j == #words
      if depth == 0 and lines[j] == last then
        local name = words[i - 1] == "=" and words[i - 2] or nil
        list[#list + 1] = { text = text_of_tokens(words, lines, i, j),
          code = P.parse({ words, kinds, lines }, i, P.whole_function, name) }
      end
    end
  end
  return list
end

-- Whether the function may have this code, by its parameters and by what it sees of outside.
local function may_be(f, code, upvalues, info)
  if info.nparams ~= #code.names or info.isvararg ~= (code.vararg or false) then
    return false
  end
  for i, name in next, code.names do
    if host.getlocal(f, i) ~= name then
      return false
    end
  end
  for name in next, upvalues do
    if not code.outside[name] and name ~= "_ENV" then
      return false
    end
  end
  return true
end

-- Whether the text compiles to the function's code. How its upvalues are reached is not compared:
-- where that stands in the code is seen by compiling the text in two ways.
local function compiles_to(f, text, names, line)
  local gap = ("\n"):rep(line - 1)
  local declared = #names > 0 and "local " .. table.concat(names, ",") .. " " or ""
  local one = load(gap .. "local before " .. declared .. "return " .. text)
  local two = load(gap .. declared .. "return (function() return " .. text .. " end)()")
  if not (one and two) then
    return false
  end
  local a, b, code, first = dump(one(), true), dump(two(), true), dump(f, true), 1
  while first <= #a and a:byte(first) == b:byte(first) do
    first = first + 1
  end
  return #code == #a and code:sub(1, first - 1) == a:sub(1, first - 1)
    and code:sub(first + 3 * #names) == a:sub(first + 3 * #names)
end

local function find_text(f)
  local info = host.getinfo(f, "Su")
  if info.what == "C" then
    return {}
  end
  local index, names, list = {}, {}, {}
  for i = 1, info.nups do
    names[i] = host.getupvalue(f, i)
    index[names[i]] = i
  end
  for _, candidate in next, candidates(info.source, info.linedefined, info.lastlinedefined) do
    if may_be(f, candidate.code, index, info) then
      list[#list + 1] = candidate
    end
  end
  for i = #list, 1, -1 do
    if #list > 1 and not compiles_to(f, list[i].text, names, info.linedefined) then
      table.remove(list, i)
    end
  end
  if #list == 0 then
    V.refuse("it calls a function on line %d that cannot be told from others there",
      info.linedefined)
  end
  local code = list[1].code
  for name in next, code.outside do
    if not index[name] and host.has_constant(info.source, name) then
      code.constants[name] = find_constant(info.source, name, info.linedefined)
    end
  end
  return { code = code, f = f, index = index, file = info.source }
end

local texts = setmetatable({}, { __mode = "k" })

-- The code of a function of Lua, and the function as a closure; nothing of one of C.
function V.text_of(f)
  if type(f) ~= "function" then
    return nil
  end
  texts[f] = texts[f] or find_text(f)
  return texts[f].code, texts[f]
end

-- ---- the whole ----

-- Reads the function with these arguments: nodes, or false for the cell.
local function read(f, arguments)
  local list = { n = #arguments }
  local code, closure = V.text_of(f)
  for i = 1, #arguments do
    list[i] = arguments[i] and V.number(arguments[i]) or V.cell()
  end
  V.line, V.file = code.line, closure.file
  local values = pack(V.run(code, closure, list))
  if V.is_dead() then
    V.refuse "it always ends in an error"
  end
  V.line, V.file = code.line, closure.file
  return values, code
end

-- Each returns nodes and the node of the failure, or nil with the reason: its text and, for a
-- mistake, file and line.
local function guarded(what, ...)
  V.begin()
  P.begin()
  P.begin_steps()
  local result = pack(pcall(what, ...))
  if result[1] then
    return unpack(result, 2, result.n)
  elseif type(result[2]) == "table" then
    local e = result[2]
    return nil, e.text, e.mistake and e.file, e.line, V.kept
  end
  return nil, format("reading it fails on line %d: %s", V.line, tostring(result[2]))
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
-- of the only state field, where bare numbers are allowed. Without state: numbers.
function V.read_rule(f, arguments, fields, dims, reach, only, numbers)
  V.fields, V.state, V.dims, V.reach, V.only = fields, {}, dims, reach, only
  for name, field in next, fields do
    V.state[name] = field.state and field or nil
  end
  return guarded(function()
    local values, code = read(f, arguments)
    local nodes = {}
    V.last = code.last
    if values.n == 0 then
      V.line = V.last
      V.mistake "it returns nothing on some way"
    elseif numbers then
      for i = 1, values.n do
        nodes[i] = { i - 1, (V.node_of(values[i])) }
      end
      return nodes, V.fails(), code.name
    end
    local given = V.fields_of(values[1])
    for name in host.globals.pairs(given) do
      local field = fields[name]
      local n, whole = V.node_of(given[name])
      if field.low and whole ~= true then
        V.mistake("it returns a real number for the whole number '%s'; math.floor makes it whole",
          name)
      end
      nodes[#nodes + 1] = { field.index, n }
    end
    return nodes, V.fails(), code.name
  end)
end
