-- Drives `saltus lsp` as a user does: opens files, edits, asks, applies what comes back. Writes one line a step.
local out = assert(io.open(vim.env.TRANSCRIPT, 'w'))
local function say(step, text)
  out:write(step .. ': ' .. tostring(text):gsub('%s+', ' ') .. '\n')
  out:flush()
end

local id = vim.lsp.start_client({
  name = 'saltus',
  cmd = { vim.env.SALTUS, 'lsp', '--library', vim.env.LIBRARY },
  root_dir = vim.env.ROOT,
  workspace_folders = { { uri = vim.uri_from_fname(vim.env.ROOT), name = 'root' } },
})

local function open(path)
  vim.cmd('edit ' .. vim.fn.fnameescape(path))
  vim.lsp.buf_attach_client(0, id)
  vim.wait(10000, function()
    return vim.lsp.buf_is_attached(0, id)
  end, 10)
end

-- Line and column, from zero, of the nth place of a text, moved to the right.
local function find(text, move, nth)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local from = 1
    while true do
      local at = line:find(text, from, true)
      if not at then
        break
      end
      nth = (nth or 1) - 1
      if nth == 0 then
        return { line = row - 1, character = at - 1 + (move or 0) }
      end
      from = at + 1
    end
  end
  error('no ' .. text)
end

local function ask(method, params)
  params = params or {}
  params.textDocument = { uri = vim.uri_from_bufnr(0) }
  local answers, problem = vim.lsp.buf_request_sync(0, method, params, 60000)
  if not answers then
    return nil, problem
  end
  local answer = answers[id] or {}
  return answer.result, answer.error and answer.error.message
end

local function labels(answer, most)
  local items = answer and (answer.items or answer) or {}
  table.sort(items, function(a, b)
    return a.sortText < b.sortText
  end)
  local found = {}
  for i = 1, math.min(#items, most) do
    found[i] = items[i].label
  end
  return table.concat(found, ' ')
end

local function place(answer)
  if not answer then
    return 'nothing'
  end
  local location = answer[1] or answer
  return vim.fn.fnamemodify(vim.uri_to_fname(location.uri), ':t') .. ' line ' .. (location.range.start.line + 1)
end

local function diagnostics(n)
  vim.wait(60000, function()
    return #vim.diagnostic.get(0) == n
  end, 20)
  local found = {}
  for _, d in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, (d.code or d.user_data.lsp.code) .. ' line ' .. (d.lnum + 1))
  end
  return table.concat(found, ', ')
end

-- A package of the user.
open(vim.env.ROOT .. '/Own/Circuit.mo')
say('own diagnostics', diagnostics(1))
local actions = ask('textDocument/codeAction', {
  range = { start = find('resitor', 1), ['end'] = find('resitor', 1) },
  context = { diagnostics = {} },
})
say('own quick fix', actions[1].title)
vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
say('own diagnostics after it', diagnostics(0))
say('own hover', ask('textDocument/hover', { position = find('resistor.R', 9) }).contents.value)
say('own definition', place(ask('textDocument/definition', { position = find('resistor.R', 9) })))
local at = find('// here')
vim.api.nvim_buf_set_text(0, at.line, 0, at.line, 0, { '  u = resistor.' })
say('own completion', labels(ask('textDocument/completion', { position = find('u = resistor.', 13) }), 4))
vim.api.nvim_buf_set_text(0, at.line, 0, at.line, #'  u = resistor.', { '' })
local edit, refused = ask('textDocument/rename', { position = find('Real u', 5), newName = 'resistor' })
say('own rename refused', refused and 'yes' or 'no')
edit, refused = ask('textDocument/rename', { position = find('Real u', 5), newName = 'voltage' })
vim.lsp.util.apply_workspace_edit(edit, 'utf-16')
say('own renamed', vim.api.nvim_buf_get_lines(0, find('voltage =').line, find('voltage =').line + 1, false)[1])
local edits = ask('textDocument/formatting', { options = { tabSize = 2, insertSpaces = true } })
vim.lsp.util.apply_text_edits(edits, 0, 'utf-16')
say('own formatted', vim.fn.matchstr(table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'), 'voltage = [^;]*;'))
vim.cmd('edit!')

-- A model of the user that runs.
open(vim.env.ROOT .. '/Own/Ball.mo')
local function lenses(command)
  local found = {}
  for _, lens in ipairs(ask('textDocument/codeLens') or {}) do
    if not command or lens.command.command == command then
      table.insert(found, lens.command.title)
    end
  end
  return table.concat(found, ' | ')
end
vim.wait(60000, function()
  return lenses():find('states') ~= nil
end, 50)
say('own lenses', lenses())
local ran = ask('workspace/executeCommand', { command = 'saltus.run', arguments = { 'Own.Ball' } })
say('own run', ran.complete and ran.page:find('Own.Ball', 1, true) and 'with curves' or ran.messages)
say('own lenses after it', lenses('saltus.showTime'):match('fired %d+ ×  ·  %d+ events'))

-- A class of a library.
open(vim.env.LIBRARY .. '/Saltus/Electrical/Resistor.mo')
local symbols = ask('textDocument/documentSymbol')
say('library outline', symbols[1].name .. ' with ' .. #symbols[1].children)
say('library definition', place(ask('textDocument/definition', { position = find('extends ', 9) })))
say('library hover', ask('textDocument/hover', { position = find('model ', 7) }).contents.value:match('```modelica%s+([^`]*)'))
say('library tokens', #ask('textDocument/semanticTokens/full').data > 20 and 'yes' or 'no')
vim.lsp.stop_client(id)
out:close()
