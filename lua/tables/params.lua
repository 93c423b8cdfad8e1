-- params.lua -- sel.params: parameters that the command line, or sel.load, may set.
--
-- `host` has the functions of params.c: value_text(value) for messages, suggestion(name, table)
-- with the nearest key, is_plain(text); and `paths`, the set of paths that are opened as they are.
local host = ...
local find, format, match, sub = string.find, string.format, string.match, string.sub
local concat = table.concat

local FIELDS = { min = true, max = true, choices = true, integer = true, file = true }
local MUST_BE = { number = "must be a number", string = "must be a string",
  boolean = "must be true or false" }

-- Whether a key is a name: a string without zero bytes.
local function is_name(key)
  return type(key) == "string" and not find(key, "\0")
end

-- Whether a parameter of type `kind` may have the value.
local function has_type(value, kind)
  return type(value) == kind and (kind ~= "number" or value - value == 0)
end

-- "one of a, b"; nil: any value.
local function choices_text(p)
  local texts = {}
  for i, choice in ipairs(p.choices or {}) do
    texts[i] = sub(type(choice) == "string" and choice or host.value_text(choice), 1, 40)
  end
  return #texts > 0 and "one of " .. concat(texts, ", ") or nil
end

-- The reason why the parameter may not have the value; nil: it may.
local function refusal(p, value)
  if not has_type(value, p.kind) then
    return MUST_BE[p.kind]
  elseif p.kind == "number" then
    if p.integer and value ~= math.floor(value) then
      return "must be a whole number"
    elseif p.min and value < p.min then
      return format("must be at least %.14g", p.min)
    elseif p.max and value > p.max then
      return format("must be at most %.14g", p.max)
    end
  end
  for _, choice in ipairs(p.choices or {}) do
    if rawequal(choice, value) then
      return nil
    end
  end
  return p.choices and "must be " .. (choices_text(p) or "") or nil
end

local function store(values, p, value)
  if p.integer then
    value = math.tointeger(value) or value
  end
  if p.file then
    host.paths[value] = true
  end
  values[p.name] = value
end

-- Reads an entry { default, "help", ... } into parameter p; `wrong` notes a mistake.
local function read_fields(p, entry, wrong)
  for key in pairs(entry) do
    if is_name(key) and not FIELDS[key] then
      wrong("%s: unknown field%s", p.name, host.suggestion(key, FIELDS))
    elseif not is_name(key) and key ~= 1 and key ~= 2 then
      wrong("%s: takes a default, a help text and named fields only", p.name)
    end
  end
  p.help = rawget(entry, 2)
  if p.help ~= nil and type(p.help) ~= "string" then
    wrong("%s: the help must be a string, got %s", p.name, host.value_text(p.help))
  end
  for _, key in ipairs { "min", "max" } do
    p[key] = rawget(entry, key)
    if p[key] ~= nil and not (type(p[key]) == "number" and p.kind == "number") then
      wrong("%s: %s must be a number beside a numeric default, got %s", p.name, key,
        host.value_text(p[key]))
    end
  end
  for key, kind in pairs { integer = "number", file = "string" } do
    p[key] = rawget(entry, key)
    if p[key] ~= nil and not (type(p[key]) == "boolean" and p.kind == kind) then
      wrong("%s: %s must be true or false, beside a default that is a %s", p.name, key, kind)
    end
  end
  local choices = rawget(entry, "choices")
  p.choices = type(choices) == "table" and choices or nil
end

-- Declares the parameter at `place` of the order; stores its default in `values`.
local function declare(place, name, entry, directory, values, mistake)
  local is_table, sound = type(entry) == "table", true
  local p = { name = name, default = entry }
  local function wrong(text, ...)
    sound = false
    mistake(place, "sel.params: " .. format(text, ...))
  end
  if is_table then
    p.default = rawget(entry, 1)
  end
  p.kind = type(p.default)
  if not host.is_plain(name) then
    wrong("the name '%s' holds control characters", name)
  end
  if not (MUST_BE[p.kind] and has_type(p.default, p.kind)) then
    wrong("%s needs a default that is a number, a string or a boolean, got %s", name,
      host.value_text(p.default))
  elseif is_table then
    read_fields(p, entry, wrong)
  end
  local refused = sound and refusal(p, p.default)
  if refused then
    wrong("%s: the default %s, got %s", name, refused, host.value_text(p.default))
  elseif sound then
    local beside = p.file and sub(p.default, 1, 1) ~= "/"
    store(values, p, beside and directory .. p.default or p.default)
  end
  return p
end

-- "unknown parameter 'Ree'; did you mean 'Re'? The scenario has H, Re".
local function unknown(name, order, values)
  local suggestion = host.suggestion(name, values)
  return format("unknown parameter%s%s scenario has %s", suggestion,
    find(suggestion, "; did you mean") and " The" or "; the",
    #order > 0 and concat(order, ", ") or "no parameters")
end

-- The parameter's value from a text of the command line; nil: not of its type.
local function typed(p, text)
  if p.kind == "boolean" then
    return text == "true" or (text ~= "false" and nil)
  end
  return p.kind == "string" and text or tonumber(text)
end

-- Sets values from the command line: a list of "name=value".
local function assign(assignments, order, by_name, values, mistake)
  for _, assignment in ipairs(assignments) do
    local name, text = match(assignment, "^([^=]+)=(.*)$")
    local p = by_name[name]
    if not name then
      mistake("usage", format("'%s' is not of the form name=value", assignment))
    elseif not p then
      mistake("usage", unknown(name, order, values))
    else
      local value = typed(p, text)
      local refused = refusal(p, value)
      if refused then
        local decimal = p.kind == "number" and find(text, "^%d*,%d+$")
        mistake("usage", format("parameter %s %s, got%s%s", name, refused,
          host.suggestion(text, {}), decimal and "; decimals take a point" or ""))
      else
        store(values, p, value)
      end
    end
  end
end

-- Sets values from the table of sel.load.
local function assign_loaded(loaded, order, by_name, values, mistake)
  for _, name in ipairs(order) do
    local p, value = by_name[name], rawget(loaded, name)
    local refused = value ~= nil and refusal(p, value)
    if refused then
      mistake("load", format("sel.load: parameter %s %s, got %s", name, refused,
        host.value_text(value)))
    elseif value ~= nil then
      store(values, p, value)
    end
  end
  for key in pairs(loaded) do
    if not is_name(key) then
      mistake("load", format("sel.load: the key %s is no parameter", host.value_text(key)))
    elseif not by_name[key] then
      mistake("load", "sel.load: " .. unknown(key, order, values))
    end
  end
end

-- The parameter's values in --help: "whole number, at least 2".
local function limits_text(p)
  local parts = { choices_text(p) }
  parts[#parts + 1] = p.integer and "whole number" or nil
  parts[#parts + 1] = p.min and format("at least %.14g", p.min) or nil
  parts[#parts + 1] = p.max and format("at most %.14g", p.max) or nil
  return concat(parts, ", ")
end

--- Resolves the parameters.
---   declared  the script's table
---   order     its names in the order of the text
---   given     { directory (of the script), assignments, loaded (values of sel.load) }
---   mistake   mistake(place, text) notes a mistake; place: a position in `order`, "params" (the
---             call), "load" or "usage". mistake() tells whether there were mistakes.
--- Returns the values by name, and the list of parameters for --help and run.json.
return function(declared, order, given, mistake)
  local values, by_name, shown = {}, {}, {}
  for i, name in ipairs(order) do
    by_name[name] = declare(i, name, rawget(declared, name), given.directory, values, mistake)
  end
  for key in pairs(declared) do
    if not is_name(key) then
      mistake("params",
        "sel.params: every parameter needs a name: NAME = { default, \"help\" }")
    end
  end
  if mistake() then
    return
  end
  assign_loaded(given.loaded or {}, order, by_name, values, mistake)
  assign(given.assignments or {}, order, by_name, values, mistake)
  for i, name in ipairs(order) do
    local p = by_name[name]
    shown[i] = { kind = p.kind, help = p.help or "", text = tostring(values[name]),
      preset = tostring(p.default), limits = limits_text(p) }
  end
  return values, shown
end
