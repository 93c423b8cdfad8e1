-- json.lua -- read JSON, as in run.json. Strings are unescaped, numbers stay texts, a member that
-- is null is left out. Returns the function read(text) -> value; nil: the text is no JSON.

local ESCAPED = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

-- The character of \u and four hexadecimal digits. A surrogate pair, \uD83D\uDE00, is one
-- character; half a pair is none.
local function read_code(text, at)
  local code = tonumber(text:match("^%x%x%x%x", at), 16)
  if code < 0xD800 or code > 0xDFFF then return utf8.char(code), at + 4 end
  local low = code < 0xDC00 and tonumber(text:match("^\\u(%x%x%x%x)", at + 4) or "", 16) or 0
  if low < 0xDC00 or low > 0xDFFF then return "\u{FFFD}", at + 4 end
  return utf8.char(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), at + 10
end

-- Each read_...() reads the value at position `at`, and returns it with the position after it.
local function read_string(text, at)
  local parts = {}
  while true do
    local plain, mark, rest = text:match('^([^"\\]*)(["\\])()', at)
    parts[#parts + 1] = plain
    if mark == '"' then return table.concat(parts), rest end
    local letter = text:sub(rest, rest)
    if letter == "u" then
      parts[#parts + 1], at = read_code(text, rest + 1)
    else
      parts[#parts + 1], at = ESCAPED[letter] or letter, rest + 1
    end
  end
end

local read_value

-- The members of a list or an object up to `last`, each read and stored by `read_member`.
local function read_members(text, at, last, read_member)
  local members, mark = {}
  at = text:match("^%s*()", at)
  if text:sub(at, at) == last then return members, at + 1 end
  local count = 0
  repeat
    count = count + 1
    at = read_member(members, count, at)
    mark, at = text:match("^%s*([,%]}])%s*()", at)
  until mark ~= ","
  assert(mark == last)
  return members, at
end

local WORDS = { ["true"] = true, ["false"] = false }

function read_value(text, at)
  local mark, rest = text:match("^%s*([%[{\"]?)()", at)
  if mark == '"' then return read_string(text, rest) end
  if mark == "[" then
    return read_members(text, rest, "]", function(list, count, from)
      list[count], from = read_value(text, from)
      return from
    end)
  elseif mark == "{" then
    return read_members(text, rest, "}", function(object, _, from)
      local name
      name, from = read_string(text, assert(text:match('^%s*"()', from)))
      object[name], from = read_value(text, assert(text:match("^%s*:()", from)))
      return from
    end)
  end
  local word, after = text:match("^([%w.+-]+)()", rest)
  assert(WORDS[word] ~= nil or word == "null" or tonumber(word))
  if WORDS[word] ~= nil then return WORDS[word], after end
  return word ~= "null" and word or nil, after
end

return function(text)
  local fine, value, rest = pcall(read_value, text, 1)
  return fine and not text:find("%S", rest) and value or nil
end
